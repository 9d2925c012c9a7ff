package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// sessionKeys are the keys of a workload of sessions.
func sessionKeys() []string {
	return []string{"system", "turns", "first", "user", "output", "low", "think"}
}

// sessionOf reads KEY=VALUE,…[:SHARE] into a workload.
func sessionOf(x *session.Workload, name, spec string) error {
	x.Session = &workload.Session{}
	list, share, shared := strings.Cut(spec, ":")
	if shared {
		n, err := strconv.ParseFloat(share, 64)
		if err != nil || !(n > 0) {
			return usagef("--workload %s: SHARE must be a number above 0, got %q", name, share)
		}
		x.Share = n
	}
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(list, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return usagef("--workload %s: sessions are described by KEY=VALUE,…, got %q", name, pair)
		}
		if !slices.Contains(sessionKeys(), key) {
			hint := ""
			if near, ok := nearest.Match(key, sessionKeys()); ok {
				hint = "; nearest: " + near
			}
			return usagef("--workload %s: the keys of a session are %s, got %q%s", name, join(sessionKeys()), key, hint)
		}
		if seen[key] {
			return usagef("--workload %s: %s is given twice", name, key)
		}
		seen[key] = true
		if err := sessionValue(x.Session, key, value); err != nil {
			return usagef("--workload %s: %w", name, err)
		}
	}
	for _, key := range []string{"turns", "first", "output"} {
		if !seen[key] {
			return usagef("--workload %s: sessions need %s", name, key)
		}
	}
	return nil
}

// sessionValue sets one value of a session.
func sessionValue(s *workload.Session, key, value string) error {
	whole := func(to *int, word string) error {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 {
			return fmt.Errorf("%s must be a whole number, got %q", key, value)
		}
		*to = n
		return nil
	}
	switch key {
	case "low", "think":
		n, err := strconv.ParseFloat(value, 64)
		if err != nil || !(n >= 0) {
			return fmt.Errorf("%s must be a number of at least 0, got %q", key, value)
		}
		if key == "low" {
			s.LengthLow = n
		} else {
			s.Think = units.Seconds(n)
		}
		return nil
	case "turns": // N, or a range
		least, most, ok := strings.Cut(value, "-")
		if !ok {
			return whole(&s.Turns, value)
		}
		if err := whole(&s.MinTurns, least); err != nil {
			return err
		}
		return whole(&s.Turns, most)
	}
	to := map[string]*int{"system": &s.System, "first": &s.First, "user": &s.User, "output": &s.Output}
	return whole(to[key], value)
}
