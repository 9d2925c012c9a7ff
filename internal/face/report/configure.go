package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/draw/scatter"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/draw/termplot"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Configure prints the comparison of experiments in the sections and columns of
// AIConfigurator's guide.
func Configure(w io.Writer, r *configure.Response, v OptimizeView) {
	stars, rule := finalHead(w)
	target(w, r)
	fmt.Fprintln(w, rule)
	overall(w, r)
	if v.Plots {
		fmt.Fprintln(w, rule)
		fmt.Fprintln(w, "  Pareto Frontier:")
		p := termplot.Plot{Chart: paretoChart(r), Width: v.Width, Color: v.Color}
		p.Render(w)
	}
	fmt.Fprintln(w, rule)
	fmt.Fprintln(w, "  Deployment Details:")
	fmt.Fprintln(w, "    (p) is prefill, (d) is decode, bs the batch limit per data-parallel rank; a replica is the smallest unit that is copied")
	fmt.Fprintln(w, "    total gpus used = replicas * gpus/replica")
	fmt.Fprintln(w, "    gpus/replica = (p)gpus/worker * (p)workers + (d)gpus/worker * (d)workers; for agg, gpus/worker")
	fmt.Fprintln(w, "    gpus/worker = tp * pp * dp = etp * ep * pp for MoE models; tp * pp for dense ones")
	finalBlocks(w, stars, r.Results, func(x *experiment.Result) { experimentBlock(w, x, v) })
}

// finalBlocks prints the tables of experiments, closes the frame, and prints the notes of all.
func finalBlocks(w io.Writer, stars string, results []experiment.Result, block func(*experiment.Result)) {
	var notes []string
	for i := range results {
		block(&results[i])
		notes = append(notes, results[i].Notes...)
	}
	fmt.Fprintln(w, stars)
	notesOf(w, notes)
	fmt.Fprintln(w, session.Caution)
}

// finalHead opens AIConfigurator's final results and returns their frame and rule.
func finalHead(w io.Writer) (stars, rule string) {
	stars, rule = strings.Repeat("*", frame), "  "+strings.Repeat("-", frame-4)
	fmt.Fprintf(w, "%s\n*%s*\n%s\n", stars, table.Centre("AIConfigurator Final Results, by Plimsoll", frame-2), stars)
	fmt.Fprintln(w, rule)
	fmt.Fprintln(w, "  Input Configuration & SLA Target:")
	return stars, rule
}

// target prints the request and the best experiment.
func target(w io.Writer, r *configure.Response) {
	said := map[string][]string{}
	var order []string
	for i := range r.Results {
		x := &r.Results[i]
		var text strings.Builder
		asked(&text, &x.Experiment, x.Experts, fmt.Sprintf("Total GPUs: %d", x.Experiment.Devices))
		if said[text.String()] == nil {
			order = append(order, text.String())
		}
		said[text.String()] = append(said[text.String()], x.Experiment.Name)
	}
	for _, text := range order { // experiments that ask the same stand together
		if len(order) > 1 {
			fmt.Fprintf(w, "    %s:\n", strings.Join(said[text], ", "))
		}
		fmt.Fprint(w, text)
	}
	if r.At < 0 {
		fmt.Fprintln(w, "    Best Experiment Chosen: none. NO DEPLOYMENT MEETS THE LIMITS; rows below violate them.")
		violated(w, r.Results)
		return
	}
	best := &r.Results[r.At]
	fmt.Fprintf(w, "    Best Experiment Chosen: %s at %.2f tokens/s/gpu%s\n", best.Experiment.Name, best.Rows[0].PerDevice(&best.Experiment), ahead(r))
}

// asked prints the model, the size or load, the lengths of requests and the limits.
func asked(w io.Writer, e *experiment.Experiment, experts bool, size string) {
	is := map[bool]string{true: "True", false: "False"}
	fmt.Fprintf(w, "    Model: %s (is_moe: %s)\n    %s\n", e.Model, is[experts], size)
	prefix := ""
	if e.Prefix > 0 {
		prefix = fmt.Sprintf(", prefix: %d", e.Prefix)
	}
	whole := ""
	if e.Limits.Latency > 0 {
		whole = fmt.Sprintf(", request latency limit: %s ms", limit(e.Limits.Latency))
	}
	fmt.Fprintf(w, "    ISL: %d, OSL: %d%s, TTFT limit: %s ms, TPOT limit: %s ms%s\n", e.Input, e.Output, prefix, limit(e.Limits.TTFT), limit(e.Limits.TPOT), whole)
}

