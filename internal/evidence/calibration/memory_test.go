package calibration_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
)

// llama is a measured deployment, others differ from it in one thing.
func llama() calibration.Subject {
	return calibration.Subject{
		Engine: "vllm", System: "h200_sxm", Generation: "hopper", Model: "meta-llama/Llama-3.1-70B", Weights: "fp8", Class: "dense",
		Size: "15 to 80 B", Layout: "TP 4 DP 1", Release: "0.11.1",
	}
}

const remembering = "memory:\n  vllm · h200_sxm · hopper · meta-llama/Llama-3.1-70B (fp8) · dense · 15 to 80 B · TP 4 DP 1 · 0.11.1: kernels 1.2, prompts 0.9, 12 rows of a laboratory\n"

func read(t *testing.T, text string) *calibration.Overlay {
	t.Helper()
	o, err := calibration.Read([]byte(text), "test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestMemoryFades: a remembered deployment is predicted as it ran, others take the less of it the more they differ, and other
// engines next to nothing.
func TestMemoryFades(t *testing.T) {
	t.Parallel()
	o := read(t, remembering)
	kernels := func(s calibration.Subject) float64 { return o.Multipliers(s).Decode[step.Products] }
	if u := o.Multipliers(llama()); math.Abs(u.Decode[step.Products]-1.2) > 1e-3 || math.Abs(u.Prefill[step.Attention]-0.9) > 1e-3 || math.Abs(u.Prefill[step.Products]-1.2*0.9) > 1e-3 || u.PerStep != 1 {
		t.Errorf("its own kernels take %+v", u)
	}
	last := 1.2
	for _, c := range []struct {
		what   string
		change func(*calibration.Subject)
	}{
		{"another device of the generation", func(s *calibration.Subject) { s.System = "h100_sxm" }},
		{"another layout", func(s *calibration.Subject) { s.Layout = "TP 8 DP 1" }},
		{"another model", func(s *calibration.Subject) { s.Model = "a/b" }},
		{"another class", func(s *calibration.Subject) { s.Model, s.Class = "a/b", "moe" }},
		{"another engine", func(s *calibration.Subject) { s.Engine = "sglang" }},
	} {
		s := llama()
		c.change(&s)
		if got := kernels(s); !(got < last && got > 1) {
			t.Errorf("%s: kernels take %g, and %g of what is nearer", c.what, got, last)
		} else {
			last = got
		}
	}
	s := llama()
	s.Generation, s.System, s.Disaggregated = "blackwell-ultra", "gb300", true
	o = read(t, strings.Replace(strings.Replace(remembering, "h200_sxm · hopper", "b200_sxm · blackwell", 1), "TP 4 DP 1", "disagg", 1))
	if got := o.Multipliers(s).Decode[step.Products]; math.Abs(got-math.Pow(1.2, 0.9)) > 1e-3 {
		t.Errorf("a variant of the generation, disaggregated like it: %g", got)
	}
}

// TestRigs: what is remembered of a rig holds for its own rows, less for the deployments of others, and a file keeps whose it is.
func TestRigs(t *testing.T) {
	t.Parallel()
	o := read(t, strings.Replace(remembering, "· 0.11.1:", "· 0.11.1 · a rig:", 1))
	own, others := llama(), llama()
	own.Rig = "a rig"
	if got := o.Multipliers(own).Decode[step.Products]; math.Abs(got-1.2) > 1e-3 {
		t.Errorf("its own: %g", got)
	}
	if got := o.Multipliers(others).Decode[step.Products]; math.Abs(got-math.Pow(1.2, 0.3)) > 1e-3 {
		t.Errorf("another's: %g", got)
	}
	var b bytes.Buffer
	if err := o.Write(&b); err != nil {
		t.Fatal(err)
	}
	if p := read(t, b.String()).Memory.Points(); len(p) != 1 || p[0].Subject != own {
		t.Errorf("kept as %+v", p)
	}
}

// TestCovariancesInvert: whatever deployments are remembered, their covariances can be inverted: each is recalled as it is.
func TestCovariancesInvert(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	points := map[string]calibration.Remembered{}
	for len(points) < 60 {
		s := llama()
		s.Engine, s.Release, s.Layout = pick("vllm", "sglang"), pick("1", "2", ""), pick("TP 1 DP 1", "TP 4 DP 1", "TP 1 DP 8 EP")
		s.Model, s.Weights, s.Disaggregated = pick("a/a", "a/b", "a/c"), pick("fp8", "fp4"), r.IntN(4) == 0
		if s.Disaggregated {
			s.Layout = ""
		}
		points[s.Deployment()] = calibration.Remembered{Subject: s, Kernels: r.NormFloat64() / 10, Prompts: r.NormFloat64() / 5, Rows: 1, Source: "x"}
	}
	m := calibration.NewMemory(points)
	for _, p := range points {
		if k, q := m.Recall(&p.Subject); math.Abs(k-p.Kernels) > 0.01 || math.Abs(q-p.Prompts) > 0.01 {
			t.Errorf("%s: %g and %g, recalled as %g and %g", p.Subject.Deployment(), p.Kernels, p.Prompts, k, q)
		}
		near := m.Nearest(&p.Subject)
		if len(near) == 0 || len(near) > 5 || near[0].Nearness != 1 || near[0].Kernels != math.Exp(p.Kernels) || near[0].Prompts != math.Exp(p.Prompts) || !strings.Contains(near[0].Deployment, p.Subject.Model) {
			t.Errorf("%s: nearest %+v", p.Subject.Deployment(), near)
		}
		for i := 1; i < len(near); i++ {
			if near[i].Nearness > near[i-1].Nearness || near[i].Nearness < 0.3 {
				t.Errorf("%s: nearness %g after %g", p.Subject.Deployment(), near[i].Nearness, near[i-1].Nearness)
			}
		}
	}
}

// TestMemoryIsKept: a file keeps what is remembered, and wrong lines are refused.
func TestMemoryIsKept(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := read(t, remembering).Write(&b); err != nil {
		t.Fatal(err)
	}
	p := read(t, b.String()).Memory.Points()
	if len(p) != 1 || p[0].Subject != llama() || p[0].Rows != 12 || p[0].Source != "a laboratory" || math.Abs(math.Exp(p[0].Prompts)-0.9) > 1e-9 {
		t.Errorf("kept as %+v", p)
	}
	for text, want := range map[string]string{
		"memory:\n  vllm · h200_sxm: kernels 1, prompts 1, 1 rows of x":   "words of a deployment",
		strings.Replace(remembering, "1.2", "0", 1):                       "multipliers between",
		strings.Replace(remembering, " rows of a laboratory", "", 1):      "rows of SOURCE",
		strings.Replace(remembering, "kernels 1.2, prompts 0.9, ", "", 1): "one of the two",
		strings.Replace(remembering, "prompts", "answers", 1):             "one of the two",
	} {
		if _, err := calibration.Read([]byte(text), "x.yaml"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want an error about %q, got %v", text, want, err)
		}
	}
}

// TestMemoryOfOneNumber: of a deployment whose neighbours say the rest only one number is kept; the other is theirs.
func TestMemoryOfOneNumber(t *testing.T) {
	t.Parallel()
	const deployment = "  vllm · h200_sxm · hopper · meta-llama/Llama-3.1-70B (fp8) · dense · 15 to 80 B · "
	text := "memory:\n" + deployment + "TP 4 DP 1 · 0.11.1: kernels 1.200, 12 rows of a laboratory\n" + deployment + "TP 8 DP 1 · 0.11.1: prompts 0.900, 3 rows of a laboratory\n"
	o := read(t, text)
	var b bytes.Buffer
	if err := o.Write(&b); err != nil || !strings.Contains(b.String(), text) {
		t.Errorf("written as\n%s%v", b.String(), err)
	}
	other := llama()
	other.Layout = "TP 8 DP 1"
	for s, want := range map[calibration.Subject][2]float64{llama(): {1.2, math.Pow(0.9, 0.6)}, other: {math.Pow(1.2, 0.6), 0.9}} {
		ofKernels, ofPrompts := o.Memory.Recall(&s)
		if math.Abs(math.Exp(ofKernels)-want[0]) > 1e-3 || math.Abs(math.Exp(ofPrompts)-want[1]) > 1e-3 {
			t.Errorf("%s: kernels take %.3f times as long, prompts %.3f, want %.3f", s.Layout, math.Exp(ofKernels), math.Exp(ofPrompts), want)
		}
		if near := o.Memory.Nearest(&s)[0]; math.Abs(near.Kernels-want[0]) > 1e-3 || math.Abs(near.Prompts-want[1]) > 1e-3 {
			t.Errorf("%s: %+v, want %.3f", s.Layout, near, want)
		}
	}
}

// TestMemoryInWords: what a prediction takes from memory is in the basis of its intervals, with the neighbours and their sources.
func TestMemoryInWords(t *testing.T) {
	t.Parallel()
	o := read(t, remembering)
	about := calibration.Case{Subject: llama(), Tier: device.Calibrated, Vendor: device.NVIDIA, Devices: 4, Concurrency: 8}
	about.Layout = "TP 2 DP 1"
	if got := o.Expect(&about).Basis; !strings.Contains(got, "corrected by measured deployments: kernels ×1.12, prompts ×0.94 (1 nearby: 12 rows from a laboratory; nearest: ") {
		t.Error(got)
	}
	about.Engine, about.Model = "sglang", "a/b"
	if got := o.Expect(&about).Basis; !strings.Contains(got, "(none nearby)") {
		t.Error(got)
	}
	about.Class, about.System = "moe", "b200_sxm"
	if got := o.Expect(&about).Basis; strings.Contains(got, "memory") {
		t.Error(got)
	}
}

// TestDrift: releases after the newest that the fit has rows of, and the newest that is known, are less certain.
func TestDrift(t *testing.T) {
	t.Parallel()
	o := read(t, remembering+"cells:\n  vllm · h200_sxm: meta-llama/Llama-3.1-70B (fp8)\nreleases:\n  vllm: 0.11.1\n")
	for release, why := range map[string]string{"0.11.1": "", "0.9.0": "", "0.12.0": "no release after 0.11.1 was measured", "": "the newest release may not have been measured"} {
		about := calibration.Case{Subject: llama(), Tier: device.Calibrated, Vendor: device.NVIDIA, Devices: 4, Concurrency: 8}
		about.Release = release
		e := o.Expect(&about)
		about.Familiar = true // a measured row
		row := o.Expect(&about)
		if wider := e.TPOT.High > row.TPOT.High+1e-9; wider != (why != "") || !strings.Contains(e.Basis, why) || why != "" && strings.Contains(row.Basis, why) {
			t.Errorf("release %q: %v, and %v of a row; %s", release, e.TPOT, row.TPOT, e.Basis)
		}
	}
}
