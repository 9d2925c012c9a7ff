package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// planWidth is that of the text above and below the tables.
const planWidth = 110

// Plan prints a plan on one page: the answer, the contenders, what would change the
// answer, where time and memory go, and the next commands.
func Plan(w io.Writer, p *plan.Response) {
	texts := []string{p.Answer.Sentence, p.Answer.UsualLimits, p.Answer.Reason}
	if s := p.Answer.Safe; s != nil {
		texts = append(texts, s.Sentence)
	}
	for _, text := range append(texts, p.Answer.AgainstAPI) {
		for _, line := range table.Wrap(text, textWidth(w)) {
			fmt.Fprintln(w, line)
		}
	}
	Ways(w, p)
	planWorkloads(w, p)
	planContenders(w, p)
	planPicture(w, p)
	planSessions(w, p)
	planDay(w, p)
	planChanges(w, p)
	planParts(w, p)
	planNotRun(w, p)
	if len(p.Next) > 0 {
		fmt.Fprintln(w, "\nNext")
		for _, n := range p.Next {
			fmt.Fprintf(w, "  # %s\n  %s\n", n.What, n.Command)
		}
	}
	fmt.Fprintln(w)
	notesOf(w, p.Notes)
	fmt.Fprintln(w, p.Caution)
}

// planWorkloads prints the workloads, unless they are two fixed lengths.
func planWorkloads(w io.Writer, p *plan.Response) {
	if len(p.Workloads) == 1 && p.Workloads[0].Source == "given" {
		return
	}
	fmt.Fprintln(w, "\nRequests")
	for _, x := range p.Workloads {
		name := ""
		if x.Name != "" {
			name = x.Name + ", "
		}
		fmt.Fprintf(w, "  %s%.0f %%: mean of %s input and %s output tokens (%s)\n", name, 100*x.Share, units.Figure(x.Input), units.Figure(x.Output), x.Source)
	}
}

// planContenders prints the table of contenders.
func planContenders(w io.Writer, p *plan.Response) {
	if len(p.Contenders) == 0 {
		return
	}
	rate, capacity, at, where := []string{">requests/s"}, []string(nil), "", " at capacity"
	if p.Contenders[0].Load != nil {
		rate, capacity, at, where = []string{">at your load: requests/s", ">in flight"}, []string{">capacity: requests/s", ">in flight"}, "at your load: ", ""
	}
	fmt.Fprintf(w, "\nContenders%s, by %s (80 %% intervals in brackets)\n", where, p.RankedBy)
	of, other, limits := "", "p95", []string{">P(limits): mean", ">p95"}
	if p.Request.At() > 0 { // means are details
		of, other, limits = p.Request.Named()+" ", "mean", []string{">P(limits): " + p.Request.Named()}
	}
	shown := shownContenders(p)
	scaled := scaledColumn(p, shown)
	first := table.New("", "system", "engine", "mode", "deployment", ">GPUs", at+"tokens/s/GPU", "TTFT "+of+"ms", "TPOT "+of+"ms")
	second := table.New(slices.Concat([]string{""}, rate, []string{">TTFT " + other, ">TPOT " + other}, limits, []string{">requests", ">J/token", "$/M tokens", ">$/request", ">$/month"}, scaled, capacity)...)
	for k, i := range shown {
		c := &p.Contenders[i]
		if k > 0 && !c.Meets && p.Contenders[shown[k-1]].Meets {
			first.Rule()
			second.Rule()
		}
		ttft, tpot, chances := c.P95.TTFT, c.P95.TPOT, []string{probability(c.Judged.Chance), probability(c.P95.Chance)}
		if of != "" {
			ttft, tpot, chances = c.Mean.TTFT, c.Mean.TPOT, chances[:1]
		}
		each := "–"
		if tpot != nil {
			each = units.Figure(tpot.Value)
		}
		mark := strconv.Itoa(i + 1)
		if !c.Meets {
			mark += " over the limits"
		}
		first.Row(mark, c.System, c.InRelease(), c.Mode, c.Deployment, c.GPUs, bracketed(c.TokensPerGPU), bracketed(c.Judged.TTFT.Zero()), bracketed(c.Judged.TPOT.Zero()))
		cost := costCells(c.Cost, len(scaled))
		load, carried := []string{units.Figure(c.RequestRate.Value)}, []string(nil)
		if m := c.Capacity; m != nil {
			load, carried = append(load, strconv.Itoa(c.Concurrency)), []string{bracketed(m.RequestRate), strconv.Itoa(m.Concurrency)}
		}
		second.Row(mark, load, units.Figure(ttft.Zero().Value), each, chances, probability(c.GoodShare), joules(c.Energy), cost, carried)
	}
	put(w, first.Least("mode", "TPOT "+of+"ms", "TTFT "+of+"ms"), "  ")
	fmt.Fprintln(w)
	put(w, second.Least("$/request", "J/token", "requests", "TTFT "+other, "TPOT "+other, "in flight"), "  ")
	if n := len(p.Contenders) - len(shown); n > 0 {
		fmt.Fprintf(w, "  %d more in the record (--json, --out): other engines, modes and systems\n", n)
	}
	planSources(w, p, shown)
}

