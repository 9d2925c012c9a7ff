package server

import "math/bits"

// blockSize divides by the tokens of a block, without a division where they are a power of two.
type blockSize struct {
	tokens int
	shift  int // of a power of two; below zero for others
}

func newBlockSize(tokens int) blockSize {
	if tokens&(tokens-1) == 0 {
		return blockSize{tokens, bits.TrailingZeros(uint(tokens))}
	}
	return blockSize{tokens, -1}
}

// blocks is how many blocks hold so many tokens, the last one partly filled.
func (b *blockSize) blocks(tokens int) int {
	if b.shift >= 0 {
		return (tokens + b.tokens - 1) >> b.shift
	}
	return (tokens + b.tokens - 1) / b.tokens
}

// split is tokens in full blocks and a rest, which is never negative.
func (b *blockSize) split(tokens int64) (full, rest int64) {
	if b.shift >= 0 {
		return tokens >> b.shift, tokens & int64(b.tokens-1)
	}
	n := int64(b.tokens)
	if full, rest = tokens/n, tokens%n; rest < 0 {
		return full - 1, rest + n
	}
	return full, rest
}
