package plan

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// InWords is the deployment that was found: "4 replicas of TP=8", "2 × (3 prefill of
// one GPU, 1 decode of TP=8)".
func (c *Found) InWords() string {
	of := func(n string, role deployment.Role) string {
		for i := range c.Deployment.Pools {
			if p := &c.Deployment.Pools[i]; p.Role == role {
				return n + " of " + shortLabel(p.Layout.Label(c.Experts))
			}
		}
		return ""
	}
	spare := c.drafts()
	if c.Spare > 0 {
		spare += fmt.Sprintf(", %d spare", c.Spare)
	}
	if c.X == 0 {
		return of(units.Counted(c.Copies, "replica"), deployment.Both) + spare
	}
	unit := of(fmt.Sprintf("%d prefill", c.X), deployment.Prefill) + ", " + of(fmt.Sprintf("%d decode", c.Y), deployment.Decode)
	if c.Copies == 1 {
		return unit + spare
	}
	return fmt.Sprintf("%d × (%s)", c.Copies, unit) + spare
}

// drafts is ", 2 MTP drafts".
func (c *Found) drafts() string {
	e := &c.Experiment
	if e.MTP == 0 {
		return ""
	}
	return ", " + units.Counted(e.MTP, strings.TrimSuffix(methodInWords(cmp.Or(e.Drafter, draft.MTP)), "s")+" draft")
}

// shortLabel leaves out the dimensions of a layout that are 1.
func shortLabel(label string) string {
	var parts []string
	for p := range strings.SplitSeq(label, " | ") {
		if !strings.HasSuffix(p, "=1") {
			parts = append(parts, p)
		}
	}
	if parts == nil {
		return "one GPU"
	}
	return strings.Join(parts, " ")
}

// limitsInWords is "TTFT 1000 ms and TPOT 10 ms", "" without limits.
func limitsInWords(l workload.Limits) string {
	var parts []string
	add := func(name string, s units.Seconds) {
		if s > 0 {
			parts = append(parts, fmt.Sprintf("%s %g ms", name, s.TypedMs()))
		}
	}
	l = l.Finite()
	add("TTFT", l.TTFT)
	add("TPOT", l.TPOT)
	add("request latency", l.Latency)
	return strings.Join(parts, " and ")
}

// InWords is "Usual for chat: TTFT 2000 ms and TPOT 100 ms".
func (u *Usual) InWords() string {
	limits := limitsInWords(u.Limits)
	if limits == "" {
		limits = "no limits"
	}
	return fmt.Sprintf("Usual for %s: %s", strings.Join(u.Uses, " and "), limits)
}

// taken says that the limits were taken, "" where none were.
func (u *Usual) taken() string {
	if u == nil {
		return ""
	}
	out := fmt.Sprintf("%s (%s).", u.InWords(), u.Source)
	if u.Limits.Any() {
		out += " --no-limits plans for throughput only."
	}
	return out
}

// withinInWords are the limits and the statistic they apply to, "" without limits.
func (r *Request) withinInWords() string {
	within := limitsInWords(r.Limits)
	switch {
	case within == "" || r.At() == 0:
	case r.Goodput > 0:
		within += fmt.Sprintf(" for %g %% of the requests", r.At())
	default:
		within += " (" + r.Named() + ")"
	}
	return within
}

// tooMuch reports whether a contender that does not carry the load meets the limits with less of it.
func (r *Request) tooMuch(c *Contender) bool {
	return r.peak() > 0 && (c.Judged.Chance == nil || *c.Judged.Chance >= r.Confidence)
}

// tooSmall is the answer where nothing fits.
func tooSmall(p *Response, why *experiment.NoRoomError) Answer {
	on := cmp.Or(strings.Join(p.Request.Systems, " or "), "this device")
	if p.Request.Devices > 0 {
		on = fmt.Sprintf("%s × %s", units.Thousands(p.Request.Devices), on)
	}
	out := Answer{Sentence: fmt.Sprintf("%s does not fit on %s.", p.Request.Model, on)}
	out.Reason = fmt.Sprintf("On %s, %s.", shortLabel(why.Closest), why.Why)
	return out
}

// missed says that no deployment meets the limits, and what the closest does; or that none carries the load.
func (r *Request) missed(best *Contender, within string) (sentence, reason string) {
	if r.tooMuch(best) {
		unit := "requests"
		if best.Sessions != nil {
			unit = "sessions"
		}
		return fmt.Sprintf("%s at %s %s per second needs more than %s × %s, the maximum of a plan.",
			r.Model, units.Figure(r.peak()), unit, units.Thousands(experiment.MaxDevices), best.System), ""
	}
	j, of := &best.Judged, ""
	if r.At() > 0 {
		of = j.Statistic + " "
	}
	reason = fmt.Sprintf("The closest is %s on %s, %s: TTFT %s%s ms, TPOT %s%s ms.", best.EngineTitle, best.System, best.Deployment,
		of, units.Figure(j.TTFT.Zero().Value), of, units.Figure(j.TPOT.Zero().Value))
	if r.Limits.Finite().Latency > 0 {
		reason = strings.TrimSuffix(reason, ".") + fmt.Sprintf(", request latency %s%s ms.", of, units.Figure(j.Latency.Zero().Value))
	}
	if n := best.Nearest; n != nil {
		reason += " It meets " + nearestInWords(n) + "."
	}
	return fmt.Sprintf("No deployment of %s on %s meets %s.", r.Model, gpusInWords(r, best), within), reason
}

