package session

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/ask"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
)

// Values that are typed in a form of their own.

// LengthFile is a distribution by the file that it is read from, which is not read here.
func LengthFile() ask.Type[*workload.Distribution] {
	return ask.Type[*workload.Distribution]{
		Name: ask.Text.Name,
		Read: func(word string) (*workload.Distribution, error) { return workload.Named(word), nil },
		Write: func(d *workload.Distribution) string {
			if d == nil {
				return ""
			}
			return d.File
		},
	}
}

// FileOf is a distribution as command lines compare it: by its file, if it came from one.
func FileOf(d *workload.Distribution) *workload.Distribution {
	if d == nil || d.File == "" {
		return d
	}
	return &workload.Distribution{Bins: []workload.Bin{}}
}

// Percentile is the statistic that limits apply to: mean, which is 0, or a percentile. One without its p that is below 1 is refused: 0.95
// is likely to mean p95.
func Percentile() ask.Type[float64] {
	return ask.Type[float64]{
		Name: ask.Number.Name,
		Read: func(word string) (float64, error) {
			if word == "mean" {
				return 0, nil
			}
			digits, named := strings.CutPrefix(word, "p")
			x, err := strconv.ParseFloat(digits, 64)
			if err != nil || !(x > 0 && x < 100) || !named && x < 1 {
				return 0, errors.New("want mean, or a percentile above p0 and below p100 such as p95")
			}
			return x, nil
		},
		Write: func(x float64) string { return workload.Statistic{Percentile: x}.Named() },
	}
}

// sessionWord begins a workload that is a session.
const sessionWord = "session"

// WorkloadType is a workload as NAME=ISL:OSL[:SHARE]; a preset, a trace or a session may replace ISL:OSL.
func WorkloadType() ask.Type[Workload] {
	return ask.Type[Workload]{Name: ask.Text.Name, Read: readWorkload, Write: writeWorkload}
}

func writeWorkload(x Workload) string {
	word := fmt.Sprintf("%s=%d:%d", x.Name, x.Input, x.Output)
	switch {
	case x.IsPreset():
		word = x.Name + "=" + x.Preset
	case x.Session != nil:
		word = x.Name + "=" + writeSession(x.Session)
	case x.Trace != "":
		word = x.Name + "=" + x.Trace
	}
	if x.Share != 0 && x.Share != 1 {
		word += ":" + strconv.FormatFloat(x.Share, 'g', -1, 64)
	}
	return word
}

func writeSession(s *workload.Session) string {
	turns := strconv.Itoa(s.Turns)
	if s.MinTurns > 0 {
		turns = fmt.Sprintf("%d-%d", s.MinTurns, s.Turns)
	}
	out := fmt.Sprintf("%s:system=%d,turns=%s,first=%d,user=%d,output=%d", sessionWord, s.System, turns, s.First, s.User, s.Output)
	if s.LengthLow > 0 {
		out += ",low=" + strconv.FormatFloat(s.LengthLow, 'g', -1, 64)
	}
	if s.Think > 0 {
		out += ",think=" + strconv.FormatFloat(float64(s.Think), 'g', -1, 64)
	}
	return out
}

func readWorkload(word string) (Workload, error) {
	name, spec, ok := strings.Cut(word, "=")
	if !ok || name == "" || spec == "" {
		return Workload{}, errors.New("want NAME=ISL:OSL[:SHARE], NAME=PRESET[:SHARE], NAME=FILE[:SHARE] or NAME=session:KEY=VALUE,…[:SHARE]")
	}
	x := Workload{Name: name}
	parts := strings.Split(spec, ":")
	if parts[0] == sessionWord {
		return x, readSession(&x, strings.Join(parts[1:], ":"))
	}
	share := 1
	_, number := strconv.ParseFloat(parts[0], 64)
	_, isPreset := workload.LookupPreset(parts[0])
	switch {
	case number == nil:
		share = 2
		var errs [2]error
		x.Input, errs[0] = strconv.Atoi(parts[0])
		x.Output, errs[1] = strconv.Atoi(strings.Join(parts[1:min(2, len(parts))], ""))
		if errors.Join(errs[:]...) != nil || min(x.Input, x.Output) < 1 {
			return x, fmt.Errorf("ISL:OSL must be whole numbers above 0, got %q", spec)
		}
	case isPreset:
		x.Preset = parts[0]
	default:
		x.Trace = parts[0]
	}
	if len(parts) > share+1 {
		return x, fmt.Errorf("too many parts in %q", spec)
	}
	if len(parts) == share+1 {
		return x, readShare(&x, parts[share])
	}
	return x, nil
}

func readShare(x *Workload, word string) (err error) {
	if x.Share, err = strconv.ParseFloat(word, 64); err != nil || !(x.Share > 0) || math.IsInf(x.Share, 1) {
		return fmt.Errorf("SHARE must be a number above 0, got %q", word)
	}
	return nil
}

// sessionKeys are the keys of a workload of sessions.
func sessionKeys() []string {
	return []string{"system", "turns", "first", "user", "output", "low", "think"}
}

// readSession reads KEY=VALUE,…[:SHARE] into a workload.
func readSession(x *Workload, spec string) error {
	x.Session = &workload.Session{}
	pairs, share, shared := strings.Cut(spec, ":")
	if shared {
		if err := readShare(x, share); err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(pairs, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("sessions are described by KEY=VALUE,…, got %q", pair)
		}
		if !slices.Contains(sessionKeys(), key) {
			hint := ""
			if near, ok := nearest.Match(key, sessionKeys()); ok {
				hint = "; nearest: " + near
			}
			return fmt.Errorf("the keys of a session are %s, got %q%s", strings.Join(sessionKeys(), ", "), key, hint)
		}
		if seen[key] {
			return fmt.Errorf("%s is given twice", key)
		}
		seen[key] = true
		if err := readSessionValue(x.Session, key, value); err != nil {
			return err
		}
	}
	for _, key := range []string{"turns", "first", "output"} {
		if !seen[key] {
			return fmt.Errorf("sessions need %s", key)
		}
	}
	return nil
}

// readSessionValue sets one value of a session.
func readSessionValue(s *workload.Session, key, value string) error {
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

// Typed are workloads as command lines compare them: complete as far as that needs no files.
func Typed(all []Workload) []Workload {
	out := named(slices.Clone(all))
	for i := range out {
		x := &out[i]
		x.talks()
		_, _ = x.complete(len(out) == 1)
		x.InputLengths, x.OutputLengths = FileOf(x.InputLengths), FileOf(x.OutputLengths)
	}
	return out
}

// named names workloads that share a deployment and have no name.
func named(all []Workload) []Workload {
	for i := range all {
		if x := &all[i]; len(all) > 1 && x.Name == "" {
			x.Name = cmp.Or(x.Preset, fmt.Sprint("w", i+1))
		}
	}
	return all
}

// CheckLengths reports a distribution that is typed together with what it replaces.
func CheckLengths(t *ask.Table, distribution, length string) error {
	if !t.Given(distribution) {
		return nil
	}
	if other := t.First(length, "trace"); other != "" {
		return ask.Excludes(field.Name(strings.ReplaceAll(distribution, "-", "_")), other)
	}
	return nil
}
