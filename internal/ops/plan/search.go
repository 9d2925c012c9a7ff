package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/cost/money"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Found is the best deployment that the search of one system, engine and mode found.
type Found struct {
	Experiment experiment.Experiment // complete
	experiment.Option

	// Meets says that the limits are met with the confidence asked for. Where they are
	// not, the option is the nearest one, and Nearest are limits that it meets.
	Meets    bool
	Nearest  workload.Limits
	Experts  bool
	Tier     device.Tier
	Cost     money.Cost
	NodeGPUs int // of a server
	Links    []device.LinkFacts
	Price    device.Price // of a device; Apart says that it is of another class than that of the comparison
	Apart    bool
	Frontier []experiment.Speed
	Notes    []string
	// Day is the schedule of a load over a day, nil without one; Scaled is what a month of it costs.
	Day    *Day
	Scaled float64

	Score float64 // of the search

	RankCost float64 // what it is ranked by where that is a cost, see [RankedBy.rank]
}

// Run compares systems, engines and modes by simulation, and says what the best
// deployment carries, what it costs and what would change the answer.
func Run(ctx context.Context, w *session.Session, r Request) (*Response, error) {
	usual := r.Usual()
	p, k, err := start(w, &r)
	if err != nil {
		return nil, err
	}
	p.show = w.Partial
	out, err := p.compare(ctx, true)
	if err != nil {
		return nil, err
	}
	out.Workloads = append(out.Workloads, k.About...)
	if err := p.detail(ctx, out); err != nil {
		return nil, err
	}
	if err := p.beside(ctx, out); err != nil {
		return nil, err
	}
	if !r.NoChanges {
		if err := p.changes(ctx, out); err != nil {
			return nil, err
		}
	}
	out.Answer = answerOf(out, p.small)
	out.Answer.UsualLimits = usual.taken()
	return session.Finish(ctx, out, nil)
}

// best is the first contender of a plan, without what is said of it; nil if nothing fits.
func best(ctx context.Context, w *session.Session, r Request) (*Found, error) {
	p, _, err := start(w, &r)
	if err != nil {
		return nil, err
	}
	out, err := p.compare(ctx, false)
	if err != nil || len(out.Contenders) == 0 {
		return nil, err
	}
	return session.Finish(ctx, &out.Contenders[0].Found, nil)
}

// start completes a request, and reads its workloads.
func start(w *session.Session, r *Request) (*planning, *session.Kinds, error) {
	w, err := Given(w, r)
	if err != nil {
		return nil, nil, err
	}
	if w.Memo == nil { // contenders and changes share prices of steps and trials
		w.Memo = &session.Memo{}
	}
	if err := complete(w, r); err != nil {
		return nil, nil, err
	}
	k, err := w.Kinds(r.Workloads)
	if err != nil {
		return nil, nil, err
	}
	return &planning{
		world: w.Quiet(), r: r, recalls: k.Sessions != nil,
		done: counter{tell: w.Tell, what: "searches"},
	}, k, nil
}

// planning is a plan in progress.
type planning struct {
	world *session.Session // without progress: that of single simulations says nothing
	r     *Request
	// recalls says that what prompts find in caches depends on those before them.
	recalls bool
	small   *experiment.NoRoomError                         // why nothing fits, where nothing does
	show    func(look func() (response any, left []string)) // nil if nobody looks at what is found meanwhile
	done    counter                                         // of searches: the contenders', then those of the changes
}

// noRoom is the first failure for lack of memory; nil if there is none.
func noRoom(failed []error) *experiment.NoRoomError {
	for _, err := range failed {
		if x, ok := errors.AsType[*experiment.NoRoomError](err); ok {
			return x
		}
	}
	return nil
}

