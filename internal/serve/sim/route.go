package sim

import (
	"fmt"
	"slices"
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

// affinity is a routing that knows which prompts the replicas have in their prefix caches. It takes the replica with the
// lowest cost: the weighted sum of what it would have to compute of the prompt, what waits there and what its requests hold.
// Among equals it takes the least loaded, then the first.
type affinity struct {
	// tokens says that all are counted in tokens. Otherwise they are shares: of the prompt, of the way from the shortest
	// to the longest queue, and of the KV blocks.
	tokens                bool
	miss, waits, occupied float64
	// Unless a replica has so large a share of the prompt, the least loaded is taken.
	minShare float64
	// So is it where the largest and the smallest load differ by more than apart requests and by more than the ratio;
	// 0 is no such rule.
	maxGap   int
	maxRatio float64
}

// affinity has the defaults of the routers. All look at the state of the caches, as of the last run of steps that has
// ended; routers that only remember what they have sent where know a little less.
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

// pool is the replicas of one kind, and whose turn it is.
type pool struct {
	routing  Routing
	affinity affinity
	replicas []replica
	turn     int
}

// route chooses a replica and counts the request as its load.
func (p *pool) route(q *request) *replica {
	at := 0
	switch {
	case p.routing == RoundRobin:
		at = p.turn
		if p.turn++; p.turn == len(p.replicas) {
			p.turn = 0
		}
	case len(p.replicas) == 1:
	case p.routing == LeastLoaded, p.routing == BySession && q.conversation == 0, p.replicas[0].cache.prefix.tokens == 0 && p.routing > BySession:
		at = p.leastLoaded()
	case p.routing == BySession:
		at = int(mixed64(uint64(p.replicas[0].sim.conversations.of(q).serial)) % uint64(len(p.replicas)))
	default:
		at = p.nearest(q)
	}
	r := &p.replicas[at]
	r.load++
	return r
}

func (p *pool) leastLoaded() int {
	at := 0
	for i := range p.replicas {
		if p.replicas[i].load < p.replicas[at].load {
			at = i
		}
	}
	return at
}

// nearest is the replica of the lowest cost.
func (p *pool) nearest(q *request) int {
	a := &p.affinity
	low, high := p.replicas[0].load, p.replicas[0].load
	shortest, longest := p.replicas[0].queued(), p.replicas[0].queued()
	for i := range p.replicas {
		r := &p.replicas[i]
		low, high = min(low, r.load), max(high, r.load)
		shortest, longest = min(shortest, r.queued()), max(longest, r.queued())
	}
	if a.maxGap > 0 && high-low > a.maxGap && float64(high) > a.maxRatio*float64(low) {
		return p.leastLoaded()
	}
	at, lowest, most := 0, 0.0, 0
	for i := range p.replicas {
		r := &p.replicas[i]
		entries, _, _ := r.cache.prefix.match(q)
		has := entries * r.cache.prefix.tokens
		most = max(most, has)
		cost := a.cost(r, q.input, has, float64(r.queued()-shortest)/float64(max(1, longest-shortest)))
		if i == 0 || cost < lowest || cost == lowest && r.load < p.replicas[at].load {
			at, lowest = i, cost
		}
	}
	if float64(most) < a.minShare*float64(q.input) {
		return p.leastLoaded()
	}
	return at
}

// cost is that of a prompt on a replica that has so many of its tokens, with a queue so far from the shortest to the longest.
func (a *affinity) cost(r *replica, prompt, has int, queue float64) float64 {
	if a.tokens {
		return a.miss*float64(prompt-has) + a.waits*float64(r.pendingPromptTokens) + a.occupied*float64(r.cache.held()*r.cache.tokens)
	}
	return a.miss*float64(prompt-has)/float64(prompt) + a.waits*queue + a.occupied*float64(r.cache.held())/float64(r.cache.total)
}

// queued is the requests that no scheduler has admitted.
func (r *replica) queued() int { return r.incoming.n + r.waiting.n }

// mixed64 spreads numbers that follow each other over all values: the last step of SplitMix64 (Steele, Lea and Flood,
// "Fast splittable pseudorandom number generators", OOPSLA 2014).
func mixed64(x uint64) uint64 {
	z := (x + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// countPrompt counts the part of a prompt that a replica has to compute.
func (r *replica) countPrompt(q *request) {
	entries, _, _ := r.cache.prefix.match(q)
	q.pendingPrompt = int32(q.input - entries*r.cache.prefix.tokens)
	r.pendingPromptTokens += int(q.pendingPrompt)
}
