package calibration

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// TestApart: the errors of percentiles beside the mean are those of the open-loop traces.
func TestApart(t *testing.T) {
	file, err := os.Open("testdata/open-loop.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows = rows[1:]
	if len(rows) != 8 {
		t.Fatalf("%d traces", len(rows))
	}
	// beside is the root mean square of a column less that of the mean.
	beside := func(column, mean int) float64 {
		sum := 0.0
		for _, r := range rows {
			x, err := strconv.ParseFloat(r[column], 64)
			m, wrong := strconv.ParseFloat(r[mean], 64)
			if err != nil || wrong != nil {
				t.Fatal(r)
			}
			sum += (x - m) * (x - m)
		}
		return math.Sqrt(sum / float64(len(rows)))
	}
	const ttft, tpot = 1, 5
	for i, want := range apart {
		if got := beside(ttft+1+i, ttft); math.Abs(got-want.ttft) > 0.0005 {
			t.Errorf("TTFT p%g: %.4f, the table has %g", want.percentile, got, want.ttft)
		}
		if got := beside(tpot+1+i, tpot); math.Abs(got-want.tpot) > 0.0005 {
			t.Errorf("TPOT p%g: %.4f, the table has %g", want.percentile, got, want.tpot)
		}
	}
}

// TestPercentilesAreLessSure: the intervals of higher percentiles are wider, those of the mean the narrowest, and a sampling error
// widens all.
func TestPercentilesAreLessSure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		half := rapid.Float64Range(0, 1).Draw(t, "half")
		mean := Expected{Each: figures.Each[Error]{TTFT: Error{-half, half}, TPOT: Error{-half, half}, Throughput: Error{-half, half}}}
		low := rapid.Float64Range(1, 99.9).Draw(t, "low")
		a, b := mean.At(low), mean.At(rapid.Float64Range(low, 99.9).Draw(t, "high"))
		width := func(e Error) float64 { return e.High - e.Low }
		if !(width(mean.TTFT) < width(a.TTFT) && width(a.TTFT) <= width(b.TTFT) && width(mean.TPOT) < width(a.TPOT) && width(a.TPOT) <= width(b.TPOT)) {
			t.Fatalf("%+v, %+v, %+v", mean, a, b)
		}
		if a.Throughput != mean.Throughput || a.Basis == mean.Basis || mean.At(0) != mean {
			t.Fatalf("%+v, %+v", mean, a)
		}
		sigma := rapid.Float64Range(0.001, 0.1).Draw(t, "sampling")
		if x := a.Sampled(figures.Sampling{TTFT: sigma}); math.Abs(width(x.TTFT)-math.Hypot(width(a.TTFT), 2*normal80*sigma)) > 1e-9 || x.TPOT != a.TPOT || x.Basis == a.Basis {
			t.Fatalf("%+v, sampled %+v", a, x)
		}
		if x := a.Sampled(figures.Sampling{TTFT: math.Inf(1)}); math.IsInf(x.TTFT.High, 0) {
			t.Fatalf("%+v", x)
		}
	})
}