// compare finds the best deployment of every system, engine and mode, and ranks them; with their trade-offs if those are wanted.
func (p *planning) compare(ctx context.Context, frontier bool) (*Response, error) {
	all, err := experiments(p.world, p.r)
	if err != nil {
		return nil, err
	}
	c := &comparison{planning: p, all: all, found: make([]*Found, len(all)), failed: make([]error, len(all)), ended: make([]bool, len(all))}
	if p.show != nil {
		p.show(c.look)
	}
	p.done.more("comparing systems, engines and modes", len(all))
	together := p.together(all)
	err = pool.Each(ctx, len(together), experiment.AtATime, func(i int) {
		from, to := together[i][0], together[i][1]
		found, failed := p.contenders(ctx, all[from:to], frontier)
		for k := range found {
			c.end(from+k, found[k], failed[k])
			p.done.add()
		}
	})
	if err != nil {
		return nil, err
	}
	if err = experiment.Failed(all, c.failed); err != nil {
		if p.small = noRoom(c.failed); p.small == nil || pool.Bug(c.failed...) != nil {
			return nil, err
		}
	}
	return c.response(), nil
}

// comparison is the search for the best deployment of every system, engine and mode.
type comparison struct {
	*planning

	all []experiment.Experiment

	mu     sync.Mutex // guards what follows
	found  []*Found   // nil where another engine or mode of the system is better, and only the best is wanted
	failed []error
	ended  []bool
}

// end keeps the result of a search.
func (c *comparison) end(i int, x *Found, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found[i], c.failed[i], c.ended[i] = x, err, true
}

// look is the answer as far as it is known, and the searches that are left.
func (c *comparison) look() (response any, left []string) {
	c.mu.Lock()
	for i := range c.all {
		if !c.ended[i] {
			left = append(left, label(&c.all[i]))
		}
	}
	c.mu.Unlock()
	out := c.response()
	if len(out.Contenders) == 0 {
		return nil, left
	}
	out.Answer = answerOf(out, nil)
	return out, left
}

// label names an experiment as its contender is named.
func label(e *experiment.Experiment) string {
	return strings.Join([]string{e.System, InRelease(e.Engine.Name, e.Engine.Version), string(e.Mode)}, " ")
}

// response is the answer from the searches that have ended: contenders in their order, and what cannot be run.
func (c *comparison) response() *Response {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, out := c.planning, newResponse(*c.r)
	var ranked []Found
	for i := range c.all {
		switch e := &c.all[i]; {
		case !c.ended[i]:
		case c.failed[i] != nil:
			out.NotRun = append(out.NotRun, NotRun{e.System, InRelease(e.Engine.Name, e.Engine.Version), string(e.Mode), c.failed[i].Error()})
		case c.found[i] != nil:
			ranked = append(ranked, *c.found[i])
		}
	}
	class := classOf(ranked)
	for i := range ranked {
		ranked[i].Apart = ranked[i].Cost.USDPerHour > 0 && ranked[i].Price.Class != class
	}
	out.RankedBy = p.order(ranked)
	out.RankedBy.rank(ranked)
	if many(p.r) {
		ranked = firsts(ranked)
		out.Notes = append(out.Notes, fmt.Sprintf("showing the best engine and mode of each of %d systems; a plan of up to %d systems shows all", len(p.r.Systems), fewSystems))
	}
	for i := range ranked {
		c := newContender(&ranked[i])
		if c.Cost != nil {
			c.Cost.API = c.against(p.r.API)
		}
		out.Contenders = append(out.Contenders, c)
	}
	if len(ranked) > 0 {
		out.Notes = append(out.Notes, p.r.arrivalNote(out.Contenders[0].Sessions != nil)...)
		out.Notes = append(out.Notes, ranked[0].Notes...)
	}
	return out
}

// fewSystems is of how many systems every engine and mode is shown; of more the best one of each.
const fewSystems = 8

// many says that only the best engine and mode of each system is wanted.
func many(r *Request) bool { return len(r.Systems) > fewSystems }

