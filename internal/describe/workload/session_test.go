package workload_test

import (
	"math"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
)

// TestSessionCheck: every mistake of a session has its message.
func TestSessionCheck(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]workload.Session{
		"":                                 {Turns: 1, First: 1, Output: 1},
		"turns must be between 1 and":      {First: 1, Output: 1},
		"system must be between 0":         {System: -1, Turns: 1, First: 1, Output: 1},
		"first must be between 1":          {Turns: 1, Output: 1},
		"user must be between 1":           {Turns: 2, First: 1, Output: 1},
		"output must be between 1":         {Turns: 1, First: 1},
		"the fewest turns must be between": {Turns: 2, MinTurns: 3, First: 1, User: 1, Output: 1},
		"the shortest length must be":      {Turns: 1, First: 1, Output: 1, LengthLow: 1.5},
		"the time to think must be":        {Turns: 1, First: 1, Output: 1, Think: units.Seconds(math.Inf(1))},
		"the tokens of the last turn":      {Turns: 1000, First: 1, User: 1 << 20, Output: 1},
	} {
		err := s.Check()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestAgenticSession: the first request of an agent is that of the preset, and the last one is about 27,000 tokens long.
func TestAgenticSession(t *testing.T) {
	t.Parallel()
	p, _ := workload.LookupPreset("agentic")
	s := p.Session()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	mean := func(tokens int) float64 { return float64(tokens) * (1 + s.LengthLow) / 2 }
	first := float64(s.System) + mean(s.First)
	last := first + float64(s.Turns-1)*(mean(s.User)+mean(s.Output))
	if math.Abs(first-float64(p.Input)) > 1 || math.Abs(last-27_000) > 150 {
		t.Errorf("prompts from %.0f to %.0f tokens", first, last)
	}
	if p, _ := workload.LookupPreset("rag"); p.Session() != nil {
		t.Error("rag has sessions")
	}
}
