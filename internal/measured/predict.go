package measured

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plimsoll/internal/calibration"
	"plimsoll/internal/cost"
	"plimsoll/internal/deployment"
	"plimsoll/internal/device"
	"plimsoll/internal/engine"
	"plimsoll/internal/model"
	"plimsoll/internal/replica"
	"plimsoll/internal/sim"
	"plimsoll/internal/units"
)

// Prediction is what the model says of a row.
type Prediction struct {
	TTFT, TPOT units.Seconds
	Throughput float64 // output tokens per second
	KVTokens   int
	Preempted  int
	// Assumed lists what the row does not say and was assumed.
	Assumed []string
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
	// Progress, if not nil, is told how many rows PredictAll has predicted, one call
	// at a time.
	Progress func(done int)

	devices memo[string, *device.Profile]
	models  memo[string, *model.Model]
	engines memo[release, near]
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

func (p *Predictor) engine(row *Row) (near, error) {
	r := release{row.Engine, row.Version, row.Measured}
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
	// deployment is what the row describes, fleet the same ready to simulate.
	deployment *deployment.Resolved
	fleet      *replica.Fleet
	client     sim.ClosedLoop
}

// maxRequests bounds the requests simulated for a row. It is far above those of
// real benchmarks: a shorter run gives more weight to the first burst.
const maxRequests = 1 << 17

// Prepare builds the deployment and the benchmark behind a row.
func (p *Predictor) Prepare(row *Row) Prepared {
	out := Prepared{Row: row}
	parts, err := p.parts(&out)
	if err == nil {
		out.fleet, err = p.fleet(&out, parts)
	}
	if err != nil {
		out.Err = err
		return out
	}
	c := max(1, row.Concurrency)
	out.client = sim.ClosedLoop{
		Requests: max(c, min(row.Requests, maxRequests)), Concurrency: c,
		Input:  sim.Lengths{Tokens: row.Input, Low: row.LengthLow},
		Output: sim.Lengths{Tokens: row.Output, Low: row.LengthLow},
	}
	return out
}

// PrepareClean prepares the clean rows that can be predicted.
func (p *Predictor) PrepareClean(rows []Row) []Prepared {
	var out []Prepared
	for i := range rows {
		if rows[i].Quality != "" {
			continue
		}
		if q := p.Prepare(&rows[i]); q.Err == nil {
			out = append(out, q)
		}
	}
	return out
}

// assume notes an assumption about what the row does not say, once.
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
	e, err := p.engine(row)
	if err != nil {
		return deployment.Parts{}, err
	}
	out.assume(e.assumed)
	m, err := p.model(row.Model)
	if err != nil {
		return deployment.Parts{}, err
	}
	out.assume(m.Taken())
	if row.Drafted > 0 && m.MTP.Layers == 0 {
		return deployment.Parts{}, fmt.Errorf("mtp_tokens is %d, but %s has no MTP modules", row.Drafted, m.Name())
	}
	return deployment.Parts{Model: m, Device: d, Engine: e.profile}, nil
}

// ampleShare is the memory share of deployments whose weights nearly fill the
// device: SGLang's guides ask for it where the default leaves no cache.
const ampleShare = 0.95

// fleet builds the replicas of a row, and says what they are.
func (p *Predictor) fleet(out *Prepared, parts deployment.Parts) (*replica.Fleet, error) {
	row := out.Row
	asked := row.Deployment()
	if row.Mode == disagg {
		out.recipe(&asked, parts)
	}
	resolved, err := asked.Resolve(parts)
	if err != nil {
		// Some sources give the sizes of a whole deployment, and nothing then says
		// how it was cut.
		return nil, fmt.Errorf("%w; are the row's sizes those of one worker?", err)
	}
	out.deployment = resolved
	serves := resolved.Generates()
	out.Subject = calibration.SubjectOfDeployment(resolved)
	out.Case = caseOf(parts.Model, row, row.pools()[len(resolved.Pools)-1], parts.Device, p.Prices(parts.Device))
	f, err := replica.NewFleet(resolved, p.coster)
	if errors.Is(err, replica.ErrNoCache) && row.MemoryShare == 0 && serves.Engine.MemoryShare < ampleShare {
		// It ran, so its memory share was set above the default.
		asked.Engine.Settings = append(asked.Engine.Settings, fmt.Sprintf("memory_share=%g", ampleShare))
		if resolved, err = asked.Resolve(parts); err != nil {
			return nil, err
		}
		if f, err = replica.NewFleet(resolved, p.coster); err == nil {
			out.assume(fmt.Sprintf("%s runs with memory_share %g: the default leaves no room for a KV cache", serves.Engine.Name, ampleShare))
		}
	}
	return f, err
}

// Simulate runs the benchmark with scaled operator and host times.
func (p *Prepared) Simulate(ctx context.Context, m replica.Multipliers) Prediction {
	if p.Err != nil {
		return Prediction{Err: p.Err}
	}
	config := p.fleet.Scaled(m).Config(p.client)
	config.Seed = 1
	res, err := sim.Run(ctx, &config)
	if err != nil {
		return Prediction{Err: err}
	}
	tokens := p.fleet.First().KVTokens
	if res.Finished == 0 {
		return Prediction{Err: fmt.Errorf("no request fits in the KV cache of %d tokens", tokens)}
	}
	out := Prediction{
		TTFT: res.TTFT.Mean, TPOT: res.TPOT.Mean, KVTokens: tokens, Preempted: res.Workers.Preemptions, Assumed: p.assumed,
		Case: p.Case,
	}
	out.Throughput = p.Row.ClosedLoop(out.TTFT, out.TPOT)
	out.Case.Subject, out.Case.KVPeak = p.Subject, res.KVPeak()
	return out
}

// Predict simulates the benchmark behind a row.
func (p *Predictor) Predict(ctx context.Context, row *Row) Prediction {
	prep := p.Prepare(row)
	return prep.Simulate(ctx, p.multipliers(&prep))
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
	out := calibration.Case{Tier: d.Tier, Vendor: d.Vendor, Input: row.Input, Defaulted: row.Defaulted}
	if fitted, ok := prices.(interface{ Tier() device.Tier }); ok {
		out.Tier = fitted.Tier()
	}
	out.On(w.TP*w.DP, row.Concurrency, w.DP, m.HasExperts())
	return out
}

// coster is the prices of a pool's device.
func (p *Predictor) coster(pool *deployment.Served) (cost.Coster, error) {
	return p.Prices(pool.Device), nil
}