// scaledColumn is the cost of a month whose GPUs follow the load, of plans for a day; nil for others.
func scaledColumn(p *plan.Response, shown []int) []string {
	if slices.ContainsFunc(shown, func(i int) bool { return p.Contenders[i].Cost != nil && p.Contenders[i].Cost.Scaled != nil }) {
		return []string{">$/month scaled"}
	}
	return nil
}

// costCells are the cells of a contender's cost, with a number of further ones for that of a day.
func costCells(k *plan.Cost, scaled int) []string {
	cells := []string{"–", "–", "–", "–"}
	if k != nil {
		cells = []string{bracketed(k.PerMillion), units.Figure(k.PerRequest.Value), units.Thousands(int(k.PerMonth + 0.5)), "–"}
		if k.Scaled != nil {
			cells[3] = units.Thousands(int(*k.Scaled + 0.5))
		}
	}
	return cells[:3+scaled]
}

// shownContenders are the indices of the contenders that fit a page: all for one or two systems, otherwise the best of each.
func shownContenders(p *plan.Response) []int {
	const most, few = 20, 2
	var all, best []int
	systems := map[string]bool{}
	for i := range p.Contenders {
		c := &p.Contenders[i]
		if !systems[c.System] {
			best = append(best, i)
		}
		systems[c.System] = true
		all = append(all, i)
	}
	if len(systems) <= few {
		return all[:min(most, len(all))]
	}
	return best[:min(most, len(best))]
}

// planSources prints the sources of prices and intervals, once each.
func planSources(w io.Writer, p *plan.Response, shown []int) {
	var said []string
	say := func(line string) {
		if !slices.Contains(said, line) {
			said = append(said, line)
			fmt.Fprintln(w, "  "+line)
		}
	}
	for _, i := range shown {
		if k := p.Contenders[i].Cost; k != nil {
			line := fmt.Sprintf("$%s per %s-hour: %s", units.Figure(k.PerGPUHour), p.Contenders[i].System, k.Source)
			if k.Apart != "" {
				line += "; not ranked by price, " + k.Apart
			}
			say(line)
		}
	}
	for _, i := range shown {
		if k := p.Contenders[i].Cost; k != nil && k.Energy > 0 {
			say(fmt.Sprintf("costs include energy at $%s per kWh: $%s per million output tokens (%.1f %%) for %s",
				units.Figure(k.EnergyPrice), units.Figure(k.Energy), 100*k.Energy/k.PerMillion.Value, p.Contenders[i].Name))
			break
		}
	}
	for i, line := range table.Wrap("intervals for #1 are based on "+p.Contenders[0].Basis, textWidth(w)-4) {
		if i > 0 {
			line = "  " + line
		}
		say(line)
	}
}

// joules is the energy per output token.
func joules(e *simulate.Energy) string {
	if e == nil {
		return "–"
	}
	return units.Figure(e.PerToken.Value)
}

func bracketed(r figures.Estimate) string {
	if r.Value == 0 {
		return "–"
	}
	if r.Low == r.High {
		return units.Figure(r.Value)
	}
	return fmt.Sprintf("%s (%s–%s)", units.Figure(r.Value), units.Figure(r.Low), units.Figure(r.High))
}

func probability(x *float64) string {
	if x == nil {
		return "–"
	}
	return percentage(*x)
}

