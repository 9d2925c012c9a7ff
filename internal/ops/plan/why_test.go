package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestWhy: the parts of a figure add up to it, its step is among the pools, shares of its time add up to one, and the measured deployments end with
// those that the interval is based on.
func TestWhy(t *testing.T) {
	for name, change := range map[string]func(*Request){
		"GPUs":       func(*Request) {},
		"a load":     func(r *Request) { r.Devices, r.Rate = 0, 12 },
		"percentile": func(r *Request) { r.Percentile = 95 },
		"goodput":    func(r *Request) { r.Goodput = 0.9 },
		"impossible": func(r *Request) {
			r.Goodput, r.Limits = 0.9, workload.Limits{TTFT: units.Millisecond / 1000, TPOT: units.Millisecond / 1000}
		},
		"long": func(r *Request) {
			r.Workloads, r.Limits = []session.Workload{{Input: 20000, Output: 50}}, workload.Limits{TTFT: 9000 * units.Millisecond}
		},
		"drafts":    func(r *Request) { r.Draft = "ngram:2" },
		"one token": func(r *Request) { r.Workloads[0].Output = 1 },
	} {
		r := smallPlan()
		r.Engines = []string{"vllm"}
		change(&r)
		p := mustPlan(t, r)
		c, y := &p.Contenders[0], p.Why
		var of []FigureOf
		for i := range y.Figures {
			f := &y.Figures[i]
			of = append(of, f.Figure)
			sum, product := 0.0, 100.0
			for _, x := range f.Parts {
				sum += x.Value
				product *= x.Value / 100
			}
			want := f.Value
			switch f.Figure { //nolint:exhaustive // others are their sums
			case OfThroughput:
				want = c.Mean.Latency.Value
			case OfEnergy:
				want = float64(c.Energy.Watts)
			case OfLimits:
				sum = product
			}
			if math.Abs(sum-want) > 1e-6*want {
				t.Errorf("%s: the parts of %s are %g of %g", name, f.Figure, sum, want)
			}
			if b := f.Bounds; b != nil && (math.Abs(b.Memory+b.Compute+b.Link+b.Host-1) > 1e-9 || b.Host <= 0 || StepOf(stepsOf(p.Pools), f.Phase) == nil) {
				t.Errorf("%s: bounds of %s: %+v", name, f.Figure, b)
			}
			if f.Sentence == "" || f.Error == "" {
				t.Errorf("%s: %s: %q, %q", name, f.Figure, f.Sentence, f.Error)
			}
		}
		want := []FigureOf{OfTTFT, OfTPOT, OfThroughput, OfMemory, OfLimits, OfCost, OfEnergy}
		if r.Workloads[0].Output == 1 {
			want = slices.Delete(want, 1, 2)
		}
		if !cmp.Equal(of, want) {
			t.Errorf("%s: figures %v", name, of)
		}
		last := y.Measured[len(y.Measured)-1]
		if !strings.HasPrefix(c.Basis, units.Thousands(last.Rows)+" measured ") || !strings.Contains(c.Basis, "("+last.Of+")") {
			t.Errorf("%s: %d of %s, based on %s", name, last.Rows, last.Of, c.Basis)
		}
		if len(y.Models) == 0 {
			t.Errorf("%s: no model was measured", name)
		}
	}
}

