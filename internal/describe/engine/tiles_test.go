package engine_test

import (
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
)

// TestTiles: products of vLLM in 8 bits on Hopper take longer in tiles that are not full, up to nearly three times as long, and
// those of other formats, generations and engines do not.
func TestTiles(t *testing.T) {
	fp8 := dtype.Scheme{Weight: dtype.FP8, Activation: dtype.FP8}
	p, err := engine.LookupVersion("vllm", "0.24")
	if err != nil {
		t.Fatal(err)
	}
	tiles := p.TilesOf("hopper", fp8)
	for rows, want := range map[int][2]float64{ // measured, over a price that fits full tiles
		1: {1, 1}, 16: {1, 1}, 24: {1.2, 1.3}, 64: {1, 1}, 65: {1.3, 1.4}, 96: {1.05, 1.15}, 128: {1, 1}, 129: {1.9, 2.1}, 192: {1.25, 1.35},
		256: {1, 1}, 257: {2.5, 2.9}, 384: {1.5, 1.7}, 512: {1, 1}, 640: {1.3, 1.5}, 1025: {1.4, 1.5}, 8192: {1, 1},
	} {
		if got := tiles.Longer(rows); got < want[0] || got > want[1] {
			t.Errorf("%d rows take %g times as long, want %v", rows, got, want)
		}
	}
	trt, err := engine.LookupVersion("trtllm", "1.0")
	if err != nil {
		t.Fatal(err)
	}
	block := dtype.Scheme{Weight: dtype.FP8, Activation: dtype.FP8, Group: 128, Rows: 128, Scale: dtype.F32}
	for name, none := range map[string]engine.Tiles{
		"blackwell": p.TilesOf("blackwell", fp8), "bf16": p.TilesOf("hopper", dtype.Unquantized(dtype.BF16)),
		"blocks": p.TilesOf("hopper", block), "trtllm": trt.TilesOf("hopper", fp8),
	} {
		if got := none.Longer(257); got != 1 {
			t.Errorf("%s: %g times as long", name, got)
		}
	}
}
