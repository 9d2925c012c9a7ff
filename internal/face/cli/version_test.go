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
		want string
	}{
		{built, "plimsoll v1.2.3 0123456789ab (modified) go"},
		{&debug.BuildInfo{}, "plimsoll (devel) go"},
		{nil, "plimsoll (devel) go"},
	}
	for _, tt := range tests {
		if got := versionOf(tt.info).String(); !strings.HasPrefix(got, tt.want) {
			t.Errorf("want %q and more, got %q", tt.want, got)
		}
	}
}
