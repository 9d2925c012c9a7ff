package server

// decodeFirst is [DecodeFirst].
type decodeFirst struct{}

// Form implements [BatchFormation].
func (decodeFirst) Form(s *scheduler) bool {
	s.makeRoom()
	budget := s.engine.TokenBudget - s.decode.n*s.engine.VerifiedPerStep
	if q := s.partial; q != nil && budget > 0 {
		tokens := min(q.prefillTokens-q.context, budget)
		if blocks := s.more(q, tokens); blocks > s.spareBlocks() {
			s.preempt() // the last admitted is this very prompt
		} else {
			s.kv.Take(blocks)
			s.compute(q, tokens, 0)
			budget -= tokens
		}
	}
	// A step that had to preempt admits no request.
	for !s.evicted && s.waiting.n > 0 && budget > 0 && s.room() > 0 {
		f := s.admission.Fit(s, s.waiting.at(0), budget)
		if f.needs > s.spareBlocks() {
			break
		}
		s.admit(&f)
		budget -= f.compute
	}
	return s.decode.n > 0
}

// Stepped implements [BatchFormation].
func (decodeFirst) Stepped(*scheduler, int64) {}

// Mixes implements [BatchFormation].
func (decodeFirst) Mixes() bool { return true }
