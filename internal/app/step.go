package app

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/calibrate"
	"plimsoll/internal/cost"
	"plimsoll/internal/cost/table"
	"plimsoll/internal/device"
	"plimsoll/internal/dtype"
	"plimsoll/internal/engine"
	"plimsoll/internal/graph"
	"plimsoll/internal/memory"
	"plimsoll/internal/model"
	"plimsoll/internal/parallel"
	"plimsoll/internal/replica"
	"plimsoll/internal/step"
	"plimsoll/internal/units"
)

// StepRequest asks for one forward pass.
type StepRequest struct {
	Model      string
	Device     string
	DeviceFile string
	PerfData   PerfData
	Modelling
	// Engine, if given, says what the step takes under an engine.
	Engine, EngineVersion string
	Set                   []string // engine settings, key=value

	Layout parallel.Layout // sizes left zero take their defaults

	Queries       int // over all data-parallel ranks
	QueryLength   int // new tokens of each; 0 in a decode = 1 + MTP
	ContextLength int // tokens cached before the step
	Decode        bool
	MTP           int
	// PrefixHitRate moves that share of a prefill's query into the context.
	PrefixHitRate float64

	LinearAction    dtype.Action // "" = the device's default
	NonExpertAction dtype.Action
	AttentionAction dtype.Action
	MXFP4Group      int

	Multistream      bool
	SequenceParallel bool
	MatMulAllReduce  bool
	DispatchCombine  bool
	EmbeddingTP      graph.EmbeddingTP
	SharedExpertTP   bool

	ReservedGiB             float64
	ImageHeight, ImageWidth int

	Calibration string // an overlay file for the error bars; "" = the shipped one
}

// StepResponse is one forward pass, evaluated.
type StepResponse struct {
	Model  *model.Model
	Device *device.Profile
	Spec   graph.Spec
	Batch  graph.Batch
	Result *step.Result
	Memory memory.Use
	// Engine is what an engine makes of the step, nil without one.
	Engine *EngineStep
	// Pricing is how operators were priced where no table covers them, Tier how
	// well their prices are known.
	Pricing Pricing
	Tier    device.Tier
	// Tables are the measured kernels used, nil without any, and Kernels whose
	// they are: a name for each of Result.Operators, "" where none.
	Tables  *TableUse
	Kernels []string
	// TokensPerSecond is new tokens per second and device.
	TokensPerSecond float64
	// Error is what to expect of the step's time, Basis where that comes from.
	Error calibrate.Error
	Basis string
	// Artefacts are the policy entries that changed the time visibly.
	Artefacts []Effect
	Notes     []string
}

// Effect is what a policy entry did to a step.
type Effect struct {
	Name  string
	Doc   string
	Share float64 // of the step's time: 0.25 = a quarter of it is the artefact
}

// visible is the share of a step's time from which an artefact is worth saying.
const visible = 0.01

// Step evaluates one forward pass.
func (w *World) Step(r *StepRequest) (*StepResponse, error) {
	m, d, o, err := w.stage(r.Model, r.Device, r.DeviceFile, r.Calibration)
	if err != nil {
		return nil, err
	}
	e, err := r.engine(m, d)
	if err != nil {
		return nil, badInput(err)
	}
	how, err := r.how(d)
	if err != nil {
		return nil, badInput(err)
	}
	spec, err := r.spec(m, d, &how, e)
	if err != nil {
		return nil, badInput(err)
	}
	batch, err := r.batch(m, &spec)
	if err != nil {
		return nil, badInput(err)
	}
	g, err := graph.New(spec)
	if err != nil {
		return nil, badInput(err)
	}
	out := &StepResponse{Model: m, Device: d, Spec: spec, Batch: batch, Pricing: how.pricing, Notes: m.Notes}
	p, err := w.prices(r.PerfData)
	if err != nil {
		return nil, err
	}
	c, err := p.coster(d, how.pricing, &spec.Policy)
	if err != nil {
		return nil, badInput(err)
	}
	out.Result = step.New(g, c).Evaluate(batch, r.Multistream)
	if e != nil {
		out.Engine = engineStep(out, e, o)
	}
	out.Tier = p.tier(d, how.pricing)
	if out.Tables, err = p.used(); err != nil {
		return nil, err
	}
	out.Kernels = kernels(c, out.Result)
	out.Memory = memory.New(&spec).Use(batch, d.Memory, units.Bytes(r.ReservedGiB)*units.GiB)
	query := float64(batch.Segments[0].Query)
	out.TokensPerSecond = float64(r.Queries) * query / float64(out.Result.Time) / float64(spec.Layout.Devices)
	out.Artefacts = artefacts(d, how.pricing, spec, batch, out.Result.Time+out.Result.Hidden)
	out.expect(o)
	return out, nil
}

// expect says how far the step's time may be off.
func (r *StepResponse) expect(o *calibrate.Overlay) {
	s := caseOf(r.Model, r.Device, r.Pricing, r.Tier)
	g := &r.Batch.Segments[0]
	s.Method, s.Decode = calibrate.Pass, g.Decode
	ranks := r.Spec.Layout.DP
	s.On(r.Spec.Layout.Devices, g.Requests*ranks, ranks, r.Model.HasExperts())
	s.TensorCast = r.Spec.Policy.IsTensorCast()
	e := o.Expect(&s)
	r.Error, r.Basis = e.TPOT, e.Basis
}

// kernels names the measured kernels behind each operator of a step.
func kernels(c cost.Coster, r *step.Result) []string {
	out := make([]string, len(r.Operators))
	m, ok := c.(*table.Model)
	if !ok {
		return out
	}
	for i := range r.Operators {
		var names []string
		for k := range r.Items {
			if o := &r.Items[k].Op; o.Name.String() == r.Operators[i].Name {
				if s := m.Source(o); s != "" && !slices.Contains(names, s) {
					names = append(names, s)
				}
			}
		}
		out[i] = strings.Join(names, "; ")
	}
	return out
}

