package measured

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/device"
	"plimsoll/internal/engine"
	"plimsoll/internal/units"
)

// Finding is a reason to doubt a measured row.
type Finding struct {
	Row  *Row
	Rule string
	Why  string
	// TTFTOnly says that the row's TPOT is not in doubt.
	TTFTOnly bool
}

// Rules are the names findings may have, with what each means.
func Rules() [][2]string {
	return [][2]string{
		{ruleImpossible, "the deployment cannot exist as it is described"},
		{ruleDuplicate, "both times equal an earlier row's to the last digit"},
		{ruleCompute, "more arithmetic than kernels reach: cached prompts, or the concurrency of several workers"},
		{ruleWorkers, "more requests in flight than the cache holds, without a queue: several workers"},
		{ruleCold, "first tokens far later than the prompts take: kernels were compiled or tuned meanwhile"},
		{ruleLimit, "first tokens wait though prompts and cache have room: decode workers serve fewer at once than are offered"},
		{ruleSpeculation, "faster than more devices, or than the same on another version: speculative decoding"},
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
// scripts are known, so that what trips them was found wrong in a script or in
// physics (AIConfigurator's silicon sample and InferenceX's history, 2025–2026).
const (
	reachableCompute = 0.55 // of the data sheet's peak, prompts and answers together
	crowdedCache     = 6    // requests in flight over what the cache holds
	slowestPrefill   = 0.05 // of the peak, for a prompt on warm kernels
	slowestStart     = 2.0  // seconds a warm engine may lose besides
	lowConcurrency   = 8    // below it, more devices are never slower
	fasterOnFewer    = 0.8  // TPOT on fewer devices over that on more
	fasterVersion    = 1.6  // TPOT of one version over another's with like TTFT
	noisyStep        = 1.15 // TPOT over that at a higher concurrency
	badCampaign      = 0.2  // share of a campaign's rows that condemns all
)

// warmupSince is when InferenceX began to send requests before it measures.
const warmupSince = "2026-01-21"

// Examine says which rows cannot be what they claim. It looks at physics and at
// the rows beside a row, never at how well a row is predicted.
func (p *Predictor) Examine(rows []Row) []Finding {
	d := doctor{campaigns: map[string][]*Row{}}
	for i := range rows {
		r := &rows[i]
		d.campaigns[r.campaign()] = append(d.campaigns[r.campaign()], r)
		d.alone(p, r)
	}
	d.campaign()
	d.duplicates(rows)
	d.speculation(rows)
	d.noise(rows)
	slices.SortStableFunc(d.found, func(a, b Finding) int { return cmp.Compare(a.Row.Line, b.Row.Line) })
	return d.found
}

type doctor struct {
	found     []Finding
	campaigns map[string][]*Row
}

func (d *doctor) doubt(r *Row, rule, format string, a ...any) {
	d.found = append(d.found, Finding{Row: r, Rule: rule, Why: fmt.Sprintf(format, a...), TTFTOnly: rule == ruleCold || rule == ruleLimit})
}

// alone looks at a row by itself.
func (d *doctor) alone(p *Predictor, r *Row) {
	if strings.Contains(r.Source, "dynamo_version") {
		d.doubt(r, ruleWorkers, "its source is a deployment of several workers under Dynamo")
	}
	if _, err := p.model(r.Model); err != nil {
		return // what is not known here may well exist
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
		d.doubt(r, ruleImpossible, "%v", prep.Err)
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
	if peak == 0 {
		return
	}
	length := (1 + r.LengthLow) / 2
	in, out, c := float64(r.Input)*length, float64(r.Output)*length, float64(r.Concurrency)
	perToken := 2 * float64(m.Facts().Active)
	used := c / float64(r.TTFT+r.TPOT*units.Seconds(out-1)) * perToken * (in + out) / (peak * float64(devices))
	if used > reachableCompute {
		d.doubt(r, ruleCompute, "%.0f %% of the peak in %s, where kernels reach %.0f %%", 100*used, format, 100*reachableCompute)
	}
	wanted := c * (in + out)
	if wanted > crowdedCache*cache && r.TTFT < 1 {
		d.doubt(r, ruleWorkers, "%.0f requests want %.1f times the cache of %.0f tokens, and none waits a second", c, wanted/cache, cache)
	}
	warm := slowestStart + c*in*perToken/(slowestPrefill*peak*float64(prompts))/2 + 30*float64(r.TPOT)
	if wanted <= cache && float64(r.TTFT) > warm && r.Mode == disagg {
		// Little's law: as many wait as their share of a request's life.
		waiting := c * float64(r.TTFT/(r.TTFT+r.TPOT*units.Seconds(out-1)))
		d.doubt(r, ruleLimit, "TTFT of %.1f s, where prompts need %.1f s at most: %.1f of %.0f requests wait, so %.0f are served at once (max_num_seqs)",
			r.TTFT, warm, waiting, c, c-waiting)
	} else if wanted <= cache && float64(r.TTFT) > warm {
		d.doubt(r, ruleCold, "TTFT of %.1f s, where a warm engine needs %.1f s at most", r.TTFT, warm)
	}
}

// campaign condemns the rest of a campaign much of which is wrong: all of it if
// its compute is out of reach, the TTFTs of cold engines if nothing warmed them.
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
				d.doubt(r, rule, "%d of the %d rows measured with it trip this rule", n, len(rows))
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
		key := times{rows[i].Cell(), rows[i].TTFT, rows[i].TPOT}
		if line, ok := first[key]; ok {
			d.doubt(&rows[i], ruleDuplicate, "line %d has the same times", line)
			continue
		}
		first[key] = rows[i].Line
	}
}

// speculation finds rows that are faster than they can be without drafts.
func (d *doctor) speculation(rows []Row) {
	doubted := map[*Row]bool{}
	for _, set := range series(rows, func(r *Row) string { return fmt.Sprint(r.shape(), r.Concurrency) }) {
		for _, r := range set {
			for _, o := range set {
				why := ""
				switch {
				case doubted[r] || r.TPOT <= 0:
				case r.Concurrency <= lowConcurrency && r.TP*r.DP < o.TP*o.DP && r.TPOT < fasterOnFewer*o.TPOT:
					why = fmt.Sprintf("%d devices give %v per token, %d on line %d only %v", r.TP*r.DP, r.TPOT, o.TP*o.DP, o.Line, o.TPOT)
				case r.Workers == o.Workers && r.Version != o.Version && o.TPOT > fasterVersion*r.TPOT && alike(r.TTFT, o.TTFT):
					why = fmt.Sprintf("%v per token, %v with version %s on line %d", r.TPOT, o.TPOT, o.Version, o.Line)
				}
				if why != "" {
					doubted[r] = true
					d.doubt(r, ruleSpeculation, "%s", why)
				}
			}
		}
	}
}

// alike tells whether two times differ by less than a quarter.
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
				d.doubt(a, ruleNoise, "%v per token with %d in flight, %v with %d on line %d", a.TPOT, a.Concurrency, b.TPOT, b.Concurrency, b.Line)
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

// warmed tells whether the benchmark may have warmed the engine up.
func (r *Row) warmed() bool { return r.measured() == "" || r.measured() >= warmupSince }

// measured is the day of the measurement, if the source says it.
func (r *Row) measured() string {
	_, day, ok := strings.Cut(r.Source, "measured=")
	if !ok || len(day) < len(warmupSince) {
		return ""
	}
	return day[:len(warmupSince)]
}