// answerOf puts a plan into words; small is why nothing fits, where nothing does.
func answerOf(p *Response, small *experiment.NoRoomError) Answer {
	r := &p.Request
	within := r.withinInWords()
	if small != nil {
		return tooSmall(p, small)
	}
	if len(p.Contenders) == 0 {
		return Answer{Sentence: "No deployment of " + r.Model + " was found."}
	}
	best := &p.Contenders[0]
	out := Answer{Meets: best.Meets, Nearest: best.Nearest, Certainty: certaintyOf(best.Judged.Chance, r.Statistic), Safe: safeOf(p)}
	if !best.Meets {
		out.Sentence, out.Reason = r.missed(best, within)
		return out
	}
	if within != "" {
		within = " within " + within
	}
	rate, unit := best.RequestRate, "requests"
	if x := best.Sessions; x != nil {
		rate, unit = x.Rate, "sessions"
	}
	if best.Load != nil {
		out.Sentence = fmt.Sprintf("%s at %s %s per second needs %s%s.", r.Model, units.Figure(r.peak()), unit, gpusInWords(r, best), within)
		out.Sentence += carriedInWords(best)
	} else {
		out.Sentence = fmt.Sprintf("%s serve %s at about %s %s per second (%s to %s), which is %s output tokens per second,%s.",
			gpusInWords(r, best), r.Model, units.Figure(rate.Value), unit, units.Figure(rate.Low), units.Figure(rate.High), units.Thousands(int(best.Tokens.Value+0.5)), within)
		out.Sentence = strings.Replace(out.Sentence, ",.", ".", 1)
	}
	out.Sentence += fmt.Sprintf(" Run %s %s: %s.", best.EngineTitle, modeInWords(best.Mode), best.Deployment)
	if c := best.Cost; c != nil {
		out.Sentence += fmt.Sprintf(" It costs about $%s per million output tokens, $%s per month.", units.Figure(c.PerMillion.Value), units.Thousands(int(c.PerMonth+0.5)))
	}
	out.AgainstAPI = r.againstAPI(best)
	if x := best.Sessions; x != nil {
		out.Sentence += x.inWords(r.Statistic)
	}
	if best.CachedShare > 0 {
		out.Sentence += fmt.Sprintf(" The prefix cache holds %.1f %% of prompt tokens.", 100*best.CachedShare)
	}
	out.Reason = reasonOf(best, r.Statistic)
	if d := p.Drafting; d != nil {
		out.Reason += " " + d.inWords()
	}
	return out
}

// carriedInWords is the capacity of a contender and the share of it that the load takes.
func carriedInWords(c *Contender) string {
	carry := "They carry"
	switch {
	case c.Spare > 0:
		carry = fmt.Sprintf("With %s down they carry", units.Counted(c.Spare, "replica"))
	case c.GPUs == 1:
		carry = "It carries"
	}
	r := c.Capacity.RequestRate
	if x := c.Sessions; x != nil {
		r = *x.Capacity
	}
	return fmt.Sprintf(" %s about %s (%s to %s); this load is %.0f %% of that.", carry, units.Figure(r.Value), units.Figure(r.Low), units.Figure(r.High), 100**c.Load)
}

// Help is what a change that helps comes to: "1 replica of TP=8, 4.2 requests/s, $3.1 per million output tokens, $58,400 per month".
func (c *Change) Help() string {
	parts := []string{c.Deployment}
	if c.RequestRate != nil {
		parts = append(parts, units.Figure(*c.RequestRate)+" requests/s")
	}
	if c.PerMillion != nil && c.PerMonth != nil {
		parts = append(parts, "$"+units.Figure(*c.PerMillion)+" per million output tokens", "$"+units.Thousands(int(*c.PerMonth+0.5))+" per month")
	}
	switch {
	case c.Nearest != nil:
		parts = append(parts, "meets "+nearestInWords(c.Nearest))
	case !c.Meets:
		parts = append(parts, "over the limits")
	}
	return strings.Join(parts, ", ")
}

// nearestInWords is "TTFT 120 ms and TPOT 10 ms".
func nearestInWords(l *session.Limits) string {
	var parts []string
	if l.TTFT != nil {
		parts = append(parts, "TTFT "+units.Figure(*l.TTFT)+" ms")
	}
	if l.TPOT != nil {
		parts = append(parts, "TPOT "+units.Figure(*l.TPOT)+" ms")
	}
	if l.Latency != nil {
		parts = append(parts, "request latency "+units.Figure(*l.Latency)+" ms")
	}
	return strings.Join(parts, " and ")
}

func gpusInWords(r *Request, c *Contender) string {
	n := c.GPUsGiven
	if r.Devices > 0 {
		n = r.Devices
	}
	return fmt.Sprintf("%s × %s", units.Thousands(n), c.System)
}

