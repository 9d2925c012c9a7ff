package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Why explains the figures of a contender.
type Why struct {
	Figures []Reason `json:"figures"`
	// Steps are the steps that figures derive from, with their operators; those of the first contender are in the plan's pools.
	Steps []estimate.Step `json:"steps,omitempty"`
	// Measured are the measured deployments that intervals derive from, from all of the kind to the most similar, and How says how they
	// were predicted; Models are the models measured with this engine on this system.
	Measured []calibration.Neighbours `json:"measured"`
	How      string                   `json:"measured_how"`
	Models   []string                 `json:"measured_models"`
	// Nearest are the measured deployments whose corrections apply, nearest first.
	Nearest []calibration.Nearest `json:"measured_nearest"`
}

// Reason explains one figure.
type Reason struct {
	Figure   FigureOf `json:"figure"`
	Value    float64  `json:"value"`
	Unit     string   `json:"unit"`
	Sentence string   `json:"sentence"`
	// Parts add up to the figure, for throughput to the time of a request, for energy to the power of a GPU; parts of a probability are
	// factors. A negative part reduces the figure.
	Parts     []Portion `json:"parts"`
	PartsUnit string    `json:"parts_unit"`
	// Phase is the phase of the step behind the figure, prefill or decode; its operators are in the plan's pools or in Steps. Bounds are what the step waits for.
	Phase  string           `json:"phase,omitempty"`
	Bounds *estimate.Bounds `json:"bounds,omitempty"`
	Error  string           `json:"error"` // in words
}

// FigureOf names a figure that is explained.
type FigureOf string

// The figures.
const (
	OfTTFT       FigureOf = "ttft"
	OfTPOT       FigureOf = "tpot"
	OfThroughput FigureOf = "throughput"
	OfMemory     FigureOf = "memory"
	OfLimits     FigureOf = "within_limits"
	OfCost       FigureOf = "cost"
	OfEnergy     FigureOf = "energy"
)

// Portion is a part of a figure.
type Portion struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// explain adds what is behind the figures of the contenders: without changes of the first alone, as while somebody tries values.
func (p *planning) explain(ctx context.Context, out *Response, o *calibration.Overlay) error {
	out.Why = explaining{&out.Contenders[0], stepsOf(out.Pools), out.Drafting}.why(o)
	if p.r.NoChanges {
		return nil
	}
	others := out.Contenders[1:]
	return pool.All(ctx, len(others), session.DefaultJobs, func(i int) error {
		c := &others[i]
		if c.Concurrency == 0 {
			return nil
		}
		pools, err := p.pools(ctx, &c.Found)
		x := explaining{c: c, steps: stepsOf(pools)}
		if e := &c.Found.Experiment; err == nil && e.MTP > 0 {
			var m *model.Model
			if m, err = p.world.Model(e.Model, ""); err == nil {
				x.drafting = p.ofModel(e, m)
			}
		}
		if err == nil {
			c.Why = x.why(o)
			c.Why.Steps = x.steps
		}
		return err
	})
}

// Reasons are what is behind the figures of a contender, with its steps; nil if that is unknown.
func (r *Response) Reasons(contender int) (*Why, []estimate.Step) {
	if contender == 0 {
		return r.Why, stepsOf(r.Pools)
	}
	if y := r.Contenders[contender].Why; y != nil {
		return y, y.Steps
	}
	return nil, nil
}

// explaining is a contender that is explained.
type explaining struct {
	c        *Contender
	steps    []estimate.Step
	drafting *Drafting // nil without drafts
}

func (x explaining) why(o *calibration.Overlay) *Why {
	c := x.c
	out := &Why{Models: append([]string{}, o.Models(c.Engine, c.System)...), Nearest: o.Memory.Nearest(&c.Found.Run.About.Subject)}
	out.Measured, out.How = o.Neighbours(c.Found.Run.About)
	out.Figures = append(out.Figures, x.whyFirst(c))
	if c.Mean.TPOT != nil {
		out.Figures = append(out.Figures, x.whyEach(c))
	}
	out.Figures = append(out.Figures, x.whyThroughput(c), x.whyMemory(c))
	if c.Judged.Chance != nil {
		out.Figures = append(out.Figures, whyLimits(c))
	}
	if c.Cost != nil {
		out.Figures = append(out.Figures, whyCost(c))
	}
	if c.Energy != nil {
		out.Figures = append(out.Figures, whyEnergy(c))
	}
	return out
}

