package measured

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// Prediction is what the model says of a row.
type Prediction struct {
	TTFT, TPOT units.Seconds // mean or median, as in the row
	TTFTMean   units.Seconds
	Throughput float64 // output tokens per second
	PerGPU     float64 // input and output tokens per second and device
	// Energy is zero where the power of the device is unknown or nothing was metered.
	Energy    replica.Energy
	KVTokens  int
	Preempted int
	// Assumed lists the assumptions about unstated values of the row.
	Assumed []string
	// Disagrees lists settings of the row that its engine does not have or refuses,
	// Unused columns that nothing is known about.
	Disagrees, Unused []string
	// Case is what the expected error depends on.
	Case calibration.Case
	Err  error
}

// Predictor predicts rows. Prices is the cost model of a device; Calibration, if
// any, scales operator and host times; Models is where models outside the catalog
// are found.
type Predictor struct {
	Prices      func(*device.Profile) cost.Coster
	Calibration *calibration.Overlay
	Models      model.Source
	// Energy asks for the energy of rows without a measured one too.
	Energy bool
	// Progress, if not nil, reports how many rows PredictAll has predicted; calls do not
	// overlap.
	Progress func(done int)

	devices memo[string, *device.Profile]
	models  memo[string, *model.Model]
	engines memo[release, near]
	fleets  memo[string, built]
	runs    memo[benchmark, outcome]
	curves  replica.Curves
}

// built is a deployment ready to simulate, and what was assumed to build it. Rows that
// differ only in load share one.
type built struct {
	resolved *deployment.Resolved
	fleet    *replica.Fleet
	assumed  string
}

// release is an engine as a row names it.
type release struct{ engine, version, measured string }

// near is the profile nearest to a release, and what was assumed to find it.
type near struct {
	profile *engine.Profile
	assumed string
}

func (p *Predictor) device(name string) (*device.Profile, error) {
	return p.devices.get(name, func() (*device.Profile, error) { return device.Lookup(name) })
}

func (p *Predictor) model(id string) (*model.Model, error) {
	return p.models.get(id, func() (*model.Model, error) { return p.Models.Open(id) })
}

// stored is the model of a row in the number formats of its checkpoint, where both are known and of one family.
func (p *Predictor) stored(row *Row) (*model.Model, error) {
	m, err := p.model(row.Model)
	if err != nil || row.Checkpoint == "" || row.Precision == "" {
		return m, err
	}
	return p.models.get(row.Model+" "+row.Checkpoint, func() (*model.Model, error) {
		c, err := p.model(row.Checkpoint)
		if err != nil || c.Family != m.Family || len(c.Layers) != len(m.Layers) {
			return m, nil //nolint:nilerr // a name of the laboratory's own
		}
		out := *m
		out.Quant = c.Quant
		return &out, nil
	})
}

func (p *Predictor) engine(row *Row, d *device.Profile) (near, error) {
	r := release{engine.Port(row.Engine, d.Vendor), row.Version, row.Measured}
	if row.Nightly {
		r.version = ""
	}
	return p.engines.get(r, func() (out near, err error) {
		out.profile, out.assumed, err = engine.LookupNear(r.engine, r.version, r.measured)
		return out, err
	})
}

// Prepared is a row ready to be simulated with any multipliers.
type Prepared struct {
	Row     *Row
	Err     error
	Subject calibration.Subject
	// Case is what the expected error depends on, without the Subject.
	Case    calibration.Case
	assumed []string
	// disagrees and unused are those of the prediction.
	disagrees, unused []string
	// deployment is what the row describes, fleet the same ready to simulate.
	deployment *deployment.Resolved
	fleet      *replica.Fleet
	client     traffic.Client
}

// MaxRequests bounds the requests simulated for a row. It is far above those of
// real benchmarks: a shorter run gives more weight to the first burst.
const MaxRequests = 1 << 17

// Prepare builds the deployment and the benchmark behind a row.
func (p *Predictor) Prepare(row *Row) Prepared {
	row, said := row.asRun()
	out := Prepared{Row: row}
	out.assume(row.Corrected)
	for _, what := range said {
		out.assume(what)
	}
	parts, err := p.parts(&out)
	if err == nil {
		out.fleet, err = p.fleet(&out, parts)
	}
	if err != nil {
		out.Err = err
		return out
	}
	out.client = row.client()
	return out
}

// PrepareClean prepares the clean rows that can be predicted.
func (p *Predictor) PrepareClean(ctx context.Context, rows []Row) ([]Prepared, error) {
	var out []Prepared
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if rows[i].Quality != "" {
			continue
		}
		if q := p.Prepare(&rows[i]); q.Err == nil {
			out = append(out, q)
		}
	}
	return out, nil
}

