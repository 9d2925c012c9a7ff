package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Why is what is behind the figures of the first contender.
type Why struct {
	Figures []Reason `json:"figures"`
	// Measured are the measured deployments that intervals come from, from all of their kind to the most similar, and How is how they were
	// predicted; Models are the models measured with this engine on this system.
	Measured []calibration.Neighbours `json:"measured"`
	How      string                   `json:"measured_how"`
	Models   []string                 `json:"measured_models"`
}

// Reason is what is behind one figure.
type Reason struct {
	Figure   FigureOf `json:"figure"`
	Value    float64  `json:"value"`
	Unit     string   `json:"unit"`
	Sentence string   `json:"sentence"`
	// Parts add up to the figure, for throughput to the time of a request; a negative part reduces it.
	Parts     []Portion `json:"parts"`
	PartsUnit string    `json:"parts_unit"`
	// Phase is the step that the figure comes from, prefill or decode, whose operators are in Pools; Bounds are what the step waits for.
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
)

// Portion is a part of a figure.
type Portion struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// explain adds what is behind the figures of the first contender, whose run is given.
func (r *Response) explain(run *simulate.Response, o *calibration.Overlay) {
	c := &r.Contenders[0]
	out := &Why{Models: append([]string{}, o.Models(c.Engine, c.System)...)}
	out.Measured, out.How = o.Neighbours(run.About)
	out.Figures = append(out.Figures, r.whyFirst(c))
	if c.TPOT != nil {
		out.Figures = append(out.Figures, r.whyEach(c))
	}
	out.Figures = append(out.Figures, r.whyThroughput(c), r.whyMemory(c))
	r.Why = out
}

// StepOf is the step of a phase, nil if there is none.
func (r *Response) StepOf(phase string) *estimate.Step {
	for i := range r.Pools {
		for k := range r.Pools[i].Steps {
			if s := &r.Pools[i].Steps[k]; s.Phase == phase {
				return s
			}
		}
	}
	return nil
}

// timed is a time that comes from so many steps of a phase; the rest of it has a name by its sign.
func (r *Response) timed(of FigureOf, phase string, judged, mean Range, steps float64, above, below string) Reason {
	c := &r.Contenders[0]
	out := Reason{Figure: of, Value: judged.Value, Unit: "ms", PartsUnit: "ms", Error: errorInWords(judged, "ms", c.Basis), Parts: []Portion{}}
	rest := mean.Value
	s := r.StepOf(phase)
	if s != nil && s.Engine != nil {
		out.Phase, out.Bounds = phase, &s.Bounds
		name := fmt.Sprintf("a %s step", phase)
		if steps > 1 {
			name = fmt.Sprintf("%.0f %s steps", steps, phase)
		}
		kernels, host := 1e3*steps*float64(s.Engine.Kernels), 1e3*steps*float64(s.Engine.Host)
		out.Parts = append(out.Parts, Portion{"kernels of " + name, kernels}, Portion{"host work of " + name, host})
		rest -= kernels + host
		if of == OfTPOT && r.Drafting != nil {
			tokens := deployment.AcceptedPerStep(r.Drafting.Tokens, r.Drafting.Kept)
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
func (r *Response) whyFirst(c *Contender) Reason {
	steps := 1.0
	if s := r.StepOf("prefill"); s != nil && s.Query > 0 {
		e := &c.Found.Experiment
		steps = max(1, math.Ceil(float64(e.Input-e.Prefix)/float64(s.Query)))
	}
	return r.timed(OfTTFT, "prefill", c.Judged.TTFT, c.TTFT, steps,
		"waiting for other requests, and larger steps", "smaller steps: shorter prompts, or cached parts")
}

// whyEach is what is behind TPOT.
func (r *Response) whyEach(c *Contender) Reason {
	above, below := "prompts of other requests in the same steps", "steps with fewer requests or shorter contexts"
	if len(c.Run.Pools) > 1 {
		above = "steps with more requests or longer contexts"
	}
	return r.timed(OfTPOT, "decode", *c.Judged.TPOT, *c.TPOT, 1, above, below)
}

// whyThroughput is what is behind throughput: the requests in flight and the time of each.
func (r *Response) whyThroughput(c *Contender) Reason {
	out := Reason{
		Figure: OfThroughput, Value: c.TokensPerGPU.Value, Unit: "tokens/s per GPU", PartsUnit: "ms of a request", Error: errorInWords(c.TokensPerGPU, "tokens/s per GPU", c.Basis),
		Parts: []Portion{{"to the first token", c.TTFT.Value}, {"for the tokens after it", max(0, c.Latency-c.TTFT.Value)}},
	}
	on := fmt.Sprintf("%s tokens/s on %s", units.Figure(c.Tokens.Value), units.Counted(c.GPUsGiven, "GPU"))
	tokens := units.Figure(c.Tokens.Value / c.RequestRate.Value)
	out.Sentence = fmt.Sprintf("%s in flight, each of which takes %s ms for %s tokens, are %s.", units.Counted(c.Concurrency, "request"), units.Figure(c.Latency), tokens, on)
	if m := c.Capacity; m != nil {
		out.Sentence = fmt.Sprintf("The load is given: %s requests/s of %s tokens are %s.", units.Figure(c.RequestRate.Value), tokens, on)
		out.Error = "The load is given. The capacity is predicted: " + errorInWords(m.RequestRate, "requests/s", c.Basis)
	}
	if limits := limitedBy(c.BoundBy); limits != "" {
		out.Sentence += " " + limits
	}
	if s := r.StepOf("decode"); s != nil {
		out.Phase, out.Bounds = s.Phase, &s.Bounds
	}
	return out
}

// whyMemory is what is behind the memory in use on a GPU that generates.
func (r *Response) whyMemory(c *Contender) Reason {
	m := &c.Memory
	out := Reason{
		Figure: OfMemory, Value: m.InUse(c.KVPeak).GiB(), Unit: "GiB in use at the peak", PartsUnit: "GiB",
		Parts: []Portion{{"weights", m.Weights.GiB()}, {"activations", m.Activation.GiB()}, {"KV cache in use at the peak", c.KVPeak * m.KV.GiB()}},
		Error: "It follows from the shapes of the model and the settings of the engine. It is not fitted and has no interval.",
	}
	out.Sentence = fmt.Sprintf("The engine may use %.0f %% (%s) of %s GiB. What weights, activations and %s GiB of workspace leave is the KV cache: %s GiB, %s tokens of %s KiB, of which %.0f %% are in use at the peak.",
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
func errorInWords(r Range, unit, basis string) string {
	if r.Low == r.High || r.Value == 0 {
		return "It has no interval."
	}
	return fmt.Sprintf("80 %% interval: %s to %s %s (%+.0f %% to %+.0f %%), based on %s.", units.Figure(r.Low), units.Figure(r.High), unit, 100*(r.Low/r.Value-1), 100*(r.High/r.Value-1), basis)
}
