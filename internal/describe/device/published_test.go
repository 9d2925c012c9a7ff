package device

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// published is a row of testdata/published.txt.
type published struct {
	name   string
	values []string // in the order of its columns
	source string
}

func publishedRows(t *testing.T) []published {
	t.Helper()
	data, err := os.ReadFile("testdata/published.txt")
	if err != nil {
		t.Fatal(err)
	}
	const columns = 8
	var out []published
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > columns+1 && !strings.HasPrefix(line, "#") {
			out = append(out, published{f[0], f[1 : columns+1], strings.Join(f[columns+1:], " ")})
		} else if len(f) > 0 && !strings.HasPrefix(line, "#") {
			t.Fatalf("a row of %d columns: %s", len(f), line)
		}
	}
	return out
}

// dense reads a published number: -1 is one that is not compared.
func dense(t *testing.T, s string) float64 {
	t.Helper()
	switch s {
	case "?":
		return -1
	case "-":
		return 0
	}
	number, sparse := strings.CutSuffix(s, "*")
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		t.Fatal(err)
	}
	if sparse {
		return x / 2
	}
	return x
}

// TestPublished compares the profiles with what vendors print, within the digits
// they print. What a driver leaves of the memory is up to 7 % less than its GB.
func TestPublished(t *testing.T) {
	const digits, ecc = 0.01, 0.07
	rows := publishedRows(t)
	for _, row := range rows {
		p := lookup(t, row.name)
		f := p.Facts()
		m := &f.Peak.Matrix
		got := []float64{
			max(m.BF16, m.F16), m.FP8, m.INT8, m.FP4, f.Memory.SizeGiB, f.Memory.BandwidthGBs, f.PowerW,
			2 * f.Links[len(f.Links)-1].BandwidthGBs,
		}
		for i, column := range []string{"16-bit", "fp8", "int8", "fp4", "memory", "bandwidth", "power", "link"} {
			want := dense(t, row.values[i])
			low, high := want*(1-digits), want*(1+digits)
			if column == "memory" {
				low, high = want*(1-ecc), want
			}
			if want >= 0 && (got[i] < low || got[i] > high) {
				t.Errorf("%s, %s: published %s, got %g (%s)", row.name, column, row.values[i], got[i], row.source)
			}
		}
	}
	for _, name := range Names() {
		p := lookup(t, name)
		if known := slices.ContainsFunc(rows, func(r published) bool { return r.name == name }); known == p.FollowsAscend() {
			t.Errorf("%s: want a row for each device but Ascend's, got one: %t", name, known)
		}
	}
}

// TestPeaksOfFormats: half the bits, twice the rate; and what does not follow that
// is known and named here.
func TestPeaksOfFormats(t *testing.T) {
	const near = 0.03
	twice := func(wide, narrow float64) bool { return wide == 0 || narrow == 0 || math.Abs(narrow/wide/2-1) < near }
	same := func(a, b float64) bool { return a == 0 || b == 0 || math.Abs(a/b-1) < near }
	for rule, c := range map[string]struct {
		holds  func(m *FormatFacts) bool
		except []string
	}{
		"fp8 is twice bf16": {
			func(m *FormatFacts) bool { return twice(m.BF16, m.FP8) },
			[]string{"b60", "gaudi3", "inferentia2", "tpu_v5p", "tpu_v6e", "trainium3"},
		},
		"int8 is as fast as fp8": {
			func(m *FormatFacts) bool { return same(m.INT8, m.FP8) },
			[]string{"b300_sxm", "gb300", "b60", "inferentia2", "rtx_4090", "rtx_5090", "tpu_v5p", "tpu_v6e"},
		},
		"fp4 is twice fp8": {
			func(m *FormatFacts) bool { return twice(m.FP8, m.FP4) },
			[]string{"b300_sxm", "gb300", "rtx_5090", "trainium3"},
		},
		"f16 is as fast as bf16": {
			func(m *FormatFacts) bool { return same(m.F16, m.BF16) },
			[]string{
				"ATLAS_800_A2_280T_32G_PCIE", "ATLAS_800_A2_280T_64G", "ATLAS_800_A2_280T_64G_PCIE", "ATLAS_800_A2_313T_64G",
				"ATLAS_800_A2_376T_64G", "ATLAS_800_A3_560T_128G_DIE", "ATLAS_800_A3_560T_128G_DIE_ROCE",
				"ATLAS_800_A3_752T_128G_DIE", "gaudi3",
			},
		},
		"f32 is no faster than 16 bits": {
			func(m *FormatFacts) bool { return m.F32 <= max(m.BF16, m.F16) }, nil,
		},
	} {
		for _, name := range Names() {
			f := lookup(t, name).Facts()
			if got, want := c.holds(&f.Peak.Matrix), !slices.Contains(c.except, name); got != want {
				t.Errorf("%s: %s: %t, want %t: %+v", rule, name, got, want, f.Peak.Matrix)
			}
		}
	}
}

// TestProfilesAreSane: quantities that differ by a factor of ten or more between
// devices have ratios that do not. A slip of units breaks one of them.
func TestProfilesAreSane(t *testing.T) {
	for _, name := range Names() {
		p := lookup(t, name)
		f := p.Facts()
		m, v := &f.Peak.Matrix, &f.Peak.Vector
		check := func(what string, x, low, high float64) {
			if x < low || x > high {
				t.Errorf("%s: %s %g, want %g to %g", name, what, x, low, high)
			}
		}
		wide := max(m.BF16, m.F16)
		check("operations per byte", wide*1000/f.Memory.BandwidthGBs, 25, 600)
		check("vector of matrix peak", max(v.F32, v.BF16, v.F16)/wide, 0.005, 1)
		check("seconds to read the memory", float64(p.Memory)/float64(p.Bandwidth), 0.015, 0.7)
		check("share of the memory a process sees", float64(p.Usable())/float64(p.Memory), 0.75, 1)
		if f.PowerW > 0 {
			check("watts", f.PowerW, 70, 1400)
		}
		if f.Price.USDPerHour > 0 {
			check("dollars per hour", f.Price.USDPerHour, 0.2, 20)
		}
		for i, l := range f.Links {
			check("link of memory bandwidth", l.BandwidthGBs/f.Memory.BandwidthGBs, 1e-4, 0.5)
			// AIConfigurator gives these two a NIC that is faster than their slot.
			nic := name == "b60" || name == "l40s"
			if i > 0 && (l.BandwidthGBs < f.Links[i-1].BandwidthGBs || l.LatencyUs > f.Links[i-1].LatencyUs) != nic {
				t.Errorf("%s: %s is slower than %s outside it", name, l.Name, f.Links[i-1].Name)
			}
		}
	}
}