// stepsOf are the steps of pools.
func stepsOf(pools []estimate.Pool) []estimate.Step {
	var out []estimate.Step
	for i := range pools {
		out = append(out, pools[i].Steps...)
	}
	return out
}

// StepOf is the first step of a phase, nil if there is none.
func StepOf(steps []estimate.Step, phase string) *estimate.Step {
	for i := range steps {
		if steps[i].Phase == phase {
			return &steps[i]
		}
	}
	return nil
}

// timed is a time that comes from so many steps of a phase; the rest of it has a name by its sign.
func (x explaining) timed(of FigureOf, phase string, judged, mean figures.Estimate, steps float64, above, below string) Reason {
	c := x.c
	out := Reason{Figure: of, Value: judged.Value, Unit: "ms", PartsUnit: "ms", Error: errorInWords(judged, "ms", c.Basis), Parts: []Portion{}}
	rest := mean.Value
	s := StepOf(x.steps, phase)
	if s != nil && s.Engine != nil {
		out.Phase, out.Bounds = phase, &s.Bounds
		name := fmt.Sprintf("a %s step", phase)
		if steps > 1 {
			name = fmt.Sprintf("%.0f %s steps", steps, phase)
		}
		kernels, host := 1e3*steps*float64(s.Engine.Kernels), 1e3*steps*float64(s.Engine.Host)
		out.Parts = append(out.Parts, Portion{"kernels of " + name, kernels}, Portion{"host work of " + name, host})
		rest -= kernels + host
		if of == OfTPOT && x.drafting != nil {
			tokens := deployment.AcceptedPerStep(x.drafting.Tokens, x.drafting.Kept)
			saved := (kernels + host) * (1/tokens - 1)
			out.Parts = append(out.Parts, Portion{fmt.Sprintf("accepted drafts: a step yields %s tokens", units.Figure(tokens)), saved})
			rest -= saved
		}
		out.Sentence = fmt.Sprintf("A %s step of %s with %s new and %s cached tokens each takes %s ms: %s.", phase, units.Counted(s.Requests, "request"),
			units.Thousands(s.Query), units.Thousands(s.Cached), units.Figure(1e3*float64(s.Engine.Time)), boundsInWords(&s.Bounds))
	}
	name := above
	if rest < 0 {
		name = below
	}
	out.Parts = append(out.Parts, Portion{name, rest})
	if past := judged.Value - mean.Value; past != 0 {
		out.Parts = append(out.Parts, Portion{c.Judged.Statistic + " relative to the mean", past})
	}
	return out
}

// whyFirst is what is behind TTFT.
func (x explaining) whyFirst(c *Contender) Reason {
	steps := 1.0
	if s := StepOf(x.steps, "prefill"); s != nil && s.Query > 0 {
		e := &c.Found.Experiment
		steps = max(1, math.Ceil(float64(e.Input-e.Prefix)/float64(s.Query)))
	}
	return x.timed(OfTTFT, "prefill", c.Judged.TTFT.Zero(), c.Mean.TTFT.Zero(), steps,
		"queueing and larger steps", "smaller steps (shorter or cached prompts)")
}

// whyEach is what is behind TPOT.
func (x explaining) whyEach(c *Contender) Reason {
	above, below := "prefill of other requests in the same steps", "steps with fewer requests or shorter contexts"
	if len(c.Run.Pools) > 1 {
		above = "steps with more requests or longer contexts"
	}
	return x.timed(OfTPOT, "decode", c.Judged.TPOT.Zero(), c.Mean.TPOT.Zero(), 1, above, below)
}