func modeInWords(mode string) string {
	if mode == string(experiment.Disaggregated) {
		return "with prefill and decode on separate workers"
	}
	return "with prefill and decode on the same workers"
}

// limitedBy says what ends the growth of a contender's load, "" where that is not known. With a load of its own a contender is below
// its capacity, which is what has a limit.
func (c *Contender) limitedBy() string {
	alone := map[string]string{
		"memory":                "Limited by memory: the KV cache is full.",
		"TTFT limit":            "Limited by TTFT: more load would exceed the limit.",
		"TPOT limit":            "Limited by TPOT: more load would exceed the limit.",
		"request latency limit": "Limited by request latency: more load would exceed the limit.",
		"saturation":            "Saturated: extra requests only queue.",
	}
	beside := map[string]string{
		"memory":                "The capacity is limited by memory.",
		"TTFT limit":            "The capacity is limited by TTFT.",
		"TPOT limit":            "The capacity is limited by TPOT.",
		"request latency limit": "The capacity is limited by request latency.",
		"saturation":            "Beyond the capacity, requests only queue.",
	}
	if c.Capacity != nil {
		return beside[c.BoundBy]
	}
	return alone[c.BoundBy]
}

// reasonOf says what limits a contender, and how likely it is to meet the limits.
func reasonOf(c *Contender, of workload.Statistic) string {
	out := c.limitedBy()
	switch {
	case c.Judged.Chance == nil:
	case of.Goodput > 0:
		out += fmt.Sprintf(" Probability that %g %% of requests meet all limits: %.0f %%.", of.At(), 100**c.Judged.Chance)
	case of.Percentile > 0:
		out += fmt.Sprintf(" Probability of meeting the limits at %s: %.0f %%.", of.Named(), 100**c.Judged.Chance)
	default:
		out += fmt.Sprintf(" Probability of meeting the limits: %.0f %% for the mean, %.0f %% for the 95th percentile.", 100**c.Judged.Chance, 100**c.P95.Chance)
	}
	return strings.TrimSpace(out)
}

// variation is that of all requests of so many replicas, where that of a plan is of those that reach one: a sum of gamma times is gamma
// again, and its variation is smaller by the root of their number, so that requests dealt out in turn reach each replica as asked.
func (r *Request) variation(replicas int) float64 { return r.Variation * math.Sqrt(float64(replicas)) }

// arrivalFlags are those of a simulation of so many replicas with the same arrivals, ok where it takes them.
func (r *Request) arrivalFlags(replicas int) (flags string, ok bool) {
	switch r.Process {
	case traffic.Gamma:
		all := r.variation(replicas)
		return fmt.Sprintf(" --arrival %v --arrival-variation %.4g", r.Process, all), all <= simulate.MaxVariation
	case traffic.Constant:
		return fmt.Sprintf(" --arrival %v", r.Process), true
	case traffic.Poisson:
	}
	return "", true
}

// arrivalNote says how requests come, where they do not come at random.
func (r *Request) arrivalNote(sessions bool) []string {
	switch {
	case r.Process == traffic.Gamma && sessions:
		return []string{fmt.Sprintf("sessions arrive at gamma-distributed intervals with a coefficient of variation of %g", r.Variation)}
	case r.Process == traffic.Gamma:
		return []string{fmt.Sprintf("requests arrive at each replica at gamma-distributed intervals with a coefficient of variation of %g", r.Variation)}
	case r.Process == traffic.Constant && sessions:
		return []string{"sessions arrive evenly spaced"}
	case r.Process == traffic.Constant:
		return []string{"requests arrive at each replica evenly spaced"}
	}
	return nil
}

// nextOf lists the commands to run next.
func nextOf(p *Response) []Next {
	out := []Next{}
	if len(p.Contenders) == 0 || p.Command == "" {
		return out
	}
	const dir = "plan"
	best := &p.Contenders[0]
	out = append(out,
		Next{"save the report, plan.json and the deployment files", p.Command + " --out " + dir},
		Next{"benchmark the running deployment", "bash " + dir + "/deploy/bench_run.sh"},
	)
	load, ok := fmt.Sprintf("--concurrency %d", best.Concurrency), true
	if best.Load != nil {
		var arrivals string
		arrivals, ok = p.Request.arrivalFlags(best.Found.Copies - best.Spare)
		load = fmt.Sprintf("--rate %g", p.Request.peak()) + arrivals
	}
	if x := p.Request.Workloads; ok && len(x) == 1 && x[0].Input > 0 && x[0].Output > 0 {
		line := fmt.Sprintf("plimsoll simulate --deployment %s/deployment.json %s --input-length %d --output-length %d", dir, load, x[0].Input, x[0].Output)
		if x[0].LengthLow > 0 && x[0].LengthLow != 1 {
			line += fmt.Sprintf(" --length-ratio-low %g", x[0].LengthLow)
		}
		if x[0].Prefix > 0 {
			line += fmt.Sprintf(" --prefix-length %d", x[0].Prefix)
		}
		out = append(out, Next{"simulate another load", line})
	}
	return out
}
