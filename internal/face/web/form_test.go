package web_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wellFormed fails the test if tags do not close each other, an id is used twice, or headings skip a level.
func wellFormed(t testing.TB, html string) {
	t.Helper()
	tag := regexp.MustCompile(`(?s)<!--.*?-->|<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s+[^\s=>]+(?:="[^"]*")?)*)\s*(/?)>`)
	id := regexp.MustCompile(`\sid="([^"]*)"`)
	void := []string{"meta", "link", "input", "br", "img"}
	var open []string
	ids, level := map[string]bool{}, 0
	for rest := html; ; {
		m := tag.FindStringSubmatchIndex(rest)
		if m == nil {
			break
		}
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return rest[m[2*i]:m[2*i+1]]
		}
		name, closes := strings.ToLower(part(2)), part(1) != ""
		if between := rest[:m[0]]; strings.ContainsAny(between, "<") && !strings.HasPrefix(between, "<!DOCTYPE html>") {
			t.Fatalf("a stray < in %.80q", between)
		}
		attributes, single := part(3), part(4) != ""
		rest = rest[m[1]:]
		if found := id.FindStringSubmatch(attributes); found != nil {
			if ids[found[1]] {
				t.Errorf("id %s twice", found[1])
			}
			ids[found[1]] = true
		}
		if len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' && !closes {
			if now := int(name[1] - '0'); now > level+1 {
				t.Errorf("a heading of level %d follows one of level %d", now, level)
			} else {
				level = now
			}
		}
		switch {
		case name == "" || slices.Contains(void, name) || single:
		case closes:
			if len(open) == 0 || open[len(open)-1] != name {
				t.Fatalf("</%s> closes %v", name, open)
			}
			open = open[:len(open)-1]
		case name == "script" || name == "style":
			_, after, ok := strings.Cut(rest, "</"+name+">")
			if !ok {
				t.Fatalf("<%s> does not end", name)
			}
			rest = after
		default:
			open = append(open, name)
		}
	}
	if len(open) != 0 {
		t.Errorf("not closed: %v", open)
	}
}