// assume notes an assumption about an unstated value of the row, once.
func (p *Prepared) assume(what string) {
	if what != "" && !slices.Contains(p.assumed, what) {
		p.assumed = append(p.assumed, what)
	}
}

// parts finds what the names of a row stand for.
func (p *Predictor) parts(out *Prepared) (deployment.Parts, error) {
	row := out.Row
	d, err := p.device(row.System)
	if err != nil {
		return deployment.Parts{}, err
	}
	e, err := p.engine(row, d)
	if err != nil {
		return deployment.Parts{}, err
	}
	out.assume(e.assumed)
	m, err := p.stored(row)
	if err != nil {
		return deployment.Parts{}, err
	}
	out.assume(m.Taken())
	if by := row.drafter(m); row.Speculative && by != draft.NGram && !slices.Contains(draft.Ways(m), by) {
		return deployment.Parts{}, fmt.Errorf("the row drafts tokens (mtp_tokens is %d), but %s has no MTP modules and no EAGLE-3 head of it is known", row.Drafted, m.Name())
	}
	return deployment.Parts{Model: m, Device: d, Engine: e.profile}, nil
}

// fleet builds the replicas of a row, and says what they are.
func (p *Predictor) fleet(out *Prepared, parts deployment.Parts) (*replica.Fleet, error) {
	row := out.Row
	if row.Sides.Unknown {
		return nil, errNoSplit
	}
	asked := row.Deployment()
	out.settle(&asked, parts)
	plain, said := asked, slices.Clip(out.assumed)
	out.recipe(&asked, parts)
	f, err := p.made(row, asked, parts)
	if errors.Is(err, replica.ErrNoCache) && row.Mode != disagg {
		out.assumed = said // it did not run like the others
		f, err = p.made(row, plain, parts)
	}
	if f.resolved != nil {
		out.deployment = f.resolved
		out.Subject = calibration.SubjectOfDeployment(f.resolved)
		out.Subject.Rig = row.rig()
		out.Case = caseOf(parts.Model, row, row.pools()[len(f.resolved.Pools)-1], parts.Device, p.Prices(parts.Device))
		out.assume(f.assumed)
	}
	return f.fleet, err
}

// made is a deployment ready to simulate, from memory or built.
func (p *Predictor) made(row *Row, asked deployment.Deployment, parts deployment.Parts) (built, error) {
	of := fmt.Sprintf("%+v %p %d", asked, parts.Engine, row.Input+row.Output)
	return p.fleets.get(of, func() (built, error) { return p.build(row, asked, parts) })
}

// errNoSplit is of rows whose layout is unknown.
var errNoSplit = errors.New("the row does not say how its devices are divided between prefill and decode workers")

// build resolves a deployment and prepares its replicas. Where the weights leave no room
// for a cache it ran nevertheless, so unstated settings were not at their defaults.
func (p *Predictor) build(row *Row, asked deployment.Deployment, parts deployment.Parts) (built, error) {
	resolved, err := asked.Resolve(parts)
	if err != nil {
		// Some sources give the sizes of a whole deployment, and nothing then says
		// how it was cut.
		return built{}, fmt.Errorf("%w; are the row's sizes those of one worker?", err)
	}
	out := built{resolved: resolved}
	out.fleet, err = p.curves.Fleet(resolved, p.coster)
	if !errors.Is(err, replica.ErrNoCache) {
		return out, err
	}
	for _, r := range remedies(row, resolved.Generates().Engine) {
		other := asked
		other.Engine.Settings = slices.Concat(r.settings, asked.Engine.Settings)
		again, wrong := other.Resolve(parts)
		if wrong != nil {
			return out, wrong
		}
		if f, wrong := p.curves.Fleet(again, p.coster); wrong == nil {
			return built{again, f, r.assumed}, nil
		}
	}
	return out, err
}

// ampleShare is the memory share of deployments whose weights nearly fill the
// device: SGLang's guides ask for it where the default leaves no cache.
const ampleShare = 0.95

// remedy is settings that make room for a cache.
type remedy struct {
	settings []string
	assumed  string
}

// remedies are what benchmarks set where the defaults leave no room: a context no
// longer than the requests, a larger share of the memory. What a row gives stays.
func remedies(row *Row, e *engine.Profile) []remedy {
	var out []remedy
	context := remedy{
		[]string{fmt.Sprintf("max_context=%d", row.Input+row.Output)},
		e.Name + " limits the context to the requests' length: with the model's own there is no room for a KV cache",
	}
	if e.MaxContext == 0 && e.IndexRows > 0 {
		out = append(out, context)
	}
	if row.MemoryShare > 0 && (row.Mode != disagg || row.Sides.DecodeMemoryShare > 0) || e.MemoryShare >= ampleShare {
		return out
	}
	share := remedy{
		[]string{fmt.Sprintf("memory_share=%g", ampleShare)},
		fmt.Sprintf("%s runs with memory_share %g: the default leaves no room for a KV cache", e.Name, ampleShare),
	}
	return append(out, share)
}

