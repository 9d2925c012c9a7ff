package sim

import (
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
)

func (n *naive) fill() bool {
	switch n.e.Policy {
	case server.PrefillFirst:
		return n.prefillFirst()
	case server.InFlight:
		return n.inFlight()
	default:
		return n.decodeFirst()
	}
}

func (n *naive) admit(tokens int) {
	q := n.waiting[0]
	n.waiting = n.waiting[1:]
	q.context = n.again(q)
	for _, b := range q.had[:q.context/n.e.BlockTokens] {
		n.queue = slices.DeleteFunc(n.queue, func(free int) bool { return free == b })
		q.has = append(q.has, b)
	}
	q.had = nil
	q.chunk = tokens
	n.running = append(n.running, q)
}

func (n *naive) decodeFirst() bool {
	for n.spare() < 0 {
		n.preempt()
	}
	budget := n.e.TokenBudget - len(n.decoding())*n.e.VerifiedPerStep
	for _, q := range slices.Clone(n.running) {
		if q.prefilled || q.context == q.need || budget <= 0 {
			continue
		}
		c := min(q.need-q.context, budget)
		if n.blocks(q.context+c)-n.blocks(q.context) > n.spare() {
			n.preempt()
			break
		}
		q.chunk = c
		budget -= c
	}
	for !n.evicted && len(n.waiting) > 0 && budget > 0 && n.room() > 0 {
		q := n.waiting[0]
		done := n.again(q)
		c := min(q.need-done, budget)
		must := done + c
		if n.e.ReservePrompt {
			must = q.need
		}
		if n.blocks(must) > n.spare() {
			break
		}
		n.admit(c)
		budget -= c
	}
	return true
}

func (n *naive) prefillFirst() bool {
	budget := n.e.TokenBudget
	tokens, left := 0, 0
	for _, q := range n.running {
		if q.prefilled && q.lane == n.lane || !q.prefilled && q.context < q.need {
			left += q.output - q.generated
		}
		tokens += q.context
		if !q.prefilled {
			tokens += q.need - q.context
		}
	}
	expected := float64(tokens) + n.e.Reserve*float64(left)
	prefills := false
	for _, q := range n.running {
		if !q.prefilled && q.context < q.need {
			q.chunk = min(q.need-q.context, budget)
			budget -= q.chunk
			prefills = true
		}
	}
	prompts := len(n.waiting)
	if !n.e.PrefillAhead {
		prompts = min(prompts, n.room())
	}
	if prompts > 0 && n.e.Ranks > 1 && !prefills && len(n.decoding()) > 0 && n.waited < n.e.RankWaitSteps && (prompts < n.e.Ranks || n.gathers(prompts)) {
		n.lanes[n.lane].hold = true
		for n.spare() < 0 {
			n.preempt()
		}
		return true
	}
	for len(n.waiting) > 0 && budget > 0 && (n.e.PrefillAhead || n.room() > 0) {
		q := n.waiting[0]
		rest := q.output - q.generated
		full := expected+float64(q.need)+float64(min(rest, 4096)) > float64(n.e.Blocks*n.e.BlockTokens)
		if full && len(n.running) > 0 || n.blocks(q.need) > n.spare() {
			break
		}
		expected += float64(q.need) + n.e.Reserve*float64(rest)
		c := min(q.need-n.again(q), budget)
		n.admit(c)
		budget -= c
		prefills = true
	}
	if prefills {
		n.waited, n.pending, n.grown = 0, 0, 0
		return false
	}
	for n.spare() < 0 {
		n.preempt()
	}
	return true
}

func (n *naive) inFlight() bool {
	decoding := len(n.decoding()) * n.e.VerifiedPerStep
	budget, free, tokens, room := n.e.TokenBudget-decoding, n.free(), 0, n.room()
	begun := false
	for _, q := range n.running {
		if !q.prefilled && q.context < q.need {
			begun = true
			q.chunk = max(0, min(q.need-q.context, budget))
			budget -= q.chunk
			room = n.room()
		}
	}
	var pieces []int
	for _, q := range n.waiting {
		if len(pieces) >= room || n.held(q) > free {
			break
		}
		piece := q.need
		if n.e.Chunked {
			piece = max(0, min(piece, budget))
		}
		if piece == 0 || piece > budget && (tokens > 0 || decoding > 0) {
			break
		}
		free -= n.held(q)
		budget -= piece
		tokens += piece
		pieces = append(pieces, piece)
	}
	if len(pieces) == 0 {
		return true
	}
	if decoding > 0 && !begun {
		if n.waited < n.e.BatchWaitSteps && float64(tokens+decoding) < n.e.BatchWaitRatio*float64(n.e.TokenBudget) ||
			n.waited < n.e.RankWaitSteps && len(pieces) < n.e.Ranks {
			n.lanes[n.lane].hold = true
			return true
		}
		n.waited = 0
	}
	for _, piece := range pieces {
		n.admit(piece)
	}
	return true
}

// gathers says that prompts on all ranks wait for more of them.
func (n *naive) gathers(prompts int) bool {
	tokens := 0
	for _, q := range n.waiting[:prompts] {
		tokens += q.need
	}
	if tokens >= int(n.e.RankFill*float64(n.e.TokenBudget)) {
		return false
	}
	if tokens > n.pending {
		n.pending, n.grown = tokens, n.waited
	}
	return n.waited < n.grown+n.e.RankStallSteps
}
