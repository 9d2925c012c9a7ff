package lint

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Improvement is a change of settings that raises the throughput within the limits.
type Improvement struct {
	Change   string   `json:"change"`         // with the engine's own flags
	Settings []string `json:"settings"`       // as "key=value"
	Note     string   `json:"note,omitempty"` // its drawbacks
	// Gain is relative to the throughput of the files; 0 if those meet the limits at no
	// concurrency.
	Gain        float64 `json:"gain"`
	Concurrency int     `json:"concurrency"`
	figures.Record
}

// leastGain is the smallest gain that is reported. It is a choice: two predictions of one
// deployment share most of their errors, and the size of the rest was not measured.
const leastGain = 0.03

// variation is a change of settings to try.
type variation struct {
	settings []string
	prefill  bool // also for prefill workers, if any
	only     bool // for prefill workers alone
	note     string
	batch    int // the batch limit, if that is what changes
}

// improve tries changes of one setting each and keeps the best value of each setting that
// gains enough.
func (x *inspection) improve(ctx context.Context) error {
	if x.out.Prediction == nil || x.r.AsIs {
		return nil
	}
	base, err := x.best(ctx, &x.d)
	if err != nil {
		return err
	}
	was := 0.0
	if base != nil {
		was = base.Result.OutputRate
	}
	byKey := map[string]Improvement{}
	for _, c := range x.changes() {
		c, s, err := x.try(ctx, c)
		if err != nil {
			return err
		}
		if s == nil || s.Result.OutputRate < was*(1+leastGain) {
			continue
		}
		key, _, _ := strings.Cut(c.settings[0], "=")
		if old, ok := byKey[key]; ok && old.Tokens.Value >= s.Result.OutputRate {
			continue
		}
		i := Improvement{
			Change: x.words(&c), Settings: c.settings, Note: c.note, Concurrency: s.Request.Concurrency, Record: s.Record(s.Request.Deployment.Devices()),
		}
		if was > 0 {
			i.Gain = s.Result.OutputRate/was - 1
		}
		byKey[key] = i
	}
	for _, i := range byKey {
		x.out.Better = append(x.out.Better, i)
	}
	slices.SortFunc(x.out.Better, func(a, b Improvement) int {
		return cmp.Or(cmp.Compare(b.Tokens.Value, a.Tokens.Value), cmp.Compare(a.Change, b.Change))
	})
	return nil
}

// try simulates a change. A batch limit beyond what the latency limits allow is lowered to
// that, or the engine would run more.
func (x *inspection) try(ctx context.Context, c variation) (variation, *simulate.Response, error) {
	d := x.changed(&c)
	s, err := x.best(ctx, &d)
	if err != nil || s == nil || c.batch == 0 || x.r.Concurrency > 0 {
		return c, s, err
	}
	if n := parallel.MaxPerRank(s.Request.Concurrency, x.out.Capacity.Ranks); n < c.batch {
		c = x.batch(x.resolved.Generates(), n)
		d = x.changed(&c)
		s, err = x.best(ctx, &d)
	}
	return c, s, err
}

// best is the simulation of a deployment with the highest throughput within the limits: at
// the requested concurrency, or at the highest safe one that meets them. It is nil if there
// is none or the deployment does not run.
func (x *inspection) best(ctx context.Context, d *deployment.Deployment) (*simulate.Response, error) {
	resolved, fleet, err := x.stage.Fleet(d)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // a change that does not run is dropped
	}
	n := capacityOf(resolved, fleet, x.r.Input+x.r.Output).Safe
	if n == 0 {
		return nil, nil //nolint:nilnil // likewise
	}
	if x.r.Concurrency == 0 {
		_, s, err := x.most(ctx, d, n)
		return s, err
	}
	q := x.request(d, x.r.Concurrency)
	s, err := simulate.On(ctx, x.world, x.stage, &q)
	if err != nil || !met(s) {
		return nil, err
	}
	return s, nil
}

