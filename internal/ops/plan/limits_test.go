package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// TestUsualLimits: without limits a plan has those of the uses of its workloads, the tightest of each kind.
func TestUsualLimits(t *testing.T) {
	limits := func(ttft, tpot units.Seconds) workload.Limits {
		return workload.Limits{TTFT: ttft * units.Millisecond, TPOT: tpot * units.Millisecond}
	}
	for _, x := range []struct {
		name string
		r    Request
		uses string
		want workload.Limits
	}{
		{"lengths are chat's", Request{Workloads: []session.Workload{{Input: 100, Output: 10}}}, "chat", limits(2000, 100)},
		{"a preset with other lengths", Request{Workloads: []session.Workload{{Preset: "code", Input: 100}}}, "code", limits(450, 40)},
		{"the tightest of each", Request{Workloads: []session.Workload{{Preset: "chat"}, {Preset: "agentic"}, {Preset: "chat"}}}, "chat agentic", limits(2000, 80)},
		{"batch has none", Request{Workloads: []session.Workload{{Preset: "batch"}}}, "batch", workload.Limits{}},
		{"batch beside chat", Request{Workloads: []session.Workload{{Preset: "batch"}, {Input: 1, Output: 1}}}, "batch chat", limits(2000, 100)},
		{"one given limit is all there is", Request{Workloads: []session.Workload{{Preset: "chat"}}, Limits: limits(0, 7)}, "", limits(0, 7)},
		{"none wanted", Request{Workloads: []session.Workload{{Preset: "chat"}}, NoLimits: true}, "", workload.Limits{}},
	} {
		u := x.r.Usual()
		if err := x.r.completeLimits(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(x.want, x.r.Limits); diff != "" {
			t.Errorf("%s (-want +got):\n%s", x.name, diff)
		}
		uses := ""
		if u != nil {
			uses = strings.Join(u.Uses, " ")
		}
		if uses != x.uses {
			t.Errorf("%s: uses %q, want %q", x.name, uses, x.uses)
		}
	}
	for _, p := range workload.Presets() {
		if p.Usual.Source == "" {
			t.Errorf("the usual limits of %s have no source", p.Name)
		}
	}
}

// TestNoLimits: without limits a small GPU is not planned for waits of minutes; throughput alone carries at least as much.
func TestNoLimits(t *testing.T) {
	r := Request{
		Model: "meta-llama/Llama-3.1-8B", Systems: []string{"l4"}, Devices: 1, Engines: []string{"sglang"},
		Workloads: []session.Workload{{Input: 1000, Output: 200}}, NoChanges: true,
	}
	usual := mustPlan(t, r)
	if c := &usual.Contenders[0]; usual.Answer.UsualLimits == "" || !c.Meets || c.Mean.TTFT.Value > 2000 || c.Mean.TPOT.Value > 100 {
		t.Errorf("usual limits %q: TTFT %v, TPOT %v", usual.Answer.UsualLimits, c.Mean.TTFT, c.Mean.TPOT)
	}
	r.NoLimits = true
	free := mustPlan(t, r)
	if c := &free.Contenders[0]; free.Answer.UsualLimits != "" || free.Request.Limits.Any() || c.Tokens.Value < usual.Contenders[0].Tokens.Value {
		t.Errorf("without limits %g tokens/s, with the usual ones %g", c.Tokens.Value, usual.Contenders[0].Tokens.Value)
	}
	r.Limits.TTFT = 1
	if _, err := Run(t.Context(), &session.Session{}, r); err == nil || !strings.Contains(err.Error(), "excludes") {
		t.Errorf("limits beside no_limits: %v", err)
	}
}

// TestLimitsEffect: of two plans, one without limits, the limits are the one difference.
func TestLimitsEffect(t *testing.T) {
	a := smallPlan()
	a.Devices, a.Engines = 1, []string{"vllm"}
	b := a
	b.Limits, b.NoLimits = workload.Limits{}, true
	for _, x := range []struct {
		a, b  Request
		field string
	}{{a, b, "no_limits"}, {b, a, "limits"}} {
		got, err := Effects(t.Context(), &session.Session{}, &Response{Request: x.a}, &Response{Request: x.b})
		if err != nil || len(got) != 1 || got[0].Field != x.field || got[0].Ratio == nil {
			t.Errorf("%+v, %v; want one effect, of %s", got, err, x.field)
		}
	}
}

// TestEffectsOnce: plans that were made just now are not planned again; of a single field that differs B is the answer.
func TestEffectsOnce(t *testing.T) {
	r := smallPlan()
	r.Devices, r.Engines, r.Modes, r.Jobs = 1, []string{"vllm"}, []experiment.ServingMode{experiment.Aggregated}, 3
	a := mustPlan(t, r)
	if a.Request.Jobs != 3 {
		t.Errorf("%d workers, want those of the request", a.Request.Jobs)
	}
	r.Confidence = 0.8
	one := mustPlan(t, r)
	r.Limits.TPOT *= 2
	two := mustPlan(t, r)
	for _, x := range []struct {
		b        *Response
		searches int
	}{{one, 0}, {two, 2}} {
		searches := 0
		w := &session.Session{Progress: func(p session.Progress) {
			if p.Done > 0 {
				searches++
			}
		}}
		got, err := Effects(t.Context(), w, a, x.b)
		if err != nil || len(got) != max(1, x.searches) || searches != x.searches {
			t.Errorf("%+v, %v after %d searches, want %d", got, err, searches, x.searches)
		}
		read, err := Effects(t.Context(), &session.Session{}, &Response{Request: a.Request}, &Response{Request: x.b.Request})
		if diff := cmp.Diff(got, read); err != nil || diff != "" {
			t.Errorf("%v; of records (-planned +read):\n%s", err, diff)
		}
	}
}

// TestGoodput: the share of requests within the limits is that of a simulation of the contender; none without limits.
func TestGoodput(t *testing.T) {
	r := loadPlan()
	r.Percentile = 90
	p := mustPlan(t, r)
	c := &p.Contenders[0].Found
	if !strings.Contains(p.Answer.Reason, "meeting the limits at p90") {
		t.Errorf("asked for p90, answered %q", p.Answer.Reason)
	}
	// A tenth of the requests may miss each of the two limits.
	if !c.Meets || c.Run.GoodShare < 0.8 || c.Run.GoodShare > 1 {
		t.Errorf("%g of the requests within the limits at p90", c.Run.GoodShare)
	}
	r.Percentile, r.Limits, r.NoLimits = 0, workload.Limits{}, true
	if c := &mustPlan(t, r).Contenders[0]; c.GoodShare != nil {
		t.Errorf("%g of the requests within no limits", *c.GoodShare)
	}
}

// TestNothingFits: a mode whose workers fit alone and not together is among those that cannot serve the model, not an empty
// contender nearest to the limits.
func TestNothingFits(t *testing.T) {
	p := mustPlan(t, Request{
		Model: "Qwen/Qwen3-32B", Systems: []string{"l4"}, Devices: 4, Engines: []string{"vllm"}, NoChanges: true,
		Workloads: []session.Workload{{Preset: "code"}},
	})
	if len(p.Contenders) != 1 || p.Contenders[0].GPUs == 0 || p.Contenders[0].Meets {
		t.Errorf("%d contenders, the first on %d devices", len(p.Contenders), p.Contenders[0].GPUs)
	}
	if len(p.NotRun) != 1 || p.NotRun[0].Mode != "disagg" || p.NotRun[0].Reason != "no deployment of Qwen/Qwen3-32B fits on 4 devices" {
		t.Errorf("failed: %+v", p.NotRun)
	}
}
