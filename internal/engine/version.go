package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Range is the versions from Since to before Until; "" is open.
type Range struct{ Since, Until string }

// String prints the range: "0.14 to before 0.22", "0.22 and later", "any".
func (r Range) String() string {
	switch {
	case r.Since == "" && r.Until == "":
		return "any"
	case r.Until == "":
		return r.Since + " and later"
	case r.Since == "":
		return "before " + r.Until
	default:
		return r.Since + " to before " + r.Until
	}
}

// contains reports whether a version lies in the range.
func (r Range) contains(v version) bool {
	return (r.Since == "" || v.compare(mustVersion(r.Since)) >= 0) &&
		(r.Until == "" || v.compare(mustVersion(r.Until)) < 0)
}

// version is a release as Python packages number them: "0.11.2", "1.2.0rc6.post3".
type version struct {
	numbers []int
	// stage is below 0 before the release (dev, a, b, rc), 0 for it, 1 after it
	// (post).
	stage int
}

// parseVersion reads a version. A leading "v" and what follows a "+" are dropped.
func parseVersion(s string) (version, error) {
	rest, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(s), "v"), "+")
	var v version
	for {
		end := 0
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(rest[:end])
		if err != nil {
			return version{}, fmt.Errorf("%q is no version; want for instance 0.11.2 or 1.2.0rc6", s)
		}
		v.numbers = append(v.numbers, n)
		rest = rest[end:]
		if len(rest) < 2 || rest[0] != '.' || rest[1] < '0' || rest[1] > '9' {
			break
		}
		rest = rest[1:]
	}
	tag := strings.TrimLeft(strings.ToLower(rest), ".-_")
	for _, t := range []struct {
		word  string
		stage int
	}{{"dev", -4}, {"a", -3}, {"b", -2}, {"rc", -1}, {"post", 1}} {
		if strings.HasPrefix(tag, t.word) {
			v.stage = t.stage
			return v, nil
		}
	}
	if rest != "" {
		return version{}, fmt.Errorf("%q is no version; want for instance 0.11.2 or 1.2.0rc6", s)
	}
	return v, nil
}

// mustVersion reads a bound of a range; the test of the catalog reads them all.
func mustVersion(s string) version {
	v, err := parseVersion(s)
	if err != nil {
		panic("engine: " + err.Error())
	}
	return v
}

// compare orders versions; missing numbers count as 0, so 0.14 is 0.14.0.
func (v version) compare(w version) int {
	for i := range max(len(v.numbers), len(w.numbers)) {
		var a, b int
		if i < len(v.numbers) {
			a = v.numbers[i]
		}
		if i < len(w.numbers) {
			b = w.numbers[i]
		}
		if c := cmp.Compare(a, b); c != 0 {
			return c
		}
	}
	return cmp.Compare(v.stage, w.stage)
}

// checkRanges finds gaps between the ranges of one engine, newest first.
func checkRanges(ranges []Range) error {
	for i, r := range ranges {
		for _, bound := range []string{r.Since, r.Until} {
			if _, err := parseVersion(bound); bound != "" && err != nil {
				return err
			}
		}
		if i == 0 && r.Until != "" {
			return fmt.Errorf("the newest range ends at %s; it must be open", r.Until)
		}
		if i > 0 && r.Until != ranges[i-1].Since {
			return fmt.Errorf("%s is not next to %s", r, ranges[i-1])
		}
	}
	if !slices.IsSortedFunc(ranges, func(a, b Range) int {
		if a.Since == "" || b.Since == "" {
			return strings.Compare(b.Since, a.Since)
		}
		return mustVersion(b.Since).compare(mustVersion(a.Since))
	}) {
		return fmt.Errorf("the ranges are not in order: %v", ranges)
	}
	return nil
}
