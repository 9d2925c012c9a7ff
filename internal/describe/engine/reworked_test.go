package engine

import "testing"

// TestReworked: what changed after one release up to another, of a port and of the server it runs; every entry has a source and a release
// that the table of releases has.
func TestReworked(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		want           int
	}{
		{"vllm", "0.19.0", "0.20.0", 1},
		{"vllm", "0.20.0", "0.28.0", 0},
		{"vllm", "0.28.0", "0.19.0", 0},
		{"vllm-ascend", "0.17.0rc1", "0.23.0", 2}, // it does not estimate graphs, which vLLM does from 0.20.0
		{"atom-vllm", "0.19.0", "0.20.0", 1},
		{"trtllm", "0.21.0", "1.2.0", 4},
		{"sglang", "0.5.3", "0.5.20", 0},
	} {
		if got := ReworkedBetween(c.name, c.from, c.to); len(got) != c.want {
			t.Errorf("%s from %s to %s: %+v, want %d", c.name, c.from, c.to, got, c.want)
		}
	}
	for name, all := range reworked() {
		for _, r := range all {
			if r.Source == "" || r.What == "" || Published(name, r.Since) == nil {
				t.Errorf("%s: %+v", name, r)
			}
			if r.Flag != "" && len(Spans(Server(name), r.Flag)) == 0 {
				t.Errorf("%s has no flag %s", name, r.Flag)
			}
		}
	}
}
