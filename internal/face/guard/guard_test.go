package guard_test

import (
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/face/guard"
)

// TestLoopback: only addresses that no other machine can reach.
func TestLoopback(t *testing.T) {
	for addr, want := range map[string]bool{
		"127.0.0.1:80": true, "127.9.9.9:0": true, "[::1]:80": true, "localhost:80": true, "[::ffff:127.0.0.1]:80": true,
		":80": false, "0.0.0.0:80": false, "[::]:80": false, "10.0.0.1:80": false, "localhost.example:80": false, "nonsense": false,
	} {
		if got := guard.Loopback(addr); got != want {
			t.Errorf("%s: %v", addr, got)
		}
	}
}
