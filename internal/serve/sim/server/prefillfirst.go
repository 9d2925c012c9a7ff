package server

// clippedAnswer bounds what an answer not yet begun asks of the cache when it
// is admitted, in tokens (SGLang's CLIP_MAX_NEW_TOKENS).
const clippedAnswer = 4096

// prefillFirst is [PrefillFirst].
type prefillFirst struct{}

// Form implements [BatchFormation].
func (p prefillFirst) Form(s *scheduler) bool {
	s.resumeDecode()
	budget := s.engine.TokenBudget
	expected := p.expectedTokens(s)
	if p.awaitsRanks(s) {
		return p.generates(s)
	}
	if q := s.partial; q != nil {
		tokens := min(q.prefillTokens-q.context, budget)
		s.kv.Take(s.more(q, tokens))
		s.compute(q, tokens, 0)
		budget -= tokens
	}
	for s.waiting.n > 0 && budget > 0 && (s.engine.PrefillAhead || s.room() > 0) {
		q := s.waiting.at(0)
		f := s.admission.Fit(s, q, budget)
		prompt := float64(q.prefillTokens - f.shared*s.engine.BlockTokens)
		left := s.toGenerate(q)
		if !s.vacant() && expected+prompt+float64(min(left, clippedAnswer)) > float64(s.kv.Total()*s.engine.BlockTokens) ||
			f.needs > s.spareBlocks() {
			break
		}
		expected += prompt + s.engine.Reserve*float64(left)
		s.admit(&f)
		budget -= f.compute
	}
	if len(s.chunks) > 0 {
		s.wait.waited, s.wait.lastTokens, s.wait.lastGrowth = 0, 0, 0
		return false
	}
	return p.generates(s)
}

// Stepped implements [BatchFormation].
func (prefillFirst) Stepped(s *scheduler, steps int64) {
	if s.hold {
		s.wait.waited += int(steps)
	}
}

// Mixes implements [BatchFormation].
func (prefillFirst) Mixes() bool { return false }

// generates makes room for a step without prompts and reports whether there is one. Where
// only those that wait for their turn keep blocks, it is theirs.
func (prefillFirst) generates(s *scheduler) bool {
	s.makeRoom()
	for s.decode.n == 0 && s.decodeQueue.n > 0 {
		s.resumeDecode()
		s.makeRoom()
	}
	return s.decode.n > 0
}

// awaitsRanks says that prompts are held back because not every rank has one, as
// SGLang's prefill delayer does (managers/prefill_delayer.py), or because more may come, as ATOM's does
// (model_engine/prefill_delayer.py).
func (p prefillFirst) awaitsRanks(s *scheduler) bool {
	prompts := s.waiting.n
	if !s.engine.PrefillAhead {
		prompts = min(prompts, s.room())
	}
	// What came over a link is no prompt: it can generate at once.
	if prompts <= 0 || s.engine.Ranks < 2 || s.partial != nil || s.decode.n == 0 || s.waiting.at(0).transferred {
		return false
	}
	s.wait.limit = s.engine.RankWaitSteps
	if prompts >= s.engine.Ranks {
		s.wait.limit = min(s.wait.limit, p.fillLimit(s, prompts))
	}
	s.hold = s.wait.waited < s.wait.limit
	return s.hold
}

// fillLimit is for how many steps prompts on all ranks wait for more of them; 0 if they are enough.
func (prefillFirst) fillLimit(s *scheduler, prompts int) int {
	tokens, enough := 0, int(s.engine.RankFill*float64(s.engine.TokenBudget))
	for i := 0; i < prompts && tokens < enough; i++ {
		tokens += s.waiting.at(i).prefillTokens
	}
	if tokens >= enough {
		return 0
	}
	if tokens > s.wait.lastTokens {
		s.wait.lastTokens, s.wait.lastGrowth = tokens, s.wait.waited
	}
	return s.wait.lastGrowth + s.engine.RankStallSteps
}

// expectedTokens is the tokens in the cache, with the whole of the prompt under way,
// and the share kept free for the answers of this batch (in a pipeline SGLang looks
// at those alone: managers/schedule_policy.py, PrefillAdder). While requests generate and
// nothing else happens it never falls, so one who had to wait still has to.
func (prefillFirst) expectedTokens(s *scheduler) float64 {
	tokens := s.decodeQueue.tokens + s.sendingTokens + s.inFlightChunkTokens
	for i := range s.all {
		tokens += s.all[i].decode.tokens()
	}
	left := s.decode.remaining() + s.decodeQueue.left
	if q := s.partial; q != nil {
		tokens += q.prefillTokens
		left += s.toGenerate(q)
	}
	// What several requests share is there once.
	tokens -= s.kv.SharedTokens()
	return float64(tokens) + s.engine.Reserve*float64(left)
}
