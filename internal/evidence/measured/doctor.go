package measured

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
)

// Finding is a reason to suspect a measured row.
type Finding struct {
	Row  *Row
	Rule string
	Why  string
	// TTFTOnly says that only the row's TTFT is suspect.
	TTFTOnly bool
}

// Rules are the names findings may have, with what each means.
func Rules() [][2]string {
	return [][2]string{
		{ruleImpossible, "the model cannot be deployed as described"},
		{ruleDuplicate, "TTFT and TPOT are identical to an earlier row's"},
		{ruleCompute, "more arithmetic per second than kernels reach: prompts were cached, or several workers shared the load"},
		{ruleWorkers, "the requests in flight exceed the KV cache, yet none queue: several workers shared the load"},
		{ruleCold, "TTFT is far longer than prefill takes: kernels were being compiled or autotuned"},
		{ruleLimit, "requests wait although prefill and KV cache have room: the decode workers' batch limit is below the concurrency"},
		{ruleSpeculation, "faster than on more devices, or than another version of the engine: speculative decoding"},
		{ruleNoise, "slower than the same deployment under more load"},
	}
}

const (
	ruleImpossible  = "impossible"
	ruleDuplicate   = "duplicate"
	ruleCompute     = "over-compute"
	ruleWorkers     = "multi-worker"
	ruleCold        = "cold-start"
	ruleLimit       = "hidden-limit"
	ruleSpeculation = "speculation"
	ruleNoise       = "noise"
)

// Thresholds of the rules. They were chosen on public measurements whose launch
// scripts are known: every row above a threshold was wrong by its script or by
// physics (AIConfigurator's silicon sample and InferenceX's history, 2025–2026).
const (
	reachableCompute = 0.55 // of the data sheet's peak, prefill and decode together
	crowdedCache     = 6    // requests in flight over what the cache holds
	slowestPrefill   = 0.05 // of the peak, for a prompt on warm kernels
	slowestStart     = 2.0  // seconds a warm engine may need in addition
	lowConcurrency   = 8    // below it, more devices are never slower
	fasterOnFewer    = 0.8  // TPOT on fewer devices over that on more
	fasterVersion    = 1.6  // TPOT of one version over another's with like TTFT
	noisyStep        = 1.15 // TPOT over that at a higher concurrency
	badCampaign      = 0.2  // share of a campaign's rows that makes all suspect
)

// warmupSince is when InferenceX began to send requests before it measures.
const warmupSince = "2026-01-21"

// Examine finds suspicious rows. It checks them against physics and against
// related rows, never against predictions.
func (p *Predictor) Examine(ctx context.Context, rows []Row) ([]Finding, error) {
	d := doctor{campaigns: map[string][]*Row{}}
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r := &rows[i]
		d.campaigns[r.campaign()] = append(d.campaigns[r.campaign()], r)
		d.alone(p, r)
	}
	d.campaign()
	d.duplicates(rows)
	d.speculation(rows)
	d.noise(rows)
	slices.SortStableFunc(d.found, func(a, b Finding) int { return cmp.Compare(a.Row.Line, b.Row.Line) })
	return d.found, nil
}

type doctor struct {
	found     []Finding
	campaigns map[string][]*Row
}

func (d *doctor) suspect(r *Row, rule, format string, a ...any) {
	d.found = append(d.found, Finding{Row: r, Rule: rule, Why: fmt.Sprintf(format, a...), TTFTOnly: rule == ruleCold || rule == ruleLimit})
}

// alone checks a row by itself.
func (d *doctor) alone(p *Predictor, r *Row) {
	if strings.Contains(r.Source, "dynamo_version") {
		d.suspect(r, ruleWorkers, "the source says that Dynamo ran several workers")
	}
	if _, err := p.model(r.Model); err != nil {
		return // a model not known here may exist
	}
	dev, err := p.device(r.System)
	if err != nil {
		return
	}
	if _, err = engine.LookupVersion(r.Engine, ""); err != nil {
		return
	}
	prep := p.Prepare(r)
	if prep.Err != nil {
		d.suspect(r, ruleImpossible, "%v", prep.Err)
		return
	}
	d.physics(r, &prep, dev)
}

