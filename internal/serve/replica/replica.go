package replica

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/memory"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
)

// Replica is one copy of a deployment. It is immutable and safe for concurrent
// use.
type Replica struct {
	spec     graph.Spec
	engine   *engine.Profile
	pace     Pace
	curve    *step.Curve
	device   *device.Profile
	send     units.Seconds // of a batch to the next stage, and for each token
	perToken units.Seconds
	query    float64 // tokens of a decode query
	accepted float64 // tokens a decode step yields on average

	// KVTokens is the cache of one data-parallel rank.
	KVTokens int
	// Memory is how the engine divides that of one device.
	Memory engine.Budget
	// BytesPerToken is the cache of one token on a device of the fullest stage.
	BytesPerToken units.Bytes
}

// ErrNoCache says that weights leave no room for a cache.
var ErrNoCache = errors.New("the weights leave no room for a KV cache")

// along is a replica of a pool whose steps a curve prices.
func along(p *deployment.Served, curve *step.Curve) (*Replica, error) {
	s, d, e := p.Spec, p.Device, p.Engine
	r := &Replica{
		spec: s, engine: e, pace: NewPace(&s, d, e), curve: curve, device: d,
		query: float64(1 + s.MTP), accepted: p.AcceptedPerStep,
	}
	m := memory.New(&s)
	r.BytesPerToken = m.BytesPerToken(0)
	r.send, r.perToken = curve.Sends()
	r.Memory = budget(m, curve, d, e)
	r.KVTokens = r.Memory.Tokens
	if r.KVTokens < e.BlockTokens {
		return nil, &NoCacheError{r.Memory, fmt.Errorf("%w: %s of weights, %s of activations and %s of workspace on %s of %s; memory_share is %g (of %s)",
			ErrNoCache, r.Memory.Weights, r.Memory.Activation, r.Memory.Workspace, r.Memory.Memory, d.Name, e.MemoryShare, e.MemoryShareOf)}
	}
	return r, nil
}

// NoCacheError is [ErrNoCache] with the memory of a device.
type NoCacheError struct {
	Memory engine.Budget
	err    error
}

// Error implements error.
func (e *NoCacheError) Error() string { return e.err.Error() }

// Unwrap is [ErrNoCache] in words.
func (e *NoCacheError) Unwrap() error { return e.err }

// Over is how many times the memory of a device would be needed before any cache.
func (e *NoCacheError) Over() float64 {
	return float64((e.Memory.Weights + e.Memory.Activation + e.Memory.Workspace) / e.Memory.Memory)
}

// budget is how the engine divides the memory of one device.
func budget(m *memory.Model, c *step.Curve, d *device.Profile, e *engine.Profile) engine.Budget {
	s := c.Graph().Spec()
	return e.Budget(engine.Needs{
		Memory: d.Usable(), Weights: m.Weights(), Activation: m.Trial(rankTokens(s, e), e.MaxSequences, e.LogitsCopies),
		PerToken: m.BytesPerToken(e.WindowShare), State: m.State(), Drafts: s.MTP,
		Kernels: c.Kernels(), IndexKey: m.IndexKey(), Context: s.Model.MaxPosition,
	})
}

// rankTokens is the token budget of one data-parallel rank.
func rankTokens(s *graph.Spec, e *engine.Profile) int {
	if s.Model.HasExperts() && e.AttentionDP.SplitsBudget {
		return max(1, e.TokenBudget/max(1, s.Layout.DP))
	}
	return e.TokenBudget
}

// Scaled is the replica with its prices and host times multiplied.
func (r *Replica) Scaled(m Multipliers) *Replica {
	out := *r
	out.pace, out.curve = r.pace.Scaled(m), r.curve.Fork()
	return &out
}

