package sim

// decodeFirst fills a step as [DecodeFirst] says and reports whether requests
// generate in it.
func (r *replica) decodeFirst() bool {
	r.makeRoom()
	budget := r.engine.TokenBudget - r.decode.n*r.engine.VerifiedPerStep
	if q := r.partial; q != nil && budget > 0 {
		tokens := min(q.prefillTokens-q.context, budget)
		if blocks := r.more(q, tokens); blocks > r.spareBlocks() {
			r.preempt() // the last admitted is this very prompt
		} else {
			r.cache.take(blocks)
			r.compute(q, tokens)
			budget -= tokens
		}
	}
	// A step that had to preempt admits no request.
	for !r.evicted && r.waiting.n > 0 && budget > 0 && r.room() > 0 {
		f := r.admission(r.waiting.at(0), budget)
		if f.needs > r.spareBlocks() {
			break
		}
		r.admit(f)
		budget -= f.tokens
	}
	return r.decode.n > 0
}

// more is how many blocks a prompt takes for its next tokens.
func (r *replica) more(q *request, tokens int) int {
	return r.cache.blocks(q.context+tokens) - r.cache.blocks(q.context)
}
