package engine

import (
	"fmt"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
)

// Range is the versions from Since up to, but without, Until; "" is open.
type Range struct{ Since, Until string }

// String prints the range: "0.14 until 0.22", "0.22 and later", "any".
func (r Range) String() string {
	switch {
	case r.Since == "" && r.Until == "":
		return "any"
	case r.Until == "":
		return r.Since + " and later"
	case r.Since == "":
		return "before " + r.Until
	default:
		return r.Since + " until " + r.Until
	}
}

// contains reports whether a version lies in the range.
func (r Range) contains(v string) bool {
	return version.Compare(v, r.Since) >= 0 && (r.Until == "" || version.Compare(v, r.Until) < 0)
}

// checkRanges finds gaps between the ranges of one engine, newest first.
func checkRanges(ranges []Range) error {
	for i, r := range ranges {
		for _, bound := range []string{r.Since, r.Until} {
			if err := version.Check(bound); bound != "" && err != nil {
				return err
			}
		}
		if i == 0 && r.Until != "" {
			return fmt.Errorf("the newest range must be open-ended, got %s", r.Until)
		}
		if i > 0 && r.Until != ranges[i-1].Since {
			return fmt.Errorf("the range %s does not adjoin %s", r, ranges[i-1])
		}
	}
	if !slices.IsSortedFunc(ranges, func(a, b Range) int { return version.Compare(b.Since, a.Since) }) {
		return fmt.Errorf("the ranges are not in order: %v", ranges)
	}
	return nil
}
