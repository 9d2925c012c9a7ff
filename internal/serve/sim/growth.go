package sim

// blockGrowth says how many blocks requests that generate take as they grow, without looking at each: a tally of where on the token
// clock each fills a block. A KV store whose requests grow otherwise, as with sliding windows, has to count here too.
type blockGrowth struct {
	// fills counts, by clock modulo the tokens of a block, the requests that
	// take a new block when the clock gets there. Nil where blocks are kept from
	// the start.
	fills []int32
}

// count adds requests, or takes them out, whose context is so far ahead of the clock.
func (g *blockGrowth) count(offset int64, requests int32) {
	if g.fills == nil {
		return
	}
	b := int64(len(g.fills))
	g.fills[((1-offset)%b+b)%b] += requests // where the first token of a new block is written
}

// taken is how many blocks n requests take while the clock gains so many tokens.
func (g *blockGrowth) taken(n int, clock, tokens int64) int {
	if g.fills == nil {
		return 0
	}
	b := int64(len(g.fills))
	blocks := int64(n) * (tokens / b)
	at := clock % b
	for range tokens % b {
		if at++; at == b {
			at = 0
		}
		blocks += int64(g.fills[at])
	}
	return int(blocks)
}

// tokensWithin is how many of the tokens the clock can gain with so many blocks for n requests: more than asked for may be.
func (g *blockGrowth) tokensWithin(n int, clock, tokens int64, blocks int) int64 {
	b := int64(len(g.fills))
	if int64(n)*(tokens/b+1) <= int64(blocks) {
		return tokens
	}
	tokens = int64(blocks/n) * b
	left := int64(blocks % n)
	at := clock % b
	for range b {
		if at++; at == b {
			at = 0
		}
		if left -= int64(g.fills[at]); left < 0 {
			break
		}
		tokens++
	}
	return tokens
}
