package sim

// clippedAnswer bounds what an answer not yet begun asks of the cache when it
// is admitted, in tokens (SGLang's CLIP_MAX_NEW_TOKENS).
const clippedAnswer = 4096

// prefillFirst fills a step as [PrefillFirst] says and reports whether requests
// generate in it.
func (r *replica) prefillFirst() bool {
	r.resumeDecode()
	budget := r.engine.TokenBudget
	expected := r.expected()
	if r.awaitsRanks() {
		return r.generates()
	}
	if q := r.partial; q != nil {
		tokens := min(q.prefillTokens-q.context, budget)
		r.cache.take(r.more(q, tokens))
		r.compute(q, tokens)
		budget -= tokens
	}
	for r.waiting.n > 0 && budget > 0 && (r.engine.PrefillAhead || r.room() > 0) {
		q := r.waiting.at(0)
		f := r.admission(q, budget)
		prompt := float64(q.prefillTokens - (f.entries-f.hosted)*r.cache.prefix.tokens)
		left := r.toGenerate(q)
		if !r.vacant() && expected+prompt+float64(min(left, clippedAnswer)) > float64(r.cache.total*r.cache.tokens) ||
			f.needs > r.spareBlocks() {
			break
		}
		expected += prompt + r.engine.Reserve*float64(left)
		r.admit(f)
		budget -= f.tokens
	}
	if len(r.chunks) > 0 {
		r.waited, r.lastPending, r.lastGrowth = 0, 0, 0
		return false
	}
	return r.generates()
}

// generates makes room for a step without prompts and reports whether there is one. Where
// only those that wait for their turn keep blocks, it is theirs.
func (r *replica) generates() bool {
	r.makeRoom()
	for r.decode.n == 0 && r.decodeQueue.n > 0 {
		r.resumeDecode()
		r.makeRoom()
	}
	return r.decode.n > 0
}

// awaitsRanks says that prompts are held back because not every rank has one, as
// SGLang's prefill delayer does (managers/prefill_delayer.py), or because more may come, as ATOM's does
// (model_engine/prefill_delayer.py).
func (r *replica) awaitsRanks() bool {
	prompts := r.waiting.n
	if !r.engine.PrefillAhead {
		prompts = min(prompts, r.room())
	}
	// What came over a link is no prompt: it can generate at once.
	if prompts <= 0 || r.engine.Ranks < 2 || r.partial != nil || r.decode.n == 0 || r.waiting.at(0).transferred {
		return false
	}
	r.waitLimit = r.engine.RankWaitSteps
	if prompts >= r.engine.Ranks {
		r.waitLimit = min(r.waitLimit, r.fills(prompts))
	}
	r.hold = r.waited < r.waitLimit
	return r.hold
}

// fills is for how many steps prompts on all ranks wait for more of them; 0 if they are enough.
func (r *replica) fills(prompts int) int {
	tokens, enough := 0, int(r.engine.RankFill*float64(r.engine.TokenBudget))
	for i := 0; i < prompts && tokens < enough; i++ {
		tokens += r.waiting.at(i).prefillTokens
	}
	if tokens >= enough {
		return 0
	}
	if tokens > r.lastPending {
		r.lastPending, r.lastGrowth = tokens, r.waited
	}
	return r.lastGrowth + r.engine.RankStallSteps
}

// expected is the tokens in the cache, with the whole of the prompt under way,
// and the share kept free for the answers of this batch (in a pipeline SGLang looks
// at those alone: managers/schedule_policy.py, PrefillAdder). While requests generate and
// nothing else happens it never falls, so one who had to wait still has to.
func (r *replica) expected() float64 {
	tokens := r.decodeQueue.tokens + r.sendingTokens + r.inFlightChunkTokens
	for i := range r.batches {
		tokens += r.batches[i].decode.tokens()
	}
	left := r.decode.remaining() + r.decodeQueue.left
	if q := r.partial; q != nil {
		tokens += q.prefillTokens
		left += r.toGenerate(q)
	}
	// What several requests share is there once.
	p := &r.cache.prefix
	tokens += (p.live - p.shares) * p.tokens
	return float64(tokens) + r.engine.Reserve*float64(left)
}

// toGenerate is how many tokens of a request not yet generating will be
// generated here.
func (r *replica) toGenerate(q *request) int {
	if !r.decodes {
		return 0
	}
	return q.output - q.generated
}