// planSessions prints what contenders do with sessions.
func planSessions(w io.Writer, p *plan.Response) {
	if len(p.Contenders) == 0 || p.Contenders[0].Sessions == nil {
		return
	}
	fmt.Fprintln(w, "\nSessions (times are sums over the requests of a session, without think time)")
	head := []string{"", ">sessions/s", ">in cache", ">in host memory", "seconds: mean", ">p95"}
	percentile := p.Request.At()
	asked := percentile > 0 && percentile != 95
	if asked {
		head = append(head, fmt.Sprintf(">p%g", percentile))
	}
	t := table.New(append(head, "$/session")...)
	for _, i := range shownContenders(p) {
		c := &p.Contenders[i]
		x := c.Sessions
		if x == nil {
			continue
		}
		seconds := func(r figures.Estimate) figures.Estimate {
			return figures.Estimate{Value: r.Value / 1e3, Low: r.Low / 1e3, High: r.High / 1e3}
		}
		cells := []string{units.Figure(x.Time95 / 1e3)}
		if asked && x.TimeAt != nil {
			cells = append(cells, units.Figure(*x.TimeAt/1e3))
		}
		t.Row(i+1, units.Figure(x.Rate.Value), pc(x.CachedShare), pc(x.HostShare), bracketed(seconds(x.Time)), cells, bracketed(x.PerSession.Zero()))
	}
	put(w, t, "  ")
}

// planPicture prints the workers of the first contender on their nodes.
func planPicture(w io.Writer, p *plan.Response) {
	if len(p.Contenders) == 0 {
		return
	}
	best := &p.Contenders[0]
	nodes := best.Placement()
	if nodes == nil {
		return
	}
	fmt.Fprintf(w, "\nDeployment on %s of %s (■ = 1 GPU)\n", units.Counted(len(nodes), "node"), units.Counted(best.NodeGPUs, "GPU"))
	const most = 8
	for i, node := range nodes[:min(most, len(nodes))] {
		fmt.Fprintf(w, "  node %d ", i+1)
		for _, x := range node {
			fmt.Fprintf(w, " [%s %d %s]", roleWord(string(x.Role)), x.Number, strings.Repeat("■", x.GPUs))
		}
		fmt.Fprintln(w)
	}
	if n := len(nodes) - most; n > 0 {
		fmt.Fprintf(w, "  %s more\n", units.Counted(n, "node"))
	}
	planLinks(w, best, len(nodes))
}

// planLinks prints the links between GPUs and nodes, and the way of a request.
func planLinks(w io.Writer, c *plan.Contender, nodes int) {
	if l := c.Within(); l != nil {
		fmt.Fprintf(w, "  in a node: %s, %s GB/s per GPU\n", l.Name, units.Figure(l.BandwidthGBs))
	}
	if l := c.Between(nodes); l != nil {
		fmt.Fprintf(w, "  between nodes: %s, %s GB/s per GPU\n", l.Name, units.Figure(l.BandwidthGBs))
	}
	if len(c.Run.Pools) < 2 {
		return
	}
	fmt.Fprintln(w, "  requests → router → prefill ═ KV cache ⇒ decode → tokens")
	if f := c.KVFlow; f != nil {
		fmt.Fprintf(w, "  KV cache %s MB per request, %s GB/s, %s\n", units.Figure(f.PerRequest), units.Figure(f.PerSecond), f.Link)
	}
}

// roleWord is the word for the workers of a role.
func roleWord(role string) string {
	if role == "both" {
		return "replica"
	}
	return role
}

// planDay prints the GPUs over a day.
func planDay(w io.Writer, p *plan.Response) {
	d := p.Day
	if d == nil {
		return
	}
	fmt.Fprintf(w, "\nOver the day\n  GPUs for each of %d parts: %s\n", len(d.GPUs), strings.Trim(fmt.Sprint(d.GPUs), "[]"))
	fmt.Fprintf(w, "  %s on average", units.Figure(d.Mean))
	if k := p.Contenders[0].Cost; k != nil && k.Scaled != nil {
		fmt.Fprintf(w, ": $%s per month if GPUs scale with the load, $%s if all stay", units.Thousands(int(*k.Scaled+0.5)), units.Thousands(int(k.PerMonth+0.5)))
	}
	fmt.Fprintln(w)
	planSchedule(w, d)
}