// Pool is n copies of the replica for a simulation, each with all of its
// data-parallel ranks. They step together where they share experts; those of a
// dense model are copies of their own.
func (r *Replica) Pool(n int) sim.Pool {
	e := r.engine
	ranks, tokens := inStep(&r.spec), rankTokens(&r.spec, e)
	if ranks == 1 {
		n *= max(1, r.spec.Layout.DP)
	}
	all, batch := r.sequences()
	return sim.Pool{Replicas: n, Stepper: r.stepper(ranks), Engine: server.Engine{
		Policy: policy(e.Policy), Stages: r.pace.stages,
		TokenBudget: tokens * ranks, MaxSequences: all * ranks, BatchSequences: batch * ranks,
		Blocks: r.KVTokens / e.BlockTokens * ranks, BlockTokens: e.BlockTokens,
		PrefixCache: e.PrefixCaching, Chunked: e.ChunkedPrefill, Reserve: e.Reserve, PrefillAhead: e.PrefillAhead, ReceiveInterval: e.ReceiveInterval, Overlapped: r.pace.host.Overlapped, LaunchAhead: r.pace.ahead, CachedReadRatio: r.again(), Held: e.HeldTokens,
		BatchWaitSteps: e.BatchWait.Steps, BatchWaitRatio: e.BatchWait.Ratio, RankWaitSteps: e.AttentionDP.WaitSteps, Ranks: ranks,
		RankFill: e.AttentionDP.Fill, RankStallSteps: e.AttentionDP.StallSteps,
		VerifiedPerStep: 1 + r.spec.MTP, AcceptedPerStep: r.accepted,
		APIFixed: r.pace.host.APIFixed, APIPerToken: r.pace.host.APIPerToken, APIPerOutput: r.pace.host.APIPerOutput, First: r.pace.host.First,
	}}
}

// again is the share of its time that reading a cached token again takes, where that was measured: in attention with keys and values,
// by requests on the same device.
func (r *Replica) again() float64 {
	latent := slices.ContainsFunc(r.spec.Model.Kinds, func(k model.Layer) bool { return k.Attention.Kind == model.MLA })
	if latent || inStep(&r.spec) > 1 {
		return 1
	}
	return r.device.Again
}

// tier is the host cache of a replica as simulated. Each device loads its own part of a cache; ranks that step together
// load at the same time.
func (r *Replica) tier(h *deployment.HostCache) server.Tier {
	l := &r.spec.Layout
	ranks, bytes := inStep(&r.spec), h.GiB*float64(units.GiB)
	if ranks == 1 { // each rank is a replica of its own
		bytes /= float64(max(1, l.DP))
	}
	token := float64(r.Memory.PerToken) * float64(max(1, l.Devices/max(1, l.DP)))
	if bytes == 0 || token == 0 { // none, or nothing to keep: no layer has attention
		return server.Tier{}
	}
	return server.Tier{
		Blocks:        int(math.Min(bytes/token/float64(r.engine.BlockTokens), math.MaxInt32)),
		BytesPerToken: units.Bytes(r.Memory.PerToken), Bandwidth: units.BytesPerSecond(h.Speed()*1e9) * units.BytesPerSecond(ranks),
	}
}

// sequences are the most of a data-parallel rank, and of one of its batches; 0 is as many. vLLM
// counts those of all batches of a pipeline, SGLang cuts them among the batches
// (managers/scheduler.py, pp_max_micro_batch_size), and TensorRT-LLM has as many in each
// (pyexecutor/model_engine.py, get_max_num_sequences).
func (r *Replica) sequences() (all, batch int) {
	n, stages := r.MaxSequences(), r.pace.stages
	switch {
	case stages == 1 || r.engine.Policy == engine.DecodeFirst:
		return n, 0
	case r.engine.Policy == engine.InFlight:
		return n * stages, n
	}
	return n, max(1, n/stages)
}

// MaxSequences are the most of a data-parallel rank: the engine's limit, or as many as have room for their recurrent states.
func (r *Replica) MaxSequences() int {
	n := r.engine.MaxSequences
	if held := r.Memory.Sequences; held > 0 {
		n = min(n, held)
	}
	return n
}

// inStep is how many data-parallel ranks step together: those that share experts.
func inStep(s *graph.Spec) int {
	if !s.Model.HasExperts() {
		return 1
	}
	return max(1, s.Layout.DP)
}

