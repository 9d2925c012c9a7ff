package deployment

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// Parts are what the names of a deployment stand for.
type Parts struct {
	Model  *model.Model
	Device *device.Profile
	Engine *engine.Profile // nil where the deployment has none
	// Systems are the profiles of pools with a system of their own, by that name.
	Systems map[string]*device.Profile
}

// Resolved is a deployment whose parts are found, defaults filled in and layouts
// checked.
type Resolved struct {
	Model   *model.Model
	Device  *device.Profile
	Pricing prices.Pricing
	Pools   []Served // one, or prefill and decode in this order
	Routing string
	Host    HostCache
	Notes   []string // on requested settings that are modelled differently
	// Assumed are settings from a preset.
	Assumed []Assumption
}

// Served is a pool ready to be priced.
type Served struct {
	Role     Role
	Replicas int
	Device   *device.Profile
	Engine   *engine.Profile // with its settings, on the device; nil without one
	Release  string          // of the engine, if older than the newest that is known
	Spec     graph.Spec
	// Pricing is the cost model of operators that no kernel table covers.
	Pricing prices.Pricing
	// AcceptedPerStep is the tokens a decode step yields on average.
	AcceptedPerStep float64
}

// Disaggregated reports whether prefill and decode have pools of their own.
func (r *Resolved) Disaggregated() bool { return len(r.Pools) > 1 }

// Generates is the pool that generates tokens.
func (r *Resolved) Generates() *Served { return &r.Pools[len(r.Pools)-1] }