// planSchedule prints the replicas that follow the load and what they save.
func planSchedule(w io.Writer, d *plan.Day) {
	if len(d.Schedule) < 2 {
		return // nothing changes
	}
	fmt.Fprintf(w, "  schedule, with replicas that start %s s before they are needed:\n", units.Figure(d.ColdStart))
	const most = 24
	t := table.New("from", "until", ">replicas", ">GPUs")
	for _, s := range d.Schedule[:min(most, len(d.Schedule))] {
		t.Row(s.From, s.Until, s.Replicas, s.GPUs)
	}
	put(w, t, "  ")
	if n := len(d.Schedule) - most; n > 0 {
		fmt.Fprintf(w, "  %d more in the record (--json, --out)\n", n)
	}
	fmt.Fprintf(w, "  %s GPU-hours per day instead of %s: saves %s", units.Figure(d.Hours), units.Figure(d.Hours+d.SavedHours), units.Figure(d.SavedHours))
	if d.SavedPerDay != nil {
		fmt.Fprintf(w, ", $%s per day, $%s per month", units.Thousands(int(*d.SavedPerDay+0.5)), units.Thousands(int(*d.SavedPerMonth+0.5)))
	}
	fmt.Fprintln(w)
}

// Ways prints what would help where nothing fits or meets the limits, each with the command of its plan.
func Ways(w io.Writer, p *plan.Response) {
	if p.Answer.Meets || len(p.Changes) == 0 {
		return
	}
	if len(p.Contenders) > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "What would help")
	for i := range p.Changes {
		c := &p.Changes[i]
		fmt.Fprintf(w, "  %s: %s\n    %s\n", c.What, c.Help(), c.Command)
	}
}

// planChanges prints what would change the answer.
func planChanges(w io.Writer, p *plan.Response) {
	if len(p.Changes) == 0 || !p.Answer.Meets {
		return
	}
	best := &p.Contenders[0]
	fmt.Fprintf(w, "\nWhat would change the answer (%s, %s)\n", best.InRelease(), best.Mode)
	size := ">tokens/s/GPU"
	if best.Load != nil {
		size = ">GPUs"
	}
	t := table.New("change", ">by", size, ">$/M tokens", "")
	for i := range p.Changes {
		c := &p.Changes[i]
		by, value, cost, note := "–", "–", "–", c.Deployment
		switch {
		case c.Failure != "":
			note = c.Failure
		case !c.Meets:
			note = "does not meet the limits"
		case best.Load != nil:
			value = strconv.Itoa(*c.GPUs)
		default:
			value = units.Figure(*c.TokensPerGPU)
		}
		if c.Ratio != nil {
			by = ratio(*c.Ratio)
			if c.WithinError {
				note += " (within error)"
			}
		}
		if c.PerMillion != nil {
			cost = units.Figure(*c.PerMillion)
		}
		t.Row(c.What, by, value, cost, note)
	}
	put(w, t, "  ")
}

// planParts prints where the time of a step and the memory of a device go.
func planParts(w io.Writer, p *plan.Response) {
	if len(p.Pools) == 0 {
		return
	}
	fmt.Fprintln(w, "\nWhere time and memory go")
	const most = 4
	for i := range p.Pools {
		pool := &p.Pools[i]
		for k := range pool.Steps {
			s := &pool.Steps[k]
			ops := slices.Clone(s.Operators)
			slices.SortStableFunc(ops, func(a, b estimate.Operator) int { return cmp.Compare(b.Share, a.Share) })
			var parts []string
			for _, o := range ops[:min(most, len(ops))] {
				parts = append(parts, fmt.Sprintf("%s %.0f %%", o.Name, 100*o.Share))
			}
			fmt.Fprintf(w, "  %s step: %s ms in kernels: %s; data-sheet limit %.0f %%\n", s.Phase, units.Figure(s.Time.Ms()), strings.Join(parts, ", "), 100*s.LimitShare)
		}
	}
	last := &p.Pools[len(p.Pools)-1]
	m := &last.Memory
	fmt.Fprintf(w, "  memory of a decode GPU: %s GiB weights, %s GiB KV cache (%s tokens, peak use %.0f %%), %s GiB activations, of %s GiB\n",
		units.Figure(m.Weights.GiB()), units.Figure(m.KV.GiB()), units.Thousands(last.KVTokens), 100*last.KVPeak, units.Figure(m.Activation.GiB()), units.Figure(m.Memory.GiB()))
}

// planNotRun prints the combinations that were not compared.
func planNotRun(w io.Writer, p *plan.Response) {
	if len(p.NotRun) == 0 {
		return
	}
	fmt.Fprintln(w, "\nNot compared")
	for _, n := range p.NotRun {
		fmt.Fprintf(w, "  %s %s %s: %s\n", n.System, n.Engine, n.Mode, n.Reason)
	}
}