// together are the ranges of experiments that are searched together, as only the best of them is wanted: of many systems those of one.
func (p *planning) together(all []experiment.Experiment) [][2]int {
	var out [][2]int
	for i := range all {
		if i == 0 || !many(p.r) || all[i].System != all[i-1].System {
			out = append(out, [2]int{i, i})
		}
		out[len(out)-1][1] = i + 1
	}
	return out
}

// firsts are the first of each system.
func firsts(ranked []Found) []Found {
	seen := map[string]bool{}
	return slices.DeleteFunc(ranked, func(c Found) bool {
		again := seen[c.Experiment.System]
		seen[c.Experiment.System] = true
		return again
	})
}

// classOf is the class of prices that a comparison is in: the one that most systems have.
func classOf(found []Found) device.PriceClass {
	systems := map[device.PriceClass][]string{}
	for i := range found {
		c := &found[i]
		if all := systems[c.Price.Class]; c.Cost.USDPerHour > 0 && !slices.Contains(all, c.Experiment.System) {
			systems[c.Price.Class] = append(all, c.Experiment.System)
		}
	}
	var out device.PriceClass
	for _, class := range []device.PriceClass{device.Yours, device.OnDemand, device.GPUCloud, device.Reserved, device.Spot} {
		if len(systems[class]) > len(systems[out]) {
			out = class
		}
	}
	return out
}

// priced says that a contender has a price that can be compared.
func (c *Found) priced() bool { return c.Cost.USDPerHour > 0 && !c.Apart }

// order is what contenders are ranked by: by cost where systems with a price differ;
// those without one come after them.
func (p *planning) order(found []Found) RankedBy {
	priced := map[string]bool{}
	for i := range found {
		if found[i].priced() {
			priced[found[i].Experiment.System] = true
		}
	}
	byCost := len(priced) > 1
	switch loads := p.r.peak() > 0; {
	case p.r.Daily != nil && byCost:
		return ByDayCost
	case p.r.Daily != nil:
		return ByHours
	case loads && byCost:
		return ByCost
	case loads:
		return ByDevices
	case byCost:
		return ByTokenCost
	}
	return ByThroughput
}

// rank puts contenders in their order. Systems are compared by what they cost. Of one system, what the search found to be better comes
// first, even if it takes a little more energy: which engine and mode is the best of a system does not depend on the others.
func (o RankedBy) rank(all []Found) {
	slices.SortStableFunc(all, func(a, b Found) int { return cmp.Compare(b.Score, a.Score) })
	most := map[string]float64{}
	for i := range all {
		c := &all[i]
		c.RankCost = o.cost(c)
		if of := c.Experiment.System; c.Meets && o != ByDayCost { // which a schedule decides
			c.RankCost = max(c.RankCost, most[of])
			most[of] = c.RankCost
		}
	}
	slices.SortStableFunc(all, func(a, b Found) int { return o.compare(&a, &b) })
}

// cost is what contenders are ranked by where it is a cost; those without a price that can be compared come after the others.
func (o RankedBy) cost(c *Found) float64 {
	if !c.priced() {
		return math.Inf(1)
	}
	switch o {
	case ByDayCost:
		return c.Scaled
	case ByCost:
		return c.Cost.PerMonth
	case ByTokenCost:
		return c.Cost.PerMillion
	case ByThroughput, ByDevices, ByHours:
	}
	return 0
}

// compare orders contenders: those that meet the limits first, the best of them first;
// of the others, those nearest to the limits.
func (o RankedBy) compare(a, b *Found) int {
	if a.Meets != b.Meets {
		if a.Meets {
			return -1
		}
		return 1
	}
	if !a.Meets {
		return cmp.Compare(a.over(), b.over())
	}
	costs := cmp.Compare(a.RankCost, b.RankCost)
	devices := func() int { return cmp.Compare(a.Used, b.Used) }
	tokens := func() int { return cmp.Compare(b.perDevice(), a.perDevice()) }
	switch o {
	case ByDayCost:
		return cmp.Or(costs, cmp.Compare(a.Day.Hours, b.Day.Hours), tokens())
	case ByHours:
		return cmp.Or(cmp.Compare(a.Day.Hours, b.Day.Hours), devices(), tokens())
	case ByCost:
		return cmp.Or(costs, devices(), tokens())
	case ByDevices:
		return cmp.Or(devices(), tokens())
	case ByTokenCost:
		return cmp.Or(costs, tokens())
	case ByThroughput:
	}
	return tokens()
}