// Resolve fills in defaults and checks every pool. It reports all mistakes.
func (d *Deployment) Resolve(p Parts) (*Resolved, error) {
	base, err := d.Base(p)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(d.checkRoles(), d.Host.Check()); err != nil {
		return nil, err
	}
	out := &Resolved{Model: p.Model, Device: p.Device, Pricing: base.Pricing, Routing: d.Routing, Host: d.Host, Notes: base.Notes}
	if d, err = d.preset(base, out); err != nil {
		return nil, err
	}
	var errs []error
	for i := range d.Pools {
		own, err := d.own(base, &d.Pools[i])
		if err != nil {
			errs = append(errs, err)
			continue
		}
		served, err := own.pool(&d.Pools[i], d.Engine.Settings)
		if err != nil && d.Pools[i].Role == Prefill {
			err = fmt.Errorf("prefill replicas: %w", err)
		}
		errs = append(errs, err)
		out.Pools = append(out.Pools, served)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

// own is the base of a pool: the deployment's, unless it has a system or formats of
// its own.
func (d *Deployment) own(base *Base, p *Pool) (*Base, error) {
	if p.System == "" && p.Formats == (Formats{}) {
		return base, nil
	}
	asked, parts := *d, base.Parts
	asked.Formats = d.formats(p)
	if p.System != "" {
		other, ok := parts.Systems[p.System]
		if !ok {
			return nil, field.Errorf("%s %q has no profile", field.Name("system"), p.System)
		}
		parts.Device = other
	}
	return asked.Base(parts)
}

// formats are those of a pool, its own or the deployment's.
func (d *Deployment) formats(p *Pool) Formats {
	if p.Formats != (Formats{}) {
		return p.Formats
	}
	return d.Formats
}

// checkRoles reports pools that do not make a deployment together.
func (d *Deployment) checkRoles() error {
	roles := make([]Role, len(d.Pools))
	for i := range d.Pools {
		roles[i] = d.Pools[i].Role
	}
	switch {
	case slices.Equal(roles, []Role{Both}), slices.Equal(roles, []Role{Prefill, Decode}):
		return nil
	}
	return field.Errorf("%s: want one pool with role both, or one with role prefill followed by one with role decode, got %v", field.Name("pools"), roles)
}

// Base is what all layouts of a deployment have in common.
type Base struct {
	Parts

	// Pricing is the cost model of operators that no kernel table covers.
	Pricing prices.Pricing
	Notes   []string // on requested settings that are modelled differently
	release string   // of the engine, "" if it is not older than the newest known
	spec    graph.Spec
}

// older is a release before the newest that is known, "" for that one, which is what
// deployments without a version have. Candidates of a release count as it.
func older(e *engine.Profile, release string) string {
	if e == nil || e.Known != "" && version.Check(release) == nil && version.Compare(version.Release(release), version.Release(e.Known)) >= 0 {
		return ""
	}
	return release
}

// Base resolves everything but the pools.
func (d *Deployment) Base(p Parts) (*Base, error) {
	m := &d.Modelling
	policy, err := PolicyFor(m.Policy, p.Device)
	if err != nil {
		return nil, err
	}
	quant, err := d.Formats.resolve(&p, policy)
	if err != nil {
		return nil, err
	}
	pricing, err := m.pricing(p.Device, policy)
	if err != nil {
		return nil, err
	}
	notes := d.Formats.widened(p.Device, &policy)
	if p.Engine != nil {
		if why := p.Engine.Refuses(p.Model, p.Device); why != "" {
			return nil, &RefusedError{why}
		}
		notes = append(notes, p.remarks(d.Engine.Version)...)
	}
	out := &Base{Parts: p, Pricing: pricing, Notes: notes, release: older(p.Engine, d.Engine.Version), spec: graph.Spec{
		Model: p.Model, Policy: policy, Quant: quant, Compile: m.compiles(&p, policy, pricing),
		EmbeddingTP: m.EmbeddingTP, SharedExpertTP: m.SharedExpertTP, SequenceParallel: m.SequenceParallel,
		MatMulAllReduce: m.MatMulAllReduce, DispatchCombine: m.DispatchCombine, Draft: m.Draft,
		Vision: policy.LoadsVision(p.Model, m.Images),
	}}
	p.kernels(&out.spec)
	return out, nil
}

// RefusedError is a model that an engine does not run on a device.
type RefusedError struct{ Why string }

// Error is the reason.
func (e *RefusedError) Error() string { return e.Why }

// remarks are on what a release of the engine does on the device.
func (p *Parts) remarks(release string) []string {
	var out []string
	for _, text := range []string{p.Engine.Newer(release), engine.Aged(p.Engine.Server(), release, p.Device)} {
		if text != "" {
			out = append(out, text)
		}
	}
	if engine.HalfOnly(p.Device) && p.Model.DType == dtype.BF16 {
		out = append(out, p.Device.Name+" has no arithmetic in bf16: the model is computed in fp16")
	}
	return out
}

// kernels says how the engine's kernels work on the device.
func (p *Parts) kernels(s *graph.Spec) {
	e, on, family := p.Engine, p.Device.Generation, p.Model.Family
	if e == nil {
		return
	}
	s.SharesAttention, s.UnsplitHeads, s.WidensExperts = e.SharesAttention(on), e.UnsplitHeads(on), e.WidensExperts(on, family)
	s.FusesShared = slices.ContainsFunc(p.Model.Kinds, func(k model.Layer) bool {
		return k.FFN.Kind == model.MoE && e.FusesShared(on, k.FFN.Experts)
	})
	sparse := e.SparseKernels(on)
	s.Sparse = graph.Sparse{Heads: sparse.Heads, Decode: sparse.Decode, Whole: sparse.Whole, Dense: sparse.Dense}
	reduce := e.Reduces(on, family)
	for i, n := range []engine.NarrowReduce{reduce.Two, reduce.Four, reduce.Eight} {
		s.ReducedAllReduce[i].Share, s.ReducedAllReduce[i].Least = n.Share, float64(n.Least)
	}
}

// Spec is what one layout computes with a number of draft tokens. The layout is
// completed; whether it is legal is the graph's to say.
func (b *Base) Spec(l parallel.Layout, mtp int) graph.Spec {
	s := b.spec
	s.Layout, s.MTP = l.Complete(b.Model), mtp
	return s
}

// CheckDevices reports more devices than the profile's links connect.
func CheckDevices(d *device.Profile, name field.Name, devices int) error {
	if n := d.Ranks(); devices > n {
		return field.Errorf("%s %d is more than the %d that %s can connect", name, devices, n, d.Name)
	}
	return nil
}

// pool resolves a pool.
func (b *Base) pool(p *Pool, settings []string) (Served, error) {
	out := Served{Role: p.Role, Replicas: max(1, p.Replicas), Device: b.Device, Pricing: b.Pricing, Spec: b.Spec(p.Layout, p.MTP), Release: b.release}
	l := &out.Spec.Layout
	if err := errors.Join(CheckDevices(b.Device, "num_devices", l.Devices), l.Check(b.Model)); err != nil {
		return out, err
	}
	if b.Engine != nil {
		e, err := b.Engine.With(slices.Concat(settings, p.Settings)...)
		if err != nil {
			return out, err
		}
		out.Spec.MTP = cmp.Or(p.MTP, e.MTP.Tokens)
		out.Engine = e.On(b.Device, b.use(p, l, out.Spec.MTP))
		if n := out.Engine.MTP.Sequences; n > 0 && out.Spec.MTP > 0 {
			out.Engine.MaxSequences = min(out.Engine.MaxSequences, max(1, n/max(1, l.DP)))
		}
		if f := out.Engine.KVFormat; f != dtype.None {
			out.Spec.Quant.KV = f
		}
		out.Spec.Quant.State = out.Engine.StateFormat
		out.Spec.EvenExperts = out.Engine.EvenExperts
		if out.Engine.Graph.Padded {
			out.Spec.Replayed = out.Engine.Graph.MaxBatch
		}
	}
	by := cmp.Or(p.Drafter, draft.MTP)
	if out.Spec.MTP > 0 && by != draft.MTP {
		out.Spec.Drafter.Method = by
		if h := draft.HeadOf(b.Model); h != nil && by == draft.EAGLE3 {
			out.Spec.Drafter.Head = h.Model()
		}
	}
	rates := p.AcceptanceRates
	if rates == nil {
		rates = Acceptance(b.Model, b.Device, by, out.Spec.MTP)
	}
	out.AcceptedPerStep = AcceptedPerStep(out.Spec.MTP, rates)
	return out, b.checkDrafts(p, out.Spec.MTP)
}

// use is what the engine of a pool serves.
func (b *Base) use(p *Pool, l *parallel.Layout, drafts int) engine.Use {
	u := engine.Serving(b.Model, l.Devices, l.DP, drafts)
	switch p.Role {
	case Prefill:
		u.Side = engine.Prompts
	case Decode:
		u.Side = engine.Decodes
	case Both:
	}
	return u
}

// MaxMTP is the most draft tokens the Ascend command line accepts.
const MaxMTP = 9

// checkDrafts reports a wrong number of draft tokens, from the pool or from a setting of its
// engine.
func (b *Base) checkDrafts(p *Pool, n int) error {
	from := any(field.Name("num_mtp_tokens"))
	if p.MTP == 0 {
		from = "engine setting mtp.tokens"
	}
	if err := field.OneOf("drafter", cmp.Or(p.Drafter, draft.MTP), draft.Methods()...); err != nil {
		return err
	}
	switch rates := len(p.AcceptanceRates); {
	case n < 0 || n > MaxMTP:
		return field.Errorf("%s must be between 0 and %d, got %d", from, MaxMTP, n)
	case n == 0 || b.Engine == nil:
		return nil
	case p.Drafter == draft.EAGLE3 && draft.HeadOf(b.Model) == nil:
		return field.Errorf("%s %s: no EAGLE-3 head of %s is known", field.Name("drafter"), string(p.Drafter), b.Model.Name())
	case p.Drafter != "" && p.Drafter != draft.MTP:
	case b.Model.MTP.Layers == 0:
		return field.Errorf("%s must be 0, got %d: %s has no MTP modules", from, n, b.Model.Name())
	case n > rates && p.AcceptanceRates != nil:
		return field.Errorf("%s %d needs as many %s, got %d", from, n, field.Name("mtp_acceptance_rates"), rates)
	}
	return nil
}

// AcceptedPerStep is the mean number of tokens of a decode step with n draft tokens, given
// the acceptance rate of each position.
func AcceptedPerStep(n int, rates []float64) float64 {
	f := 1.0
	for _, r := range rates[:min(n, len(rates))] {
		f += r
	}
	return f
}

// PolicyFor finds a policy by name; the default is TensorCast's on Ascend devices.
func PolicyFor(name string, d *device.Profile) (graph.Policy, error) {
	switch name {
	case "":
		if d.FollowsAscend() {
			return tensorcast.Policy(), nil
		}
		return graph.Physical(), nil
	case tensorcast.Name:
		return tensorcast.Policy(), nil
	case graph.Physical().Name:
		return graph.Physical(), nil
	}
	return graph.Policy{}, field.OneOf("policy", name, tensorcast.Name, graph.Physical().Name)
}

// pricing is the requested cost model, or the policy's default.
func (m *Modelling) pricing(d *device.Profile, p graph.Policy) (prices.Pricing, error) {
	switch {
	case m.Pricing != "":
		return m.Pricing, m.Pricing.Check(d)
	case tensorcast.Is(&p):
		return prices.Roofline, nil
	}
	return prices.Best(d), nil
}

// compiles reports whether steps are fused: as requested, or as engines do. Fitted prices
// are of their kernels, and no engine runs norms and activations operator by operator.
// Ascend's own tool, whose policy and prices can be requested elsewhere too, is eager by
// default.
func (m *Modelling) compiles(p *Parts, policy graph.Policy, pricing prices.Pricing) bool {
	switch m.Fusion {
	case Compiled:
		return true
	case Eager:
		return false
	case ByDefault:
	}
	asAscend := tensorcast.Is(&policy) || p.Device.FollowsAscend() || m.Pricing == prices.Roofline
	return p.Engine != nil || pricing.Fitted() || !asAscend
}