// outcome is what predictions take from a simulated benchmark.
type outcome struct {
	ttft, tpot            statistics.Summary
	inputRate, outputRate float64
	preempted             int
	kvPeak                float64
	used                  []replica.Used // nil unless metered
	energy                replica.Energy
}

// benchmark is all that decides an outcome. Files have rows that differ in nothing else,
// such as those of several versions of an engine.
type benchmark struct {
	fleet                 *replica.Fleet
	requests, concurrency int
	input, output         int
	low                   float64
	traffic               Traffic
	multipliers           replica.Multipliers
	metered               bool
}

// Simulate runs the benchmark with scaled operator and host times.
func (p *Prepared) Simulate(ctx context.Context, m replica.Multipliers) Prediction {
	if p.Err != nil {
		return p.failed()
	}
	return p.predict(p.run(ctx, m, false))
}

// failed is the prediction of a row that cannot be prepared.
func (p *Prepared) failed() Prediction {
	return Prediction{Err: p.Err, Disagrees: p.disagrees, Unused: p.unused}
}

// run simulates the benchmark of a row; metered has what the devices did measured.
func (p *Prepared) run(ctx context.Context, m replica.Multipliers, metered bool) (outcome, error) {
	fleet := p.fleet.Scaled(m)
	config := fleet.Config(p.client)
	config.Seed = 1
	var meters *replica.Meters
	if metered {
		meters = fleet.Meter(&config)
	}
	res, err := sim.Run(ctx, &config)
	if err != nil {
		return outcome{}, err
	}
	if res.Finished == 0 {
		return outcome{}, fmt.Errorf("no request fits in the KV cache of %d tokens", p.fleet.First().KVTokens)
	}
	out := outcome{
		ttft: res.TTFT, tpot: res.TPOT, inputRate: res.InputRate, outputRate: res.OutputRate,
		preempted: res.Workers.Preemptions, kvPeak: res.KVPeak(),
	}
	if metered {
		out.used = meters.Used(res)
		out.energy, _ = meters.Energy(res, p.Subject.PowerFactor())
	}
	return out, nil
}

// predict is what an outcome says of the row.
func (p *Prepared) predict(o outcome, err error) Prediction {
	if err != nil {
		return Prediction{Err: err}
	}
	out := Prediction{
		TTFT: o.ttft.Mean, TPOT: o.tpot.Mean, TTFTMean: o.ttft.Mean, KVTokens: p.fleet.First().KVTokens, Preempted: o.preempted,
		PerGPU: (o.inputRate + o.outputRate) / float64(p.Row.devices()), Energy: o.energy,
		Assumed: p.assumed, Disagrees: p.disagrees, Unused: p.unused, Case: p.Case,
	}
	out.Throughput = p.Row.ClosedLoop(out.TTFT, out.TPOT)
	if p.Row.TTFTMedian {
		out.TTFT = o.ttft.P50
	}
	if p.Row.TPOTMedian {
		out.TPOT = o.tpot.P50
	}
	out.Case.Subject, out.Case.KVPeak = p.Subject, o.kvPeak
	return out
}

// Predict simulates the benchmark behind a row.
func (p *Predictor) Predict(ctx context.Context, row *Row) Prediction {
	q := p.Prepare(row)
	if q.Err != nil {
		return q.failed()
	}
	r, m, metered := q.Row, p.multipliers(&q), row.Joules > 0 || p.Energy
	key := benchmark{q.fleet, r.Requests, r.Concurrency, r.Input, r.Output, r.LengthLow, r.Traffic, m, metered}
	return q.predict(p.runs.get(key, func() (outcome, error) { return q.run(ctx, m, metered) }))
}

// multipliers are those of a prepared row.
func (p *Predictor) multipliers(r *Prepared) replica.Multipliers {
	if p.Calibration == nil || r.Err != nil {
		return replica.Ones()
	}
	return p.Calibration.Multipliers(r.Subject)
}

// caseOf is what the expected error of a row depends on, without its subject.
func caseOf(m *model.Model, row *Row, w *Workers, d *device.Profile, prices cost.Coster) calibration.Case {
	out := calibration.Case{Tier: d.Tier, Vendor: d.Vendor, Input: row.Input, Defaulted: row.Defaulted, Familiar: row.Familiar()}
	if fitted, ok := prices.(interface{ Tier() device.Tier }); ok {
		out.Tier = fitted.Tier()
	}
	out.On(w.devices(), row.Concurrency, w.DP, m.HasExperts())
	return out
}

// coster is the prices of a pool's device.
func (p *Predictor) coster(pool *deployment.Served) (cost.Coster, error) {
	return p.Prices(pool.Device), nil
}
