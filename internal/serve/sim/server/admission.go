package server

// Admission says what a request needs in the KV store to be admitted, and what it keeps there while it runs. A new rule is a
// type with these methods and a case in [admissionOf].
//
// An example: 100 blocks of 16 tokens are free, and a prompt of 3,000 tokens, with 500 to generate, waits for a step with
// 1,024 tokens left in its budget. By chunk it needs and takes 64 blocks. As a whole prompt it needs 188 and would take 64, so
// it waits; and so it does where prompt and answer are reserved, for 219.
type Admission interface {
	// Fit works out what admitting a waiting request takes, with so many tokens left in the budget.
	Fit(s *scheduler, q *Request, budget int) fit
	// Holds is how many blocks a running request has, shared ones included.
	Holds(s *scheduler, q *Request) int
	// Owed is blocks that the prompt under way takes later on and that nobody else may take; there is one.
	Owed(s *scheduler) int
	// Grows reports that requests take blocks as they generate; otherwise they have them from the start.
	Grows() bool
	// ByChunk reports that a prompt is admitted if one chunk of it fits: it needs less once what is remembered of its
	// beginning has been evicted.
	ByChunk() bool
}

// fit is what admitting a request would take.
type fit struct {
	found

	compute int // tokens in this step
	needs   int // blocks that must be available for it to be admitted
	takes   int // blocks it takes now
}

// admissionOf is the rule of an engine.
func admissionOf(e *Engine) Admission {
	switch e.Policy {
	case InFlight:
		return reserveAnswer{}
	case PrefillFirst:
		return asNeeded{wholePrompt: true, keepsRest: true}
	default:
		return asNeeded{wholePrompt: e.ReservePrompt}
	}
}

// asNeeded takes blocks as tokens come: those of a chunk with the chunk, and one whenever an answer fills the last (vLLM, SGLang).
type asNeeded struct {
	wholePrompt bool // admits a prompt only if all of it fits, not just its first chunk
	keepsRest   bool // nobody takes the rest of the prompt under way
}

// Fit implements [Admission].
func (a asNeeded) Fit(s *scheduler, q *Request, budget int) fit {
	if q.transferred { // it can generate at once
		return fit{takes: s.kv.Blocks(q.context), needs: s.kv.Blocks(q.context + s.tokensPerStep)}
	}
	f := fit{found: s.kv.Find(q)}
	f.compute = min(q.prefillTokens-f.tokens, budget)
	upTo := f.tokens + f.compute
	f.takes = s.kv.Blocks(upTo) - f.shared
	if a.wholePrompt {
		upTo = q.prefillTokens
	}
	f.needs = s.kv.Blocks(upTo) - f.shared + f.idle
	return f
}

// Holds implements [Admission].
func (asNeeded) Holds(s *scheduler, q *Request) int { return s.kv.Blocks(q.context) }

// Owed implements [Admission].
func (a asNeeded) Owed(s *scheduler) int {
	if !a.keepsRest {
		return 0
	}
	return s.more(s.partial, s.partial.prefillTokens-s.partial.context)
}

// Grows implements [Admission].
func (asNeeded) Grows() bool { return true }

// ByChunk implements [Admission].
func (a asNeeded) ByChunk() bool { return !a.wholePrompt }

// reserveAnswer reserves blocks for prompt and answer from the start, so that nothing is ever preempted (TensorRT-LLM with
// GUARANTEED_NO_EVICT).
type reserveAnswer struct{}

// Fit implements [Admission].
func (r reserveAnswer) Fit(s *scheduler, q *Request, budget int) fit {
	blocks := r.Holds(s, q)
	if q.transferred {
		return fit{takes: blocks, needs: blocks}
	}
	f := fit{found: s.kv.Find(q)}
	if f.compute = q.prefillTokens - f.tokens; s.engine.Chunked {
		f.compute = max(0, min(f.compute, budget))
	}
	f.takes = blocks - f.shared
	f.needs = f.takes + f.idle
	return f
}

// Holds implements [Admission].
func (reserveAnswer) Holds(s *scheduler, q *Request) int { return s.kv.Blocks(s.mostTokens(q)) }

// Owed implements [Admission].
func (reserveAnswer) Owed(*scheduler) int { return 0 }

// Grows implements [Admission].
func (reserveAnswer) Grows() bool { return false }

// ByChunk implements [Admission].
func (reserveAnswer) ByChunk() bool { return false }
