package workload

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// binned reads lengths, each as often as counts says, and returns their mean.
func binned(t interface {
	Helper()
	Fatal(args ...any)
}, lengths, counts []int,
) (d *Distribution, mean float64, requests int) {
	t.Helper()
	var b strings.Builder
	sum := 0
	for i, n := range lengths {
		b.WriteString(strings.Repeat(strconv.Itoa(n)+"\n", counts[i]))
		sum += n * counts[i]
		requests += counts[i]
	}
	d, err := ReadDistribution(strings.NewReader(b.String()), "law.csv")
	if err != nil {
		t.Fatal(err)
	}
	return d, float64(sum) / float64(requests), requests
}

// TestBinsLaws: at most 32 sound bins within the lengths, whose weights count
// the requests and whose midpoints have their mean within 2 %.
func TestBinsLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		longest := rapid.SampledFrom([]int{3, 40, 200, 10_000, 200_000, maxTokens}).Draw(t, "longest")
		lengths := rapid.SliceOfN(rapid.IntRange(0, longest), 1, 200).Draw(t, "lengths")
		often := rapid.SampledFrom([]int{1, 3, 300}).Draw(t, "often")
		counts := rapid.SliceOfN(rapid.IntRange(1, often), len(lengths), len(lengths)).Draw(t, "counts")
		d, mean, requests := binned(t, lengths, counts)
		if why := unsound(d); why != "" || len(d.Bins) > maxBins {
			t.Errorf("%d bins, %s", len(d.Bins), why)
		}
		weights, got := 0.0, 0.0
		for _, b := range d.Bins {
			weights += b.Weight
			if b.Min < slices.Min(lengths) || b.Max > slices.Max(lengths)+1 {
				t.Errorf("bin %v outside of the lengths", b)
			}
		}
		for _, r := range d.Rows(0) {
			got += float64(r.Tokens) * r.Ratio
		}
		if weights != float64(requests) {
			t.Errorf("weights %g for %d requests", weights, requests)
		}
		if math.Abs(got-mean) > .02*mean+1e-9 {
			t.Errorf("mean %g of bins for %g", got, mean)
		}
	})
}

// TestBinsTail: the midpoint stands for the mean of a group even where one
// prompt is far longer than the others.
func TestBinsTail(t *testing.T) {
	var lengths []int
	for i := range 320 {
		lengths = append(lengths, i)
	}
	lengths[319] = 100_000
	d, mean, _ := binned(t, lengths, slices.Repeat([]int{1}, len(lengths)))
	first, last := d.Bins[0], d.Bins[len(d.Bins)-1]
	// 0…9 have the mean 4.5, which is 5; 310…318 and 100000 have 10282.6.
	if want := (Bin{1, 10, 10}); first != want || len(d.Bins) != 32 {
		t.Errorf("first of %d bins %v, want %v of 32", len(d.Bins), first, want)
	}
	if want := (Bin{310, 20257, 10}); last != want {
		t.Errorf("last bin %v, want %v", last, want)
	}
	if got := d.MeanEffective(0); math.Abs(float64(got)-mean) > 1 {
		t.Errorf("mean %d, want %g", got, mean)
	}
}

// TestBinsOfFrequentLengths: a length with most of the requests has a bin of
// its own and takes no bins away from the rest.
func TestBinsOfFrequentLengths(t *testing.T) {
	lengths, counts := []int{500}, []int{5000}
	for i := range 310 {
		lengths, counts = append(lengths, 1000+i), append(counts, 1)
	}
	d, _, _ := binned(t, lengths, counts)
	if len(d.Bins) != 32 || d.Bins[0] != one(500, 5000) || d.Bins[1].Weight != 10 || d.Bins[31].Weight != 10 {
		t.Errorf("got %d bins %v", len(d.Bins), d.Bins)
	}
}

// BenchmarkRead reads one MiB.
func BenchmarkRead(b *testing.B) {
	for _, c := range []struct{ file, head, line string }{
		{"a.csv", "", "%d\n"},
		{"azure.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n", "2023-11-16 18:17:04.0319600,%d,27\n"},
		{"mooncake.jsonl", "", `{"timestamp": 40, "input_length": %d, "output_length": 3, "hash_ids": [151, 152, 153, 154]}` + "\n"},
	} {
		var text strings.Builder
		text.WriteString(c.head)
		for i := 0; text.Len() < 1<<20; i++ {
			fmt.Fprintf(&text, c.line, i*i%65521)
		}
		b.Run("file="+c.file, func(b *testing.B) {
			data := []byte(text.String())
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadDistribution(bytes.NewReader(data), c.file); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
