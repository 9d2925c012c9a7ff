package perfdata

import (
	"cmp"
	"strings"
)

// parseVersion splits a Python package's version into numbers that compare in
// its order: "1.3.0rc20" is 1 3 0 -1 20, "0.5.6.post2" is 0 5 6 1 2. It is nil
// for what starts with no number. Directory names come from anywhere, so unlike
// an engine's version nothing in them is an error.
func parseVersion(s string) []int {
	stages := []struct {
		word  string
		stage int
	}{{"dev", -4}, {"rc", -1}, {"post", 1}, {"a", -3}, {"b", -2}}
	var out []int
	s, _, _ = strings.Cut(strings.ToLower(strings.TrimPrefix(s, "v")), "+")
scan:
	for s != "" {
		digits := 0
		for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
			digits++
		}
		if digits > 0 {
			n := 0
			for _, c := range s[:min(digits, 9)] {
				n = 10*n + int(c-'0')
			}
			out, s = append(out, n), s[digits:]
			continue
		}
		if len(out) == 0 {
			return nil
		}
		for _, t := range stages {
			if rest, ok := strings.CutPrefix(s, t.word); ok {
				out, s = append(out, t.stage), rest
				continue scan
			}
		}
		s = s[1:]
	}
	return out
}

// Newer reports whether version a comes after b.
func Newer(a, b string) bool { return compareVersions(a, b) > 0 }

// compareVersions orders versions; missing numbers count as 0, so that a release
// stands after its candidates and before its corrections.
func compareVersions(a, b string) int {
	v, w := parseVersion(a), parseVersion(b)
	for i := range max(len(v), len(w)) {
		var x, y int
		if i < len(v) {
			x = v[i]
		}
		if i < len(w) {
			y = w[i]
		}
		if c := cmp.Compare(x, y); c != 0 {
			return c
		}
	}
	return 0
}
