package traffic

import (
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
)

// TestReplayRefused: one kind alone may have known prompts, and no common prefix.
func TestReplayRefused(t *testing.T) {
	like := []workload.Request{{Input: 9, Output: 1, Blocks: []uint32{0}}}
	one := Kind{Share: 1, Like: like, BlockTokens: 8}
	talk := Kind{Share: 1, Session: &workload.Session{First: 8, User: 8, Output: 8, Turns: 3}}
	for name, c := range map[string]OpenLoop{
		"two kinds":       {Rate: 1, Requests: 1, Mix: Mix{one, one}},
		"sessions beside": {Rate: 1, Requests: 1, Mix: Mix{talk, one}},
		"no requests":     {Rate: 1, Requests: 1, Mix: Mix{{Share: 1, BlockTokens: 8, Input: Lengths{Tokens: 8}, Output: Lengths{Tokens: 8}}}},
		"a prefix":        {Rate: 1, Requests: 1, Mix: Mix{one}, Prefix: 4},
	} {
		if c.Check() == nil {
			t.Errorf("%s: want an error", name)
		}
	}
	if err := (OpenLoop{Rate: 1, Requests: 1, Mix: Mix{one}}).Check(); err != nil {
		t.Error(err)
	}
}
