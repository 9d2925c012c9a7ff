package server

// blockGrowth says how many blocks requests that generate take as they grow, without looking at each: a tally of where on the token
// clock each fills a block. A KV store whose requests grow otherwise, as with sliding windows, has to count here too.
type blockGrowth struct {
	// fills counts, by clock modulo the tokens of a block, the requests that
	// take a new block when the clock gets there. Nil where blocks are kept from
	// the start.
	fills []int32
	block blockSize
}

func newBlockGrowth(blockTokens int) blockGrowth {
	return blockGrowth{fills: make([]int32, blockTokens), block: newBlockSize(blockTokens)}
}

// count adds requests, or takes them out, whose context is so far ahead of the clock.
func (g *blockGrowth) count(offset int64, requests int32) {
	if g.fills == nil {
		return
	}
	_, slot := g.block.split(1 - offset) // where the first token of a new block is written
	g.fills[slot] += requests
}

// taken is how many blocks n requests take while the clock gains so many tokens.
func (g *blockGrowth) taken(n int, clock, tokens int64) int {
	if g.fills == nil {
		return 0
	}
	full, rest := g.block.split(tokens)
	blocks := int64(n) * full
	_, at := g.block.split(clock)
	for range rest {
		if at++; at == int64(len(g.fills)) {
			at = 0
		}
		blocks += int64(g.fills[at])
	}
	return int(blocks)
}

// tokensWithin is how many of the tokens the clock can gain with so many blocks for n requests: more than asked for may be.
func (g *blockGrowth) tokensWithin(n int, clock, tokens int64, blocks int) int64 {
	b := int64(len(g.fills))
	if full, _ := g.block.split(tokens); int64(n)*(full+1) <= int64(blocks) {
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
