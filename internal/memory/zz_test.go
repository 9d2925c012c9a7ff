package memory

import (
	"fmt"
	"testing"

	"plimsoll/internal/dtype"
	"plimsoll/internal/graph"
	"plimsoll/internal/model"
	"plimsoll/internal/parallel"
)

func TestZZ(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range model.IDs() {
		m, err := model.Lookup(e.ID)
		if err != nil {
			t.Fatal(err)
		}
		q := graph.Resolve(m, graph.Physical(), graph.Actions{Linear: dtype.Disabled, Attention: dtype.Disabled}).Rebase(dtype.BF16)
		s := &graph.Spec{Model: m, Layout: parallel.Layout{}.Complete(m), Policy: graph.Physical(), Quant: q, Compile: true, Vision: true}
		mm := New(s)
		d := 0
		for _, k := range m.Kinds {
			d = max(d, k.Attention.RopeDim)
		}
		want := 2*float64(m.Facts().Parameters) + 4*float64(m.MaxPosition*d)
		got := float64(mm.Weights())
		kv, wkv := float64(mm.BytesPerToken()), float64(m.KVBytesPerToken(dtype.BF16))
		key := fmt.Sprint(m.Family, want, kv)
		if seen[key] {
			continue
		}
		seen[key] = true
		fl := ""
		if got/want-1 > 1e-9 || got/want-1 < -1e-9 {
			fl = "<<<"
		}
		fmt.Printf("%-45s %-14s w %+.6f%% (%.0f) kv %.0f %.0f %s %s\n", e.ID, m.Family, 100*(got/want-1), got-want, kv, wkv, m.DType, fl)
	}
}
