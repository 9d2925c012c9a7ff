package server

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// usage is the totals of a replica.
type usage struct {
	busy         units.Seconds
	until        units.Seconds // the last step's end
	steps        int64
	prefillSteps int64
	loading      units.Seconds // from the host tier
	spared       units.Seconds // computing what was loaded
	blockTime    float64       // Σ blocks held · seconds
	peak         int           // blocks
	// As in [statistics.PoolUse], of the whole run.
	maxTokens int
	limited   bool
}

// filled notes how full a step is, and whether it could have been fuller.
func (u *usage) filled(s *scheduler) {
	tokens := s.prefillTokens()
	if s.formation.Mixes() {
		tokens += s.decode.n * s.engine.VerifiedPerStep
	}
	u.maxTokens = max(u.maxTokens, tokens)
	u.limited = u.limited || s.cut()
}

// stepped adds a step or run that took so long, with so many blocks held before and after it.
func (u *usage) stepped(p *plan, took units.Seconds, before, held int) {
	u.busy += took
	u.until = p.end
	u.steps += p.steps
	u.blockTime += float64(before+held) / 2 * float64(took)
	u.peak = max(u.peak, held)
	if !p.run {
		u.prefillSteps++
	}
}

// restart forgets all but how full steps were.
func (u *usage) restart(now units.Seconds, held int) {
	*u = usage{until: now, peak: held, maxTokens: u.maxTokens, limited: u.limited}
}
