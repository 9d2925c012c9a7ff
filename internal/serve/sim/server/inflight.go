package server

// inFlight is [InFlight].
type inFlight struct{}

// Form implements [BatchFormation].
func (p inFlight) Form(s *scheduler) bool {
	generating := s.decode.n
	budget := s.engine.TokenBudget - generating*s.engine.VerifiedPerStep
	begun := s.partial != nil
	if q := s.partial; q != nil && budget > 0 {
		tokens := min(q.prefillTokens-q.context, budget)
		s.compute(q, tokens, 0)
		budget -= tokens
	}
	candidates, tokens := p.candidates(s, budget, generating == 0 && !begun)
	if candidates == 0 {
		return s.decode.n > 0
	}
	if generating > 0 && tokens > 0 && !begun {
		if s.wait.limit = p.waitLimit(s, candidates, tokens); s.wait.limit > s.wait.waited {
			s.hold = true
			return true
		}
		s.wait.waited = 0 // but not where nothing generated, just as the engine does
	}
	for range candidates {
		f := s.admission.Fit(s, s.waiting.at(0), budget)
		s.admit(&f)
		budget -= f.compute
	}
	return s.decode.n > 0
}

// Stepped implements [BatchFormation]. Where prompts wait for one on every rank, steps for which
// there was none count as well, and the count restarts when it is full: a prompt that comes alone waits for half of
// the steps on average (TensorRT-LLM's _balance_adp_requests, pyexecutor/py_executor.py).
func (inFlight) Stepped(s *scheduler, steps int64) {
	switch every := int64(s.engine.RankWaitSteps); {
	case s.hold:
		s.wait.waited += int(steps)
	case s.engine.Ranks > 1 && every > 0:
		s.wait.waited = int((int64(s.wait.waited) + steps) % every)
	}
}

// Mixes implements [BatchFormation].
func (inFlight) Mixes() bool { return true }

// candidates counts the requests at the head of the line that could be admitted
// now, and the tokens to compute for them. A prompt above the budget runs alone, or in pieces.
func (inFlight) candidates(s *scheduler, budget int, idle bool) (n, tokens int) {
	available := s.kv.Available()
	for room := s.room(); n < min(s.waiting.n, room); {
		f := s.admission.Fit(s, s.waiting.at(n), budget)
		alone := tokens == 0 && idle
		if f.needs > available || f.compute > budget && !alone || f.compute == 0 && !s.waiting.at(n).transferred {
			break
		}
		available -= f.needs
		budget -= f.compute
		tokens += f.compute
		n++
	}
	return n, tokens
}

// waitLimit is for how many steps prompts wait for more: for one on each rank, or to fill
// the step.
func (inFlight) waitLimit(s *scheduler, prompts, tokens int) int {
	steps := 0
	if prompts < s.engine.Ranks {
		steps = s.engine.RankWaitSteps
	}
	load := tokens + s.decode.n*s.engine.VerifiedPerStep
	if float64(load) < s.engine.BatchWaitRatio*float64(s.engine.TokenBudget) {
		steps = max(steps, s.engine.BatchWaitSteps)
	}
	return steps
}
