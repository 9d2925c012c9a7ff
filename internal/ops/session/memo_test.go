package session_test

import (
	"errors"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// TestRecall: an answer is found once and kept while it is among the last ones used;
// errors are not kept.
func TestRecall(t *testing.T) {
	t.Parallel()
	var m session.Memo
	found := 0
	ask := func(kind string, key int) int {
		got, err := session.Recall(&m, kind, 2, key, func() (int, error) { found++; return 10 * key, nil })
		if err != nil || got != 10*key {
			t.Fatalf("%s %d: %d, %v", kind, key, got, err)
		}
		return found
	}
	for _, c := range []struct {
		kind string
		key  int
		want int // answers that had to be found by then
	}{{"a", 1, 1}, {"a", 1, 1}, {"a", 2, 2}, {"a", 3, 3}, {"a", 1, 3}, {"b", 1, 4}, {"a", 4, 5}, {"a", 1, 5}, {"a", 5, 6}, {"a", 6, 7}, {"a", 2, 8}} {
		if got := ask(c.kind, c.key); got != c.want {
			t.Errorf("%s %d: found %d answers, want %d", c.kind, c.key, got, c.want)
		}
	}
	wrong := errors.New("wrong")
	for range 2 {
		if _, err := session.Recall(&m, "c", 2, 0, func() (int, error) { found++; return 0, wrong }); !errors.Is(err, wrong) {
			t.Error(err)
		}
	}
	if _, err := session.Recall[int](nil, "a", 2, 1, func() (int, error) { found++; return 0, nil }); err != nil || found != 11 {
		t.Errorf("%d answers found, %v; want 11", found, err)
	}
}
