package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestChunks(t *testing.T) {
	for name, c := range map[string]struct {
		length, budget int
		want           []Piece
	}{
		"10000 by 4096":      {10000, 4096, []Piece{{1, 4096, 4096, false}, {1, 4096, 8192, false}, {1, 1808, 10000, true}}},
		"half of 10 by 3":    {Effective(10, .5), 3, []Piece{{1, 3, 3, false}, {1, 2, 5, true}}},
		"exactly":            {8, 8, []Piece{{1, 8, 8, true}}},
		"nothing":            {0, 8, nil},
		"a budget below one": {2, 0, []Piece{{1, 1, 1, false}, {1, 1, 2, true}}},
	} {
		if diff := cmp.Diff(c.want, Chunks(c.length, c.budget)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestPack(t *testing.T) {
	rows := weighted(1, 1).Deal(4, 0)
	want := [][]Piece{
		{{2, 50, 50, true}, {1, 100, 100, false}},
		{{1, 50, 150, true}, {1, 150, 150, true}},
	}
	if diff := cmp.Diff(want, Pack(rows, 200)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := Pack(nil, 200); got != nil {
		t.Errorf("no requests pack into %v", got)
	}
	if got := len(Pack([]Row{{Query: 3, Samples: 2}}, 0)); got != 6 {
		t.Errorf("six tokens and a budget below one: %d steps, want 6", got)
	}
}

// TestPackBuiltin counts the prompts completed in each step.
func TestPackBuiltin(t *testing.T) {
	for n, want := range map[int][]int{
		4:  {3, 1},
		8:  {6, 1, 1},
		16: {8, 2, 2, 2, 0, 1, 1},
	} {
		var got []int
		for _, pieces := range Pack(Builtin().Deal(n, 0), 8192) {
			done := 0
			for _, p := range pieces {
				if p.Last {
					done += p.Requests
				}
			}
			got = append(got, done)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d requests (-want +got)\n%s", n, diff)
		}
	}
}

// TestChunksLaws: the pieces are the prompt, all of the budget but the last.
func TestChunksLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.IntRange(0, 100_000).Draw(t, "length")
		budget := rapid.IntRange(1+length/1000, 100_000).Draw(t, "budget")
		pieces := Chunks(length, budget)
		if want := (length + budget - 1) / budget; len(pieces) != want {
			t.Fatalf("%d pieces, want %d", len(pieces), want)
		}
		done := 0
		for i, p := range pieces {
			last := i == len(pieces)-1
			done += p.Query
			if p.Requests != 1 || p.Query < 1 || p.Query > budget || !last && p.Query != budget || p.Seq != done || p.Last != last {
				t.Errorf("piece %d of %d is %+v with %d tokens done", i, len(pieces), p, done)
			}
		}
		if done != length {
			t.Errorf("%d tokens in pieces, want %d", done, length)
		}
	})
}

// TestPackLaws: steps are full but the last one, and following the pieces gives
// back the prompts one after the other, each whole and in order.
func TestPackLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows []Row
		var prompts []int
		for range rapid.IntRange(0, 8).Draw(t, "rows") {
			r := Row{
				Query:   rapid.IntRange(1, 500).Draw(t, "query"),
				Samples: rapid.IntRange(0, 20).Draw(t, "samples"),
			}
			rows = append(rows, r)
			for range r.Samples {
				prompts = append(prompts, r.Query)
			}
		}
		budget := rapid.IntRange(1, 2000).Draw(t, "budget")
		steps := Pack(rows, budget)
		done := 0 // of prompts[0]
		for i, pieces := range steps {
			sum := 0
			for _, p := range pieces {
				sum += p.Requests * p.Query
				for range p.Requests {
					if len(prompts) == 0 {
						t.Fatal("more pieces than prompts")
					}
					done += p.Query
					if p.Query < 1 || p.Seq != done || p.Last != (done == prompts[0]) {
						t.Fatalf("step %d: %+v with %d of %d tokens done", i, p, done, prompts[0])
					}
					if p.Last {
						prompts, done = prompts[1:], 0
					}
				}
			}
			if sum < 1 || sum > budget || sum < budget && i < len(steps)-1 {
				t.Errorf("step %d of %d has %d tokens, budget %d", i, len(steps), sum, budget)
			}
		}
		if len(prompts) > 0 {
			t.Errorf("%d prompts are not done", len(prompts))
		}
	})
}
