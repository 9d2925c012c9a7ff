package operation

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	opsoptimize "github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	opsplan "github.com/plimsoll-project/plimsoll/internal/ops/plan"
	opssimulate "github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Work is estimated in requests to simulate, of which a core does about 600,000 in a second.
const (
	// maxBrief is the most work of a request that does not queue with searches: some 50 ms of a core.
	maxBrief = 1 << 15
	// aLayout is the evaluation of a layout by formulas, some 3 ms.
	aLayout = 1 << 11
	// aSearch is a search by simulation: from half a second to minutes.
	aSearch = 1 << 20
	// explained is how much more work an explanation is: it repeats the search with small changes.
	explained = 4
	// causes are the assumptions that are simulated to explain a benchmark's result.
	causes = 16
)

// perClient is the requests of a closed loop for each one in flight, unless their number is given; someRequests those of a rate.
const (
	perClient    = 10
	someRequests = 1000
)

// planWork is the work of a plan; a wrong one is refused at once.
func planWork(env *Env, r *opsplan.Request) int {
	if _, _, err := opsplan.Check(env.Session, *r); err != nil {
		return 0
	}
	return aSearch
}

// diffWork is the work of comparing two plans, of which the first is made first.
func diffWork(env *Env, r *DiffRequest) int { return planWork(env, &r.A) }

// filesWork is the work of making files.
func filesWork(env *Env, r *FilesRequest) int {
	if r.Plan != nil {
		return planWork(env, r.Plan)
	}
	return simulated(trafficOf(&r.Request))
}

// trafficOf is the load under which a given deployment is simulated for its files.
func trafficOf(r *deploy.Request) *opssimulate.Traffic {
	return &opssimulate.Traffic{Concurrency: max(1, r.Concurrency)}
}

// simulateWork is the work of a simulation.
func simulateWork(_ *Env, r *opssimulate.Request) int { return simulated(&r.Traffic) }

// checkWork is the work of checking a benchmark's result: what may explain it is simulated.
func checkWork(_ *Env, r *CheckRequest) int { return causes * simulated(&r.Expected.Traffic) }

// lintWork is the work of checking a launch command: changes that may help are simulated under several loads.
func lintWork(_ *Env, r *LintRequest) int {
	if r.Static {
		return 0
	}
	return aSearch
}

// simulated is the number of requests that some traffic simulates.
func simulated(r *opssimulate.Traffic) int {
	turns := 1.0
	for i := range r.Workloads {
		if s := r.Workloads[i].Session; s != nil {
			turns = max(turns, float64(s.Turns))
		}
	}
	return int(min(turns*float64(cmp.Or(r.Requests, perClient*r.Concurrency, someRequests)), math.MaxInt32))
}

// combinations are those of the sizes that are given to a search.
func combinations(s *search.Space) int {
	out := 1
	for _, sizes := range [][]int{s.TP, s.EP, s.MoEDP, s.PP, s.DCP, s.MTP} {
		out = min(out*max(1, len(sizes)), math.MaxInt32) // the next product fits
	}
	return out
}

// optimizeWork is the work of a search for layouts; a wrong one is refused at once.
func optimizeWork(env *Env, r *opsoptimize.Request) int {
	full, err := opsoptimize.Check(env.Session, *r)
	if err != nil {
		return 0
	}
	layouts := combinations(&full.Space)
	if full.Space.TP == nil { // all powers of two
		layouts *= bits.Len(uint(max(full.NumDevices, full.PrefillDevices, full.DecodeDevices)))
	}
	out := 0
	for _, name := range full.Devices {
		if d, err := env.Session.Device(name, ""); err != nil || full.Simulates(d) {
			return aSearch
		}
		out += layouts * aLayout
	}
	if full.Explain {
		out *= explained
	}
	return out
}

// explainWork is the work of a search with its reasons.
func explainWork(env *Env, r *opsoptimize.Request) int {
	r.Explain = true
	return optimizeWork(env, r)
}
