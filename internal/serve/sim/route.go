package sim

import (
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// Routing chooses the replica for a request.
type Routing int

const (
	// RoundRobin goes through the replicas in turn.
	RoundRobin Routing = iota
	// LeastLoaded takes the replica with the fewest requests that have not left
	// it, the first among equals.
	LeastLoaded
	// BySession sends all turns of a session to one replica, by a hash of its number; requests without a session go to
	// the least loaded. vLLM's production stack with session routing.
	BySession
	// ByPrefix sends a request to the replica with the most of its prompt. vLLM's production stack
	// with prefix-aware routing.
	ByPrefix
	// LLMD weighs what a replica has of the prompt against its load as llm-d's scheduler does.
	LLMD
	// Dynamo does so as Dynamo's KV router.
	Dynamo
	// SGLang does so as SGLang's router.
	SGLang
)

// RoutingNames are the names of all routings, in the order of their values.
func RoutingNames() []string {
	return []string{"round-robin", "least-loaded", "session", "prefix", "llm-d", "dynamo", "sglang"}
}

// RoutingNamed is the routing of a name; "" is round robin.
func RoutingNamed(name string) (Routing, bool) {
	if name == "" {
		return RoundRobin, true
	}
	i := slices.Index(RoutingNames(), name)
	return Routing(max(0, i)), i >= 0
}

// String names the routing.
func (r Routing) String() string {
	if names := RoutingNames(); r >= 0 && int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("routing %d", int(r))
}

// Router chooses the replica for a request. A new routing is a type with this method, a value of [Routing] with its name, and a case in
// [Routing.router].
type Router interface {
	// Route is the index of the replica that takes the request. Beside queues it may look at what the caches have of the prompt, as
	// of the last run of steps that has ended.
	Route(q *server.Request, replicas []server.Replica) int
}

// router is a new router of a kind for a pool.
func (r Routing) router(requests *traffic.Source) Router {
	switch r {
	case RoundRobin:
		return new(roundRobin)
	case LeastLoaded:
		return leastLoaded{}
	case BySession:
		return bySession{requests}
	default:
		a := r.affinity()
		return &a
	}
}

// roundRobin goes through the replicas in turn.
type roundRobin struct{ turn int }

// Route implements [Router].
func (r *roundRobin) Route(_ *server.Request, replicas []server.Replica) int {
	at := r.turn
	if r.turn++; r.turn == len(replicas) {
		r.turn = 0
	}
	return at
}

// leastLoaded takes the fewest requests.
type leastLoaded struct{}

// Route implements [Router].
func (leastLoaded) Route(_ *server.Request, replicas []server.Replica) int {
	at := 0
	for i := range replicas {
		if replicas[i].Assigned() < replicas[at].Assigned() {
			at = i
		}
	}
	return at
}

// bySession sends the turns of a session to one replica.
type bySession struct{ requests *traffic.Source }

// Route implements [Router].
func (b bySession) Route(q *server.Request, replicas []server.Replica) int {
	if q.Conversation == 0 {
		return leastLoaded{}.Route(q, replicas)
	}
	return int(b.requests.SessionHash(q) % uint64(len(replicas)))
}

// affinity is a routing that knows which prompts the replicas have in their prefix caches. It takes the replica with the
// lowest cost: the weighted sum of what it would have to compute of the prompt, what waits there and what its requests hold.
// Among equals it takes the least loaded, then the first; where no replica has a prefix cache the least loaded.
type affinity struct {
	// tokens says that all are counted in tokens. Otherwise they are shares: of the prompt, of the way from the shortest
	// to the longest queue, and of the KV blocks.
	tokens                bool
	miss, waits, occupied float64
	// Unless a replica has so large a share of the prompt, the least loaded is taken.
	minShare float64
	// So is it where the largest and the smallest load differ by more than maxGap requests and by more than the ratio;
	// 0 is no such rule.
	maxGap   int
	maxRatio float64
}

// affinity has the defaults of the routers. All look at the state of the caches; routers that only remember what they have sent
// where know a little less.
func (r Routing) affinity() affinity {
	switch r {
	case LLMD:
		// Weights of the default profile: prefix-cache-scorer 3, queue-scorer 2, kv-cache-utilization-scorer 2
		// (llm-d and the Gateway API Inference Extension it builds on).
		return affinity{miss: 3, waits: 2, occupied: 2}
	case Dynamo:
		// cost = weight · prefill blocks + decode blocks, with --router-kv-overlap-score-weight 1 and temperature 0
		// (docs.nvidia.com/dynamo, KV Router).
		return affinity{tokens: true, miss: 1, waits: 1, occupied: 1}
	case SGLang:
		// cache_threshold 0.3, balance_abs_threshold 64, balance_rel_threshold 1.5 (sgl-router, router_args.py).
		return affinity{miss: 1, minShare: 0.3, maxGap: 64, maxRatio: 1.5}
	default:
		return affinity{miss: 1}
	}
}

// Route implements [Router].
func (a *affinity) Route(q *server.Request, replicas []server.Replica) int {
	least := leastLoaded{}.Route(q, replicas)
	if !replicas[0].KV().Remembers() {
		return least
	}
	low, high := replicas[least].Assigned(), 0
	shortest, longest := replicas[0].Queued(), 0
	for i := range replicas {
		r := &replicas[i]
		high = max(high, r.Assigned())
		shortest, longest = min(shortest, r.Queued()), max(longest, r.Queued())
	}
	if a.maxGap > 0 && high-low > a.maxGap && float64(high) > a.maxRatio*float64(low) {
		return least
	}
	at, lowest, most := 0, 0.0, 0
	for i := range replicas {
		r := &replicas[i]
		has := r.Remembered(q)
		most = max(most, has)
		cost := a.cost(r, q.Input, has, float64(r.Queued()-shortest)/float64(max(1, longest-shortest)))
		if i == 0 || cost < lowest || cost == lowest && r.Assigned() < replicas[at].Assigned() {
			at, lowest = i, cost
		}
	}
	if float64(most) < a.minShare*float64(q.Input) {
		return least
	}
	return at
}

// cost is that of a prompt on a replica that has so many of its tokens, with a queue so far from the shortest to the longest.
func (a *affinity) cost(r *server.Replica, prompt, has int, queue float64) float64 {
	kv := r.KV()
	if a.tokens {
		return a.miss*float64(prompt-has) + a.waits*float64(r.PendingPromptTokens()) + a.occupied*float64(kv.Held()*r.Engine().BlockTokens)
	}
	return a.miss*float64(prompt-has)/float64(prompt) + a.waits*queue + a.occupied*float64(kv.Held())/float64(kv.Total())
}

// pool is the replicas of one kind, and who chooses among them.
type pool struct {
	router   Router
	replicas []server.Replica
	// countsTokens says that the router looks at the tokens of prompts that are not computed.
	countsTokens bool
}

// newPool makes the replicas of a pool, the first of which has a place among all.
func newPool(p *Pool, replicas []server.Replica, first int, does server.Role, around *server.Shared, requests *traffic.Source) pool {
	server.NewReplicas(replicas, first, &p.Engine, p.Stepper, does, around)
	return pool{router: p.Routing.router(requests), replicas: replicas}
}

// route chooses a replica and counts the request as its load.
func (p *pool) route(q *server.Request) *server.Replica {
	at := 0
	if len(p.replicas) > 1 {
		at = p.router.Route(q, p.replicas)
	}
	r := &p.replicas[at]
	r.Assign(q, p.countsTokens)
	return r
}
