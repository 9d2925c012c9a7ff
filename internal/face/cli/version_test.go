package cli

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersionOf(t *testing.T) {
	built := &debug.BuildInfo{
		Main: debug.Module{Version: "v1.2.3"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "0123456789abcdef"},
			{Key: "vcs.time", Value: "2026-01-02T03:04:05Z"},
			{Key: "vcs.modified", Value: "true"},
		},
	}
	tests := []struct {
		info *debug.BuildInfo
		b    Build
		want string
	}{
		{built, Build{}, "plimsoll v1.2.3 0123456789ab (modified) go"},
		{&debug.BuildInfo{}, Build{}, "plimsoll (devel) go"},
		{nil, Build{}, "plimsoll (devel) go"},
		{&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, Build{Version: "v2.0.0", Revision: "fedcba9876543210"}, "plimsoll v2.0.0 fedcba987654 go"},
	}
	for _, tt := range tests {
		if got := versionOf(tt.info, tt.b).String(); !strings.HasPrefix(got, tt.want) {
			t.Errorf("want %q and more, got %q", tt.want, got)
		}
	}
}
