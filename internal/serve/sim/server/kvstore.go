package server

// KVStore keeps the KV cache of a replica's requests, counted in blocks. Three kinds of blocks add up to all:
//
//	total = held by requests + kept for prompts to come + free
//
// The scheduler asks what is available before it takes blocks. [blockStore] is the store of paged engines: blocks of so many
// tokens, and a prefix cache over them. A store for other caches, such as sliding windows or the states of linear attention,
// counts blocks its own way; what requests that generate take from step to step is in [blockGrowth].
type KVStore interface {
	// Blocks is how many blocks hold so many tokens of a request: 33 tokens are 3 blocks of 16.
	Blocks(tokens int) int
	// Total, Held and Available are numbers of blocks; what is kept for prompts to come can be evicted and is Available too.
	Total() int
	Held() int
	Available() int
	// Kept is the blocks that are kept for prompts to come and that nobody uses now.
	Kept() int
	// Take takes blocks for requests, and evicts what is kept if it must. It is an error of the scheduler to take more
	// than are available.
	Take(blocks int)

	// Find is what of a waiting request's prompt is in the store. One token at least is left to compute.
	Find(q *Request) found
	// Admit makes a request a user of what was found of its prompt, and takes further blocks for it.
	Admit(q *Request, f found, blocks int)
	// Learn keeps what a request has computed so far for others to find.
	Learn(q *Request)
	// Release returns the blocks of a request that has ended or moved.
	Release(q *Request, blocks int)
	// Preempt returns those of a request that will be computed again, and finds what nobody took of them by then.
	Preempt(q *Request, blocks int)

	// SharedTokens is by how many tokens the contexts of all requests together exceed what is stored for them.
	SharedTokens() int
	// Remembers reports whether prompts find anything that other requests computed.
	Remembers() bool
	// Evicted is how many blocks were evicted since Restart.
	Evicted() int64
	Restart()
}

// found is what of a prompt is in a store.
type found struct {
	tokens  int // that need not be computed
	entries int // of the prefix cache, from the beginning of the prompt
	hosted  int // tokens of these that are in the host tier and have to be loaded
	shared  int // blocks of the others, which are full
	idle    int // of these blocks, those that nobody uses: they can be evicted until the request is admitted
}
