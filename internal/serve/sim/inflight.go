package sim

// inFlight fills a step as [InFlight] says and reports whether requests
// generate in it.
func (r *replica) inFlight() bool {
	generating := r.decode.n
	budget := r.engine.TokenBudget - generating*r.engine.VerifiedPerStep
	begun := r.partial != nil
	if q := r.partial; q != nil && budget > 0 {
		tokens := min(q.prefillTokens-q.context, budget)
		r.compute(q, tokens)
		budget -= tokens
	}
	candidates, tokens := r.candidates(budget, generating == 0 && !begun)
	if candidates == 0 {
		return r.decode.n > 0
	}
	if generating > 0 && tokens > 0 && !begun {
		if r.waitLimit = r.holdsBack(candidates, tokens); r.waitLimit > r.waited {
			r.hold = true
			return true
		}
		r.waited = 0 // but not where nothing generated, just as the engine does
	}
	for range candidates {
		f := r.admission(r.waiting.at(0), budget)
		r.admit(f)
		budget -= f.tokens
	}
	return r.decode.n > 0
}

// candidates counts the requests at the head of the line that could be admitted
// now, and the tokens to compute for them. A prompt above the budget runs alone, or in pieces.
func (r *replica) candidates(budget int, idle bool) (n, tokens int) {
	available := r.cache.available()
	for room := r.room(); n < min(r.waiting.n, room); {
		f := r.admission(r.waiting.at(n), budget)
		alone := tokens == 0 && idle
		if f.needs > available || f.tokens > budget && !alone || f.tokens == 0 && !r.waiting.at(n).transferred {
			break
		}
		available -= f.needs
		budget -= f.tokens
		tokens += f.tokens
		n++
	}
	return n, tokens
}

// holdsBack is for how many steps prompts wait for more: for one on each rank, or to fill
// the step.
func (r *replica) holdsBack(prompts, tokens int) int {
	steps := 0
	if prompts < r.engine.Ranks {
		steps = r.engine.RankWaitSteps
	}
	load := tokens + r.decode.n*r.engine.VerifiedPerStep
	if float64(load) < r.engine.BatchWaitRatio*float64(r.engine.TokenBudget) {
		steps = max(steps, r.engine.BatchWaitSteps)
	}
	return steps
}

// count counts steps without prompts towards a wait. Where it is one for prompts on every rank, steps for which
// there was none count as well, and the count restarts when it is full: a prompt that comes alone waits for half of
// the steps on average (TensorRT-LLM's _balance_adp_requests, pyexecutor/py_executor.py).
func (r *replica) count(steps int64) {
	switch every := int64(r.engine.RankWaitSteps); {
	case r.hold:
		r.waited += int(steps)
	case r.engine.Policy == InFlight && r.engine.Ranks > 1 && every > 0:
		r.waited = int((int64(r.waited) + steps) % every)
	}
}