// Link carries caches from a prefill replica to this one. Every device takes in what it will
// hold, heads and latent entries that others hold too included, and all stages at the same time;
// the devices of the prefill rank send that together (vLLM, distributed/kv_transfer,
// NixlConnector; SGLang, disaggregation; TensorRT-LLM's cache transceiver). It goes over the
// outermost links, since the two may stand in different nodes, and takes as long as on the side
// where a device has more to carry for its bandwidth.
func (r *Replica) Link(from *Replica) server.Link {
	ranks := func(r *Replica) float64 { return float64(r.spec.Layout.TP * r.pace.stages) }
	in, out := r.outermost(), from.outermost()
	in.BytesPerToken = r.BytesPerToken
	out.BytesPerToken = r.BytesPerToken * units.Bytes(ranks(r)/ranks(from))
	link := in
	if out.Carries(1) > in.Carries(1) {
		link = out
	}
	link.Latency, link.Parallel = max(in.Latency, out.Latency), inStep(&from.spec)
	return link
}

// outermost is the outermost link of one of the replica's devices.
func (r *Replica) outermost() server.Link {
	outer := &r.device.Links[0]
	return server.Link{Latency: outer.Latency, Bandwidth: outer.Bandwidth * units.BytesPerSecond(outer.Efficiency)}
}

// policy is the scheduler of an engine as the simulation names it.
func policy(p engine.Policy) server.Policy {
	switch p {
	case engine.PrefillFirst:
		return server.PrefillFirst
	case engine.InFlight:
		return server.InFlight
	case engine.DecodeFirst:
	}
	return server.DecodeFirst
}

// Step implements [server.Stepper].
func (r *Replica) Step(b server.Batch) units.Seconds {
	s := r.sums(&b)
	t := r.curve.Times(&s)
	took, _ := r.pace.Step(&t, b.Decode, b.PrefillRequests, b.PrefillTokens)
	return took
}

// Launch implements [server.Launcher].
func (r *Replica) Launch(b server.Batch) (units.Seconds, server.Launch) {
	s := r.sums(&b)
	t := r.curve.Times(&s)
	return r.pace.Launch(&t, b.Decode, b.PrefillRequests, b.PrefillTokens)
}

// Through implements [server.Pipeline].
func (r *Replica) Through(b server.Batch) (took, stage units.Seconds) {
	s := r.sums(&b)
	t := r.curve.Times(&s)
	send := r.send + r.perToken*units.Seconds(s.Prefill.Tokens+s.Decode.Tokens)
	return r.pace.Through(&t, send, b.Decode, b.PrefillRequests, b.PrefillTokens)
}

// sums is a batch as attention sees it. The context of a step is what is cached
// after it.
func (r *Replica) sums(b *server.Batch) graph.Sums {
	s := graph.Sums{Prefill: op.Span{
		Requests: float64(b.PrefillRequests), Tokens: float64(b.PrefillTokens),
		Pairs: b.PrefillPairs, Context: float64(b.PrefillContext + b.PrefillTokens),
	}}
	if b.Decode > 0 {
		n := float64(b.Decode)
		s.Decode = op.Equal(n, r.query, b.DecodeContext/n+r.query)
	}
	return s
}

// Decode implements [server.Stepper]. Time is linear in the context but for the
// hidden host work, so the steps of a run take as long as that many at the mean
// context: up to 2 % longer than they do where contexts outgrow a window on the
// way.
func (r *Replica) Decode(n int, context, growth float64, steps int) units.Seconds {
	mean := meanContext(context, growth, steps)
	return units.Seconds(steps) * r.Step(server.Batch{Decode: n, DecodeContext: mean, Sampled: n})
}

// meanContext is that of consecutive steps.
func meanContext(context, growth float64, steps int) float64 {
	return context + growth*max(0, float64(steps-1))/2
}

// Holds is how many sequences of so many tokens the cache of a data-parallel rank
// holds at once, in whole blocks.
func (r *Replica) Holds(tokens int) int {
	block := r.engine.BlockTokens
	return r.KVTokens / block / max(1, (tokens+block-1)/block)
}