// over is how many times as long as its limit the latency takes that misses it most.
func (c *Found) over() float64 {
	j := search.Judge{Limits: c.Experiment.Limits}
	return j.Over(c.Times)
}

// perDevice is the throughput per device, idle ones included.
func (c *Found) perDevice() float64 { return c.Capacity.Throughput / float64(c.Devices()) }

// Devices is those that are paid for: all there are, or those that a load needs.
func (c *Found) Devices() int { return c.Option.Devices(&c.Experiment) }

// contenders are the best deployments of some experiments on one system, or only the best of all if it meets the limits: the others are
// nil. Each may fail instead. For a day all are found: the schedule decides which one costs least, not the peak that is searched for.
func (p *planning) contenders(ctx context.Context, some []experiment.Experiment, frontier bool) ([]*Found, []error) {
	found, failed := make([]*Found, len(some)), make([]error, len(some))
	if len(some) > 1 && p.r.Daily == nil {
		r, best, why, err := experiment.First(ctx, p.world, p.how(), p.r.load(), some, frontier)
		if r != nil || err != nil {
			if failed = why; err == nil {
				found[best], err = p.contender(ctx, some[best].System, r)
			}
			failed[best] = cmp.Or(failed[best], err)
			return found, failed
		}
	}
	for i := range some {
		r, err := experiment.Find(ctx, p.world, p.how(), p.r.load(), some[i], frontier && p.r.peak() == 0)
		if err == nil {
			found[i], err = p.contender(ctx, some[i].System, r)
		}
		failed[i] = err
	}
	return found, failed
}

// first is the best of some experiments on the same system; an error if none runs.
func (p *planning) first(ctx context.Context, all []experiment.Experiment) (*Found, error) {
	found, failed := p.contenders(ctx, all, false)
	var best *Found
	for _, x := range found {
		if x != nil && (best == nil || p.order(nil).compare(x, best) < 0) {
			best = x
		}
	}
	if best == nil {
		return nil, cmp.Or(failed...)
	}
	return best, nil
}

// how says how experiments are run.
func (p *planning) how() *experiment.How {
	return &experiment.How{Sources: p.r.Sources, Margin: p.r.margin(), Top: 1, Jobs: p.r.Jobs}
}

// contender is the best deployment of an experiment, or the nearest to the limits; with its trade-off if the experiment has one.
func (p *planning) contender(ctx context.Context, system string, r *experiment.Result) (*Found, error) {
	d, err := p.world.Device(system, p.r.DeviceFile)
	if err != nil {
		return nil, err
	}
	out := &Found{Experiment: r.Experiment, Experts: r.Experts, Tier: r.Tier, Frontier: r.Frontier, Notes: r.Notes, Score: r.Score}
	switch {
	case len(r.Rows) > 0:
		out.Option, out.Meets = r.Rows[0], true
	case r.Near != nil:
		out.Option, out.Nearest = *r.Near, r.Nearest
	default:
		return nil, session.BadInput(fmt.Errorf("no deployment of %s fits on %d devices", r.Experiment.Model, r.Experiment.Devices))
	}
	out.Experiment.System, out.NodeGPUs, out.Links = d.Name, d.Node, d.Facts().Links
	out.chosen()
	if err := p.meter(ctx, out); err != nil {
		return nil, err
	}
	out.Cost = p.cost(d, out)
	if p.r.Daily != nil && out.Meets {
		out.Day = p.day(out, d)
		out.Scaled = out.Cost.Month(out.Devices(), out.Day.Mean)
	}
	return out, nil
}