// total is the devices of all workers of a pool.
func (w *Workers) total() int { return w.Count * w.devices() }

// physics holds a row against the peak of its devices and the room in its caches.
func (d *doctor) physics(r *Row, prep *Prepared, dev *device.Profile) {
	pools := r.pools()
	prompts, devices := pools[0].total(), 0 // of them, those that compute prompts
	for _, w := range pools {
		devices += w.total()
	}
	last := pools[len(pools)-1]
	m, quant := prep.deployment.Model, &prep.deployment.Generates().Spec.Quant
	format := quant.Dense.Activation
	if m.HasExperts() {
		format = quant.Experts.Activation
	}
	peak, cache := float64(dev.Matrix[format]), float64(prep.fleet.Generates().KVTokens*last.DP*last.Count)
	if peak == 0 || r.TTFT+r.TPOT <= 0 { // without times there is nothing to hold against it
		return
	}
	length := (1 + r.LengthLow) / 2
	in, out, c := float64(r.Input)*length, float64(r.Output)*length, float64(r.Concurrency)
	perToken := 2 * float64(m.Facts().Active)
	used := c / float64(r.TTFT+r.TPOT*units.Seconds(out-1)) * perToken * (in + out) / (peak * float64(devices))
	if used > reachableCompute {
		d.suspect(r, ruleCompute, "%.0f %% of the %s peak; kernels reach at most %.0f %%", 100*used, format, 100*reachableCompute)
	}
	wanted := c * (in + out)
	if wanted > crowdedCache*cache && r.TTFT < 1 {
		d.suspect(r, ruleWorkers, "%.0f requests need %.1f times the KV cache of %.0f tokens, yet TTFT is below 1 s", c, wanted/cache, cache)
	}
	warm := slowestStart + c*in*perToken/(slowestPrefill*peak*float64(prompts))/2 + 30*float64(r.TPOT)
	if wanted <= cache && float64(r.TTFT) > warm && r.Mode == disagg {
		// Little's law: as many wait as their share of a request's life.
		waiting := c * float64(r.TTFT/(r.TTFT+r.TPOT*units.Seconds(out-1)))
		d.suspect(r, ruleLimit, "TTFT is %.1f s, but prefill takes at most %.1f s: %.1f of %.0f requests wait, so the batch limit (max_num_seqs) is about %.0f",
			r.TTFT, warm, waiting, c, c-waiting)
	} else if wanted <= cache && float64(r.TTFT) > warm {
		d.suspect(r, ruleCold, "TTFT is %.1f s; a warm engine needs at most %.1f s", r.TTFT, warm)
	}
}

// campaign suspects all rows of a campaign with many bad ones: all of them if the
// compute is impossible, the TTFTs if the engine was cold and nothing warmed it up.
func (d *doctor) campaign() {
	tripped := map[string]map[*Row]bool{ruleCompute: {}, ruleCold: {}}
	for _, f := range d.found {
		if rows, ok := tripped[f.Rule]; ok {
			rows[f.Row] = true
		}
	}
	for _, rule := range []string{ruleCompute, ruleCold} {
		for _, rows := range d.campaigns {
			n := 0
			for _, r := range rows {
				if tripped[rule][r] {
					n++
				}
			}
			if n < 2 || float64(n) < badCampaign*float64(len(rows)) {
				continue
			}
			for _, r := range rows {
				if tripped[rule][r] || rule == ruleCold && r.warmed() {
					continue
				}
				d.suspect(r, rule, "%d of the %d rows measured together break this rule", n, len(rows))
			}
		}
	}
}