// TestWhyCost: the sentences of cost and energy have the price with its source, what an hour and a month cost, the power of a GPU, and what is not counted.
func TestWhyCost(t *testing.T) {
	r := smallPlan()
	r.Engines, r.Prices, r.EnergyPrice = []string{"vllm"}, nil, new(0.5)
	listed := mustPlan(t, r)
	r.Prices = map[string]float64{r.Systems[0]: 3}
	given := mustPlan(t, r)
	of := func(p *Response, f FigureOf) *Reason {
		i := slices.IndexFunc(p.Why.Figures, func(x Reason) bool { return x.Figure == f })
		if i < 0 {
			t.Fatalf("no reason of %s", f)
		}
		return &p.Why.Figures[i]
	}
	k, gpus := listed.Contenders[0].Cost, listed.Contenders[0].GPUsGiven
	for want, in := range map[string]string{
		fmt.Sprintf("%s at %s USD an hour", units.Counted(gpus, "GPU"), units.Figure(k.PerGPUHour)): of(listed, OfCost).Sentence,
		"at 0.5 USD per kWh": of(listed, OfCost).Sentence,
		k.Source:             of(listed, OfCost).Sentence,
		k.Class.InWords():    of(listed, OfCost).Sentence,
		k.Date:               of(listed, OfCost).Sentence,
		fmt.Sprintf("A month of 730 hours costs %s USD", units.Figure(k.PerMonth)): of(listed, OfCost).Sentence,
		"at 3 USD an hour": of(given, OfCost).Sentence,
		"Price: yours.":    of(given, OfCost).Sentence,
		"A GPU draws " + units.Figure(float64(listed.Contenders[0].Energy.Watts)) + " W on average": of(listed, OfEnergy).Sentence,
		"PUE": of(listed, OfEnergy).Sentence,
	} {
		if !strings.Contains(in, want) {
			t.Errorf("no %q in %q", want, in)
		}
	}
}

// TestWhyLong: a prompt beyond the token budget takes several steps.
func TestWhyLong(t *testing.T) {
	r := smallPlan()
	r.Engines, r.Modes = []string{"vllm"}, []experiment.ServingMode{experiment.Aggregated}
	r.Workloads, r.Limits = []session.Workload{{Input: 20000, Output: 50}}, workload.Limits{TTFT: 9000 * units.Millisecond}
	if got := mustPlan(t, r).Why.Figures[0].Parts[0].Name; got != "kernels of 3 prefill steps" {
		t.Errorf("got %q", got)
	}
}

// TestWhyDrafts: of the rates of more drafts than are made only those made count.
func TestWhyDrafts(t *testing.T) {
	r := smallPlan()
	r.Engines, r.Modes, r.Draft, r.AcceptanceRates = []string{"vllm"}, []experiment.ServingMode{experiment.Aggregated}, "ngram:1", []float64{0.8, 0.6, 0.4}
	var names []string
	for _, f := range mustPlan(t, r).Why.Figures {
		for _, part := range f.Parts {
			names = append(names, part.Name)
		}
	}
	if want := "accepted drafts: a step yields 1.80 tokens"; !slices.Contains(names, want) {
		t.Errorf("no %q in %q", want, names)
	}
}

// TestAlone: a plan of a contender alone has it first, with the same figures and the same reasons.
func TestAlone(t *testing.T) {
	r := smallPlan()
	r.Engines, r.NoChanges = []string{"vllm", "sglang"}, false
	p := mustPlan(t, r)
	for i := range p.Contenders {
		want := &p.Contenders[i]
		alone := mustPlan(t, p.Request.Alone(want))
		if diff := cmp.Diff(want, &alone.Contenders[0], cmpopts.IgnoreFields(Contender{}, "Found", "Frontier", "Why")); diff != "" {
			t.Errorf("%s (-among others +alone):\n%s", want.Name, diff)
		}
		if alone.Why == nil || len(alone.Contenders) != 1 {
			t.Errorf("%s is not explained", want.Name)
			continue
		}
		why, steps := p.Reasons(i)
		_, own := alone.Reasons(0)
		if diff := cmp.Diff(why, alone.Why, cmpopts.IgnoreFields(Why{}, "Steps")) + cmp.Diff(steps, own); diff != "" {
			t.Errorf("%s is explained otherwise (-among others +alone):\n%s", want.Name, diff)
		}
	}
}

// TestFrontierTimes: points of the trade-off have times, and TPOT is that of their speed.
func TestFrontierTimes(t *testing.T) {
	r := smallPlan()
	r.Engines = []string{"vllm"}
	p := mustPlan(t, r)
	for i := range p.Contenders {
		for _, f := range p.Contenders[i].Frontier {
			if f.TTFT <= 0 || math.Abs(f.TPOT*f.User-1e3) > 1e-6 {
				t.Errorf("%s: %+v", p.Contenders[i].Name, f)
			}
		}
	}
}