// changes lists the changes to try.
func (x *inspection) changes() []variation {
	p := x.resolved.Generates()
	e := p.Engine
	var out []variation
	if usual := x.usual(p).MemoryShare; e.MemoryShare < usual {
		out = append(out, variation{settings: []string{"memory_share=" + strconv.FormatFloat(usual, 'g', 4, 64)}, prefill: true})
	}
	out = append(out, x.batches(p)...)
	first := &x.resolved.Pools[0]
	for _, n := range []int{first.Engine.TokenBudget / 2, first.Engine.TokenBudget * 2, first.Engine.TokenBudget * 4} {
		runs := first.Engine.ChunkedPrefill || n >= x.r.Input
		if runs && n >= 512 && n <= maxBudget && (x.resolved.Disaggregated() || n >= e.MaxSequences*(1+p.Spec.MTP)) {
			out = append(out, variation{settings: []string{fmt.Sprintf("token_budget=%d", n)}, only: true})
		}
	}
	if p.Spec.Quant.KV != dtype.FP8 && p.Device.Matrix[dtype.FP8] > 0 {
		out = append(out, variation{settings: []string{"kv_format=fp8"}, prefill: true, note: "may affect output quality: check it"})
	}
	if !first.Engine.ChunkedPrefill {
		out = append(out, variation{settings: []string{"chunked_prefill=true"}, only: true})
	}
	return append(out, x.captures(p, first)...)
}

// captures are changes that capture more graphs: for batches of the decode worker and for prompts of the first.
func (x *inspection) captures(p, first *deployment.Served) []variation {
	var out []variation
	set := func(n int, only bool) {
		out = append(out, variation{settings: []string{fmt.Sprintf("graph.max_batch=%d", n)}, only: only})
	}
	e := p.Engine
	if usual := x.usual(p).Graph.MaxBatch; e.Graph.MaxBatch < min(usual, e.MaxSequences) {
		set(min(usual, e.MaxSequences), false)
	}
	if g := &first.Engine.Graph; !g.EagerPrefill && g.MaxBatch > 0 && g.MaxBatch < promptGraphs && x.r.Input > g.MaxBatch {
		set(promptGraphs, true)
	}
	return out
}

// usual is the engine of a pool with its default settings.
func (x *inspection) usual(p *deployment.Served) *engine.Profile {
	return x.stage.Engine.On(p.Device, engine.Serving(p.Spec.Model, p.Spec.Layout.Devices, p.Spec.Layout.DP, p.Spec.MTP))
}

// promptGraphs is the limit of captured tokens in published launch scripts that raise it
// for prompts (InferenceX, vLLM with MiniMax-M2.5 and gpt-oss).
const promptGraphs = 2048

// maxBudget is the largest token budget tried: the activations of more leave little memory.
const maxBudget = 32768

// batches are higher batch limits that fit the cache, with graphs for them if the files list the captured batches.
func (x *inspection) batches(p *deployment.Served) []variation {
	limit, held := p.Engine.MaxSequences, x.out.Capacity.Held/x.out.Capacity.Ranks
	// A higher limit uses memory itself, so the cache holds a little less.
	most := x.changed(&variation{settings: []string{fmt.Sprintf("max_sequences=%d", max(1, held))}})
	if d, f, err := x.stage.Fleet(&most); err == nil {
		c := capacityOf(d, f, x.r.Input+x.r.Output)
		held = min(held, c.Held/c.Ranks)
	}
	var out []variation
	for _, n := range []int{2 * limit, 4 * limit, held} {
		if n <= limit || n > held || n*(1+p.Spec.MTP) > p.Engine.TokenBudget {
			continue
		}
		out = append(out, x.batch(p, n))
	}
	return out
}

// batch is a batch limit.
func (x *inspection) batch(p *deployment.Served, n int) variation {
	c := variation{settings: []string{fmt.Sprintf("max_sequences=%d", n)}, batch: n}
	usual := x.usual(p).Graph.MaxBatch
	if g := min(n, usual); x.given(p, "graph.max_batch") && p.Engine.Graph.MaxBatch > 0 && g > p.Engine.Graph.MaxBatch {
		c.settings = append(c.settings, fmt.Sprintf("graph.max_batch=%d", g))
	}
	return c
}

// changed is the deployment with a change.
func (x *inspection) changed(c *variation) deployment.Deployment {
	d := x.d
	d.Pools = slices.Clone(d.Pools)
	for i := range d.Pools {
		generates := i == len(d.Pools)-1
		if c.only && i > 0 || !c.only && !c.prefill && !generates {
			continue
		}
		d.Pools[i].Settings = slices.Concat(d.Pools[i].Settings, c.settings)
	}
	return d
}

// words renders a change with the engine's own flags.
func (x *inspection) words(c *variation) string {
	p := x.resolved.Generates()
	var out []string
	for _, s := range c.settings {
		key, value, _ := strings.Cut(s, "=")
		if key == "graph.max_batch" {
			_, words := x.graphWords(p, value)
			out = append(out, words)
			continue
		}
		out = append(out, launch.Say(p, x.out.Version, key, value))
	}
	return strings.Join(out, ", ")
}