// violated prints which limit each experiment misses, and the limits that its nearest deployment meets.
func violated(w io.Writer, results []experiment.Result) {
	for i := range results {
		switch x := &results[i]; {
		case x.Near != nil:
			fmt.Fprintf(w, "      %s: %s\n", x.Experiment.Name, nearestOf(x.Near, x.Nearest))
		case x.Failure != "":
			fmt.Fprintf(w, "      %s: %s\n", x.Experiment.Name, x.Failure)
		}
	}
}

// nearestOf is what a deployment over the limits has, and the limits that it meets.
func nearestOf(n *experiment.Option, meets workload.Limits) string {
	var met []string
	if t := meets.TTFT; t > 0 {
		met = append(met, fmt.Sprintf("TTFT %.2f ms", t.Ms()))
	}
	if t := meets.TPOT; t > 0 {
		met = append(met, fmt.Sprintf("TPOT %.2f ms", t.Ms()))
	}
	has := fmt.Sprintf("TTFT %.2f ms and TPOT %.2f ms", n.TTFT.Ms(), n.TPOT.Ms())
	if t := meets.Latency; t > 0 {
		met = append(met, fmt.Sprintf("request latency %.2f ms", t.Ms()))
		has = fmt.Sprintf("TTFT %.2f ms, TPOT %.2f ms and request latency %.2f ms", n.TTFT.Ms(), n.TPOT.Ms(), n.Latency.Ms())
	}
	return fmt.Sprintf("over the %s; the nearest deployment has %s, and meets limits of %s", n.Binds, has, strings.Join(met, " and "))
}

// ahead is the advantage of the better of two experiments.
func ahead(r *configure.Response) string {
	if len(r.Results) != 2 {
		return ""
	}
	best, other := &r.Results[r.At], &r.Results[1-r.At]
	if len(other.Rows) == 0 {
		return fmt.Sprintf(" (%s does not meet the limits)", other.Experiment.Name)
	}
	ratio, within := best.Ahead(other)
	text := fmt.Sprintf(" (%s %.2fx better than %s", best.Experiment.Name, ratio, other.Experiment.Name)
	if within {
		text += ", within error"
	}
	return text + ")"
}

// overall prints the best deployment of all.
func overall(w io.Writer, r *configure.Response) {
	if r.At < 0 {
		fmt.Fprintln(w, "  Overall Best Configuration: none")
		return
	}
	x := &r.Results[r.At]
	o := &x.Rows[0]
	e := &o.Run.Expected
	fmt.Fprintln(w, "  Overall Best Configuration:")
	fmt.Fprintf(w, "    - Best Throughput: %.2f tokens/s/gpu (%s), %.2f tokens/s in all\n", o.PerDevice(&x.Experiment), plusMinus(e.Throughput), o.Throughput)
	fmt.Fprintf(w, "    - User Throughput: %s tokens/s/user\n", dash(o.User()))
	fmt.Fprintf(w, "    - %s: %.2fms (%s)\n", named("TTFT", &x.Experiment), o.TTFT.Ms(), plusMinus(e.TTFT))
	fmt.Fprintf(w, "    - %s: %s\n", named("TPOT", &x.Experiment), tpotOf(o, ""))
	fmt.Fprintf(w, "    - Request Rate: %.2f req/s, %s: %.2fms\n", o.RequestRate, named("Request Latency", &x.Experiment), o.Latency.Ms())
	fmt.Fprintf(w, "    - Within the limits: %s\n", chance(o.Judged.Sure()))
	energyLine(w, o.Energy)
	fmt.Fprintf(w, "    - Intervals (80 %%): %s\n", e.Basis)
}

// named is the name of a time with the percentile that was asked for: TTFT p95.
func named(time string, e *experiment.Experiment) string {
	if e.At() == 0 {
		return time
	}
	return time + " " + e.Named()
}

// tpotOf is the time per output token with its interval.
func tpotOf(o *experiment.Option, space string) string {
	if o.TPOT == 0 {
		return dash(0)
	}
	return fmt.Sprintf("%.2f%sms (%s)", o.TPOT.Ms(), space, plusMinus(o.Run.Expected.TPOT))
}

// energyLine prints the energy and power of the best deployment.
func energyLine(w io.Writer, e *simulate.Energy) {
	if e != nil {
		fmt.Fprintf(w, "    - Energy: %s J per output token (%s), %.1f W per GPU%s\n",
			units.Figure(e.PerToken.Value), plusMinus(e.Error), float64(e.Watts), unmeasured(e.Tier))
	}
}