// whyThroughput is what is behind throughput: the requests in flight and the time of each.
func (x explaining) whyThroughput(c *Contender) Reason {
	out := Reason{
		Figure: OfThroughput, Value: c.TokensPerGPU.Value, Unit: "tokens/s per GPU", PartsUnit: "ms per request", Error: errorInWords(c.TokensPerGPU, "tokens/s per GPU", c.Basis),
		Parts: []Portion{{"until the first token", c.Mean.TTFT.Zero().Value}, {"for the remaining tokens", max(0, c.Mean.Latency.Zero().Value-c.Mean.TTFT.Zero().Value)}},
	}
	on := fmt.Sprintf("%s tokens/s on %s", units.Figure(c.Tokens.Value), units.Counted(c.GPUsGiven, "GPU"))
	tokens := units.Figure(c.Tokens.Value / c.RequestRate.Value)
	out.Sentence = fmt.Sprintf("%s in flight, each taking %s ms for %s tokens, give %s.", units.Counted(c.Concurrency, "request"), units.Figure(c.Mean.Latency.Zero().Value), tokens, on)
	if m := c.Capacity; m != nil {
		out.Sentence = fmt.Sprintf("The load is given: %s requests/s of %s tokens give %s.", units.Figure(c.RequestRate.Value), tokens, on)
		out.Error = "The load is given. The capacity is predicted: " + errorInWords(m.RequestRate, "requests/s", c.Basis)
	}
	if limits := c.limitedBy(); limits != "" {
		out.Sentence += " " + limits
	}
	if s := StepOf(x.steps, "decode"); s != nil {
		out.Phase, out.Bounds = s.Phase, &s.Bounds
	}
	return out
}

// whyMemory is what is behind the memory in use on a GPU that generates.
func (x explaining) whyMemory(c *Contender) Reason {
	m := &c.Memory
	out := Reason{
		Figure: OfMemory, Value: m.InUse(c.KVPeak).GiB(), Unit: "GiB in use at peak", PartsUnit: "GiB",
		Parts: []Portion{{"weights", m.Weights.GiB()}, {"activations", m.Activation.GiB()}, {"KV cache in use at peak", c.KVPeak * m.KV.GiB()}},
		Error: "Computed from the shapes of the model and the settings of the engine. Nothing is fitted, so there is no interval.",
	}
	out.Sentence = fmt.Sprintf("The engine may use %.0f %% (%s) of %s GiB. The KV cache takes what weights, activations and %s GiB of workspace leave: %s GiB, %s tokens of %s KiB, %.0f %% in use at peak.",
		100*m.Share, m.ShareOf, units.Figure(m.Memory.GiB()), units.Figure(m.Workspace.GiB()), units.Figure(m.KV.GiB()), units.Thousands(c.KVTokens), units.Figure(m.PerToken.KiB()), 100*c.KVPeak)
	return out
}

// boundsInWords is "memory 71 %, links 12 %, the host 10 %, compute 7 %", the largest first.
func boundsInWords(b *estimate.Bounds) string {
	all := []Portion{{"memory", b.Memory}, {"compute", b.Compute}, {"links", b.Link}, {"the host", b.Host}}
	slices.SortStableFunc(all, func(x, y Portion) int { return cmp.Compare(y.Value, x.Value) })
	var parts []string
	for _, p := range all {
		if p.Value >= 0.005 {
			parts = append(parts, fmt.Sprintf("%s %.0f %%", p.Name, 100*p.Value))
		}
	}
	return strings.Join(parts, ", ")
}

// errorInWords says how far a figure may be off, and by which measurements.
func errorInWords(r figures.Estimate, unit, basis string) string {
	if r.Low == r.High || r.Value == 0 {
		return "There is no interval."
	}
	return fmt.Sprintf("80 %% interval: %s to %s %s (%+.0f %% to %+.0f %%), based on %s.", units.Figure(r.Low), units.Figure(r.High), unit, 100*(r.Low/r.Value-1), 100*(r.High/r.Value-1), basis)
}