// duplicates finds rows exported twice.
func (d *doctor) duplicates(rows []Row) {
	type times struct {
		cell       string
		ttft, tpot units.Seconds
	}
	first := map[times]int{}
	for i := range rows {
		if rows[i].TTFT+rows[i].TPOT <= 0 {
			continue
		}
		key := times{rows[i].Cell(), rows[i].TTFT, rows[i].TPOT}
		if line, ok := first[key]; ok {
			d.suspect(&rows[i], ruleDuplicate, "same TTFT and TPOT as line %d", line)
			continue
		}
		first[key] = rows[i].Line
	}
}

// speculation finds rows too fast for decoding without draft tokens.
func (d *doctor) speculation(rows []Row) {
	suspected := map[*Row]bool{}
	for _, set := range series(rows, func(r *Row) string { return fmt.Sprint(r.shape(), r.Concurrency) }) {
		for _, r := range set {
			for _, o := range set {
				why := ""
				switch {
				case suspected[r] || r.TPOT <= 0:
				case r.Concurrency <= lowConcurrency && r.TP*r.DP < o.TP*o.DP && r.TPOT < fasterOnFewer*o.TPOT:
					why = fmt.Sprintf("TPOT is %v on %d devices, but %v on %d (line %d)", r.TPOT, r.TP*r.DP, o.TPOT, o.TP*o.DP, o.Line)
				case r.Workers == o.Workers && r.Version != o.Version && o.TPOT > fasterVersion*r.TPOT && alike(r.TTFT, o.TTFT):
					why = fmt.Sprintf("TPOT is %v, but %v with version %s (line %d)", r.TPOT, o.TPOT, o.Version, o.Line)
				}
				if why != "" {
					suspected[r] = true
					d.suspect(r, ruleSpeculation, "%s", why)
				}
			}
		}
	}
}

// alike reports whether two times differ by less than a quarter.
func alike(a, b units.Seconds) bool { return math.Abs(math.Log(float64(a/b))) < math.Log(1.25) }

// noise finds rows slower than the same deployment under more load.
func (d *doctor) noise(rows []Row) {
	for _, set := range series(rows, func(r *Row) string {
		return fmt.Sprint(r.shape(), r.Workers, r.Version, r.campaign(), r.TokenBudget, r.KV)
	}) {
		slices.SortStableFunc(set, func(a, b *Row) int { return cmp.Compare(a.Concurrency, b.Concurrency) })
		for i := 1; i < len(set); i++ {
			a, b := set[i-1], set[i]
			if a.Concurrency < b.Concurrency && a.TPOT > noisyStep*b.TPOT {
				d.suspect(a, ruleNoise, "TPOT is %v at concurrency %d, but %v at %d (line %d)", a.TPOT, a.Concurrency, b.TPOT, b.Concurrency, b.Line)
			}
		}
	}
}

// series groups aggregated rows by a key, in the order of the file.
func series(rows []Row, key func(*Row) string) [][]*Row {
	index := map[string]int{}
	var out [][]*Row
	for i := range rows {
		r := &rows[i]
		if r.Mode == disagg {
			continue
		}
		k := key(r)
		at, ok := index[k]
		if !ok {
			at = len(out)
			index[k] = at
			out = append(out, nil)
		}
		out[at] = append(out[at], r)
	}
	return out
}

// shape is the cell, the number format and the lengths of a row.
func (r *Row) shape() string {
	return fmt.Sprint(r.Cell(), " ", r.Precision, r.Input, " ", r.Output, " ", r.LengthLow)
}

// campaign names the rows measured together: of one source, in one cell.
func (r *Row) campaign() string {
	source, _, _ := strings.Cut(r.Source, ";")
	return source + r.measured() + r.Version + r.Cell() + r.Precision
}

// warmed reports whether the benchmark may have warmed the engine up.
func (r *Row) warmed() bool { return r.measured() == "" || r.measured() >= warmupSince }

// measured is the day of the measurement, if the source says it.
func (r *Row) measured() string {
	_, day, ok := strings.Cut(r.Source, "measured=")
	if !ok || len(day) < len(warmupSince) {
		return ""
	}
	return day[:len(warmupSince)]
}