// paretoChart is throughput of a device against speed for a user.
func paretoChart(r *configure.Response) scatter.Chart {
	c := scatter.Chart{
		Title:  r.Results[0].Experiment.Model + " Pareto Frontier: tokens/s/gpu vs tokens/s/user",
		XLabel: "tokens/s/user", YLabel: "tokens/s/gpu",
	}
	if r.At >= 0 && r.Results[r.At].Rows[0].TPOT > 0 {
		x := &r.Results[r.At]
		o := &x.Rows[0]
		c.Series = append(c.Series, scatter.Series{
			Name: x.Experiment.Name + " best", Points: []scatter.Point{{X: o.User(), Y: o.PerDevice(&x.Experiment), Mark: true}},
		})
	}
	for i := range r.Results {
		s := scatter.Series{Name: r.Results[i].Experiment.Name}
		for _, p := range r.Results[i].Frontier { // marked, so that series differ where there is no colour
			s.Points = append(s.Points, scatter.Point{X: p.User, Y: p.Device, Mark: true})
		}
		if len(s.Points) > 0 {
			c.Series = append(c.Series, s)
		}
	}
	if t := r.Results[0].Experiment.Limits.Finite().TPOT; t > 0 {
		c.Limits = append(c.Limits, scatter.Limit{Name: "TPOT limit", Vertical: true, At: 1 / float64(t)})
	}
	return c
}

// experimentBlock prints the table of an experiment.
func experimentBlock(w io.Writer, x *experiment.Result, v OptimizeView) {
	name := x.Experiment.Name
	switch {
	case x.Failure != "":
		fmt.Fprintf(w, "\n%s: failed: %s\n", name, x.Failure)
		return
	case len(x.Rows) == 0 && x.Near == nil:
		fmt.Fprintf(w, "\nNo configurations for %s met the limits.\n", name)
		return
	}
	rows := x.Rows
	if len(rows) == 0 {
		fmt.Fprintf(w, "\nNo configurations for %s met the limits. Nearest, over the %s:\n", name, x.Near.Binds)
		rows = []experiment.Option{*x.Near}
	} else {
		fmt.Fprintf(w, "\n%s Top Configurations: (Ranked by tokens/s/gpu)\n", name)
	}
	options(w, x, rows, v)
	if set := budgets(rows); set != "" {
		fmt.Fprintf(w, "Token budgets that differ from the engine's default: %s\n", set)
	}
	withoutRow(w, x)
}

// withoutRow lists the layouts that have no row, those with one reason together, and those with a reason of their own first.
func withoutRow(w io.Writer, x *experiment.Result) {
	if len(x.Left) == 0 {
		return
	}
	const lines, each = 6, 4
	var own, kinds []string
	layouts := map[string][]string{}
	for i := range x.Left {
		l := &x.Left[i]
		why, role, reasons := l.Why, "", &own
		if l.Kind != "" {
			why, reasons = l.Kind, &kinds
		}
		if x.Experiment.Mode == experiment.Disaggregated {
			role = map[bool]string{true: "(p)", false: "(d)"}[l.Prefill]
		}
		if layouts[why] == nil {
			*reasons = append(*reasons, why)
		}
		layouts[why] = append(layouts[why], role+parallelOf(&l.Layout, x.Experts))
	}
	fmt.Fprintln(w, "Layouts without a row:")
	for i, why := range slices.Concat(own, kinds) {
		names := layouts[why]
		if i == lines {
			fmt.Fprintf(w, "  and others; --json lists all %d.\n", len(x.Left))
			return
		}
		if more := len(names) - each; more > 0 {
			names = append(names[:each:each], fmt.Sprintf("%d more", more))
		}
		fmt.Fprintf(w, "  %s: %s\n", strings.Join(names, ", "), why)
	}
}

// budgets lists the token budgets that rows set.
func budgets(rows []experiment.Option) string {
	var out []string
	for i := range rows {
		if p := &rows[i].Deployment.Pools[0]; slices.Contains(p.Settings, fmt.Sprintf("token_budget=%d", rows[i].Budget)) {
			out = append(out, fmt.Sprintf("%d (rank %d)", rows[i].Budget, i+1))
		}
	}
	return strings.Join(out, ", ")
}