// spec resolves and checks everything but the batch.
func (r *StepRequest) spec(m *model.Model, d *device.Profile, how *modelling, e *engine.Profile) (graph.Spec, error) {
	layout := r.Layout.Complete(m)
	if n := d.Ranks(); layout.Devices > n {
		return graph.Spec{}, fmt.Errorf("--num-devices %d is more than the %d that %s can connect", layout.Devices, n, d.Name)
	}
	actions := graph.Actions{
		Linear: r.LinearAction, NonExpert: r.NonExpertAction, Attention: r.AttentionAction, MXFP4Group: r.MXFP4Group,
	}
	defaultActions(&actions, d)
	drafts := r.MTP
	if e != nil {
		drafts = cmp.Or(drafts, e.MTP.Tokens)
	}
	errs := []error{between("num-mtp-tokens", drafts, 0, maxMTP)}
	if r.MXFP4Group < 0 {
		errs = append(errs, fmt.Errorf("--mxfp4-group-size must be positive, got %d", r.MXFP4Group))
	}
	s := graph.Spec{
		Model: m, Layout: layout, Policy: how.policy, Quant: graph.Resolve(m, how.policy, actions),
		Compile: how.compile, MTP: drafts,
		EmbeddingTP: r.EmbeddingTP, SharedExpertTP: r.SharedExpertTP,
		SequenceParallel: r.SequenceParallel, MatMulAllReduce: r.MatMulAllReduce, DispatchCombine: r.DispatchCombine,
		Vision: how.policy.LoadsVision(m, r.ImageHeight > 0),
	}
	if e != nil {
		s = replica.Adapt(s, e)
	}
	return s, errors.Join(errs...)
}

// maxMTP is the most extra tokens the Ascend command line accepts.
const maxMTP = 9

// batch builds what one data-parallel rank processes.
func (r *StepRequest) batch(m *model.Model, s *graph.Spec) (graph.Batch, error) {
	query, context := r.QueryLength, r.ContextLength
	if query == 0 && r.Decode {
		query = 1 + s.MTP
	}
	err := errors.Join(
		between("num-queries", r.Queries, 1, maxTokens),
		between("query-length", query, 1, maxTokens),
		between("context-length", context, 0, maxTokens),
		hitRate(r.PrefixHitRate),
		notNegative("reserved-memory-gb", r.ReservedGiB),
		checkImage(m, r.ImageHeight, r.ImageWidth),
	)
	if err != nil {
		return graph.Batch{}, err
	}
	if !r.Decode {
		hit := min(int(float64(query)*r.PrefixHitRate), query-1)
		query, context = query-hit, context+hit
	}
	requests := (r.Queries + s.Layout.DP - 1) / s.Layout.DP
	b := graph.Batch{}
	if r.ImageHeight > 0 && !r.Decode {
		tokens := m.Vision.Tokens(r.ImageHeight, r.ImageWidth)
		b.Images = graph.Images{Count: requests, Patches: m.Vision.Patches(r.ImageHeight, r.ImageWidth), Tokens: tokens}
		query += tokens + imageMarks
	}
	b.Segments = []graph.Segment{{Requests: requests, Query: query, Seq: context + query, Decode: r.Decode}}
	return b, nil
}

// between checks a whole number.
func between(flag string, v, least, most int) error {
	if v < least || v > most {
		return fmt.Errorf("--%s must be between %d and %d, got %d", flag, least, most, v)
	}
	return nil
}

// checkImage checks the size of the images, if there are any.
func checkImage(m *model.Model, height, width int) error {
	switch {
	case height == 0 && width == 0:
		return nil
	case m.Vision == nil && height != 0:
		return noVision("image-height", m)
	case m.Vision == nil:
		return noVision("image-width", m)
	}
	return errors.Join(
		between("image-height", height, 1, maxPixels),
		between("image-width", width, 1, maxPixels),
	)
}

func noVision(flag string, m *model.Model) error {
	return fmt.Errorf("--%s: %s has no vision tower", flag, m.ID)
}

const (
	// maxTokens bounds lengths and counts, as the Ascend command line does.
	maxTokens = 100_000_000
	// maxPixels bounds the sides of an image.
	maxPixels = 1 << 16
	// imageMarks are the two tokens around an image's own.
	imageMarks = 2
)

// defaultActions fills in what the user left open: the Ascend guide's default on
// its devices, the checkpoint's own formats elsewhere.
func defaultActions(a *graph.Actions, d *device.Profile) {
	if d.Vendor != device.Ascend && d.Vendor != device.Test {
		return
	}
	if a.Linear == "" {
		a.Linear = dtype.W8A8Dynamic
	}
	if a.Attention == "" {
		a.Attention = dtype.Disabled
	}
}

// artefacts finds which policy entries made a visible difference, by taking
// each back alone. Prices stay what they are.
func artefacts(d *device.Profile, pricing Pricing, spec graph.Spec, b graph.Batch, time units.Seconds) []Effect {
	var out []Effect
	for _, a := range graph.Artefacts() {
		if !a.In(spec.Policy) {
			continue
		}
		other := spec.Without(&a)
		g, err := graph.New(other)
		if err != nil {
			continue // the artefact is what makes the layout legal
		}
		c, _ := pricing.form(d, &other.Policy)
		without := step.New(g, c).Totals(b).Time
		if share := float64((time - without) / time); math.Abs(share) >= visible {
			out = append(out, Effect{a.Name, a.Doc, share})
		}
	}
	return out
}
