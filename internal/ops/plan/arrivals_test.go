package plan

import (
	"reflect"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// TestArrivals: requests that come in bursts need more devices than those that come at random, and those that come evenly wait least;
// what is remembered of one kind of arrivals is not taken for another.
func TestArrivals(t *testing.T) {
	memo := &session.Session{Memo: &session.Memo{}}
	ask := func(p traffic.Process, variation float64) *Response {
		r := loadPlan()
		r.Process, r.Variation, r.Percentile = p, variation, 95
		out, err := Run(t.Context(), memo, r)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	even, random, bursts := ask(traffic.Constant, 0), ask(traffic.Poisson, 0), ask(traffic.Gamma, 5)
	a, b, c := &even.Contenders[0], &random.Contenders[0], &bursts.Contenders[0]
	if a.GPUs > b.GPUs || b.GPUs >= c.GPUs {
		t.Errorf("%d GPUs for even arrivals, %d for random ones, %d for bursts", a.GPUs, b.GPUs, c.GPUs)
	}
	if a.GPUs == b.GPUs && a.Judged.TTFT.Value >= b.Judged.TTFT.Value {
		t.Errorf("p95 TTFT %g ms of even arrivals, %g of random ones", a.Judged.TTFT.Value, b.Judged.TTFT.Value)
	}
	if notes := strings.Join(bursts.Notes, " "); !strings.Contains(notes, "gamma-distributed intervals with a coefficient of variation of 5") {
		t.Errorf("notes: %s", notes)
	}
	if strings.Contains(strings.Join(random.Notes, " "), "arrivals") {
		t.Errorf("notes of random arrivals: %v", random.Notes)
	}
	r := loadPlan()
	r.Rate, r.Devices, r.Process, r.Variation = 0, 2, traffic.Gamma, 2
	if _, err := Run(t.Context(), memo, r); err == nil {
		t.Error("bursts without a rate are taken")
	}
}

// TestArrivalsShown: of equal deployments the timeline, the minute and the energy are those of the arrivals asked for.
func TestArrivalsShown(t *testing.T) {
	memo := &session.Session{Memo: &session.Memo{}}
	ask := func(p traffic.Process, variation float64) *Response {
		r := loadPlan()
		r.Rate, r.Process, r.Variation, r.Spare = 2, p, variation, 1
		out, err := Run(t.Context(), memo, r)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	random := ask(traffic.Poisson, 0)
	for _, other := range []*Response{ask(traffic.Gamma, 1.5), ask(traffic.Constant, 0)} {
		a, b := &random.Contenders[0], &other.Contenders[0]
		if !reflect.DeepEqual(a.Run, b.Run) {
			t.Fatalf("%v arrivals have another deployment", other.Request.Process)
		}
		if reflect.DeepEqual(random.Timeline, other.Timeline) || reflect.DeepEqual(random.Minute, other.Minute) {
			t.Errorf("%v arrivals have the timeline of random ones", other.Request.Process)
		}
		if a.Found.Energy.PerToken == b.Found.Energy.PerToken {
			t.Errorf("%v arrivals have the energy of random ones", other.Request.Process)
		}
	}
}

// TestArrivalCommand: the command that simulates a plan has the variation of all requests, which reach replicas in turn with that of the
// plan, and is left out where that is more than a simulation takes.
func TestArrivalCommand(t *testing.T) {
	r := loadPlan()
	r.Process, r.Variation = traffic.Gamma, 3
	p := &Response{Request: r, Command: "plimsoll plan", Contenders: []Contender{{Load: new(0.5)}}}
	c := &p.Contenders[0]
	for copies, want := range map[int]string{2: " --arrival-variation 3 ", 4: " --arrival-variation 5.196 ", 3000: ""} {
		c.Found.Copies, c.Spare = copies, 1
		line := ""
		for _, n := range nextOf(p) {
			if strings.HasPrefix(n.Command, "plimsoll simulate") {
				line = n.Command
			}
		}
		if want == "" && line != "" || !strings.Contains(line, want) {
			t.Errorf("%d replicas, one spare: %q, want %q", copies, line, want)
		}
	}
}

// TestArrivalNote: the note names sessions where a plan is for sessions.
func TestArrivalNote(t *testing.T) {
	gamma, constant := Request{Process: traffic.Gamma, Variation: 2}, Request{Process: traffic.Constant}
	for _, x := range []struct {
		r        *Request
		sessions bool
		want     string
	}{
		{&gamma, false, "requests arrive at each replica at gamma-distributed intervals with a coefficient of variation of 2"},
		{&gamma, true, "sessions arrive at gamma-distributed intervals with a coefficient of variation of 2"},
		{&constant, false, "requests arrive at each replica evenly spaced"},
		{&constant, true, "sessions arrive evenly spaced"},
	} {
		if got := x.r.arrivalNote(x.sessions); len(got) != 1 || got[0] != x.want {
			t.Errorf("%v, want %q", got, x.want)
		}
	}
}

// TestUnsure: limits that are met, but not as surely as asked, are missed ones: more GPUs do not help.
func TestUnsure(t *testing.T) {
	r := loadPlan()
	r.Rate, r.Limits.TPOT, r.Confidence = 5, 6.5*units.Millisecond, 0.95
	got, err := Run(t.Context(), &session.Session{}, r)
	if err != nil {
		t.Fatal(err)
	}
	if best := &got.Contenders[0]; best.Meets || best.Judged.TPOT.Zero().Value > 6.5 || !strings.Contains(got.Answer.Reason, "It meets ") {
		t.Errorf("TPOT %v: %s %s", best.Judged.TPOT, got.Answer.Sentence, got.Answer.Reason)
	}
}

// TestTooMuch: a load that no number of GPUs carries is not called a missed limit.
func TestTooMuch(t *testing.T) {
	r := loadPlan()
	r.Rate, r.Systems = 1e6, []string{"h200_sxm"}
	got, err := Run(t.Context(), &session.Session{}, r)
	if err != nil {
		t.Fatal(err)
	}
	if want := r.Model + " at 1,000,000 requests per second needs more than 32,768 × h200_sxm, the maximum of a plan."; got.Answer.Sentence != want || got.Answer.Reason != "" {
		t.Errorf("%s %s", got.Answer.Sentence, got.Answer.Reason)
	}
}