// options prints deployments in a table; their power only if all have one.
func options(w io.Writer, x *experiment.Result, rows []experiment.Option, v OptimizeView) {
	e := &x.Experiment
	head := append([]string{
		"Rank", "backend", "tokens/s/gpu", "tokens/s/user", "req/s", named("TTFT", e), named("TPOT", e), "in limits", "concurrency", "total_gpus(used)", "replicas",
	}, workersHeader(e.Mode)...)
	powered := !v.NoPower && !slices.ContainsFunc(rows, func(o experiment.Option) bool { return o.Energy == nil })
	if powered {
		head = append(head, "power_w")
	}
	t := table.New(head...)
	for i := range rows {
		o := &rows[i]
		var power []string
		if powered {
			power = []string{fmt.Sprintf("%.1fW", float64(o.Energy.Watts))}
		}
		t.Row(i+1, e.Engine.Name, f2(o.PerDevice(e)), dash(o.User()), f2(o.RequestRate), f2(o.TTFT.Ms()), dash(o.TPOT.Ms()), chance(o.Judged.Sure()),
			fmt.Sprintf("%d(=%dx%d)", o.Concurrency, o.Concurrency/o.Copies, o.Copies),
			fmt.Sprintf("%d (%d=%dx%d)", e.Devices, o.Used, o.Copies, o.Used/o.Copies), o.Copies, workersOf(e.Mode, o, x.Experts), power)
	}
	framed(w, t, 2, v)
}

// workersHeader heads the columns about the workers of a unit.
func workersHeader(m experiment.ServingMode) []string {
	if m == experiment.Aggregated {
		return []string{"gpus/replica", "gpus/worker", "parallel", "bs"}
	}
	return []string{"gpus/replica", "(p)workers", "(p)gpus/worker", "(p)parallel", "(p)bs", "(d)workers", "(d)gpus/worker", "(d)parallel", "(d)bs"}
}

// workersOf are the columns about the workers of a unit.
func workersOf(m experiment.ServingMode, o *experiment.Option, experts bool) []string {
	d, each := &o.Deployment.Pools[len(o.Deployment.Pools)-1], o.Used/o.Copies
	if m == experiment.Aggregated {
		return []string{strconv.Itoa(each), gpusOf(d, experts), parallelOf(&d.Layout, experts), strconv.Itoa(o.Batch)}
	}
	p := &o.Deployment.Pools[0]
	return []string{
		fmt.Sprintf("%d (=%dx%d+%dx%d)", each, o.X, p.Layout.Devices, o.Y, d.Layout.Devices),
		strconv.Itoa(o.X), gpusOf(p, experts), parallelOf(&p.Layout, experts), strconv.Itoa(o.Prompts),
		strconv.Itoa(o.Y), gpusOf(d, experts), parallelOf(&d.Layout, experts), strconv.Itoa(o.Batch),
	}
}

// gpusOf is the devices of a worker as the guide writes them.
func gpusOf(p *deployment.Pool, experts bool) string {
	l := &p.Layout
	if experts {
		return fmt.Sprintf("%d (=%dx%dx%d)", l.Devices, l.TP, l.PP, l.DP)
	}
	return fmt.Sprintf("%d (=%dx%d)", l.Devices, l.TP, l.PP)
}

// parallelOf is the layout of a worker as the guide writes it.
func parallelOf(l *parallel.Layout, experts bool) string {
	if experts {
		return fmt.Sprintf("tp%dpp%ddp%detp%dep%d", l.TP, l.PP, l.DP, l.MoETP, l.EP)
	}
	return fmt.Sprintf("tp%dpp%d", l.TP, l.PP)
}

// Generated prints a deployment made without a search.
func Generated(w io.Writer, r *configure.Response, v OptimizeView) {
	x := &r.Results[0]
	o := &x.Rows[0]
	e := &x.Experiment
	fmt.Fprintf(w, "%s on %d × %s under %s, without a search\n", e.Model, o.Used, e.System, e.Engine.Name)
	fmt.Fprintf(w, "TTFT %.2f ms (%s), TPOT %s, %.2f tokens/s/gpu at %d concurrent requests of %d and %d tokens\n",
		o.TTFT.Ms(), plusMinus(o.Run.Expected.TTFT), tpotOf(o, " "), o.PerDevice(e), o.Concurrency, e.Input, e.Output)
	options(w, x, x.Rows[:1], OptimizeView{Color: v.Color, NoPower: true})
	notesOf(w, x.Notes)
	fmt.Fprintln(w, "Feasible, not optimised. \"plimsoll cli default\" finds the best deployment.")
	fmt.Fprintln(w, session.Caution)
}
