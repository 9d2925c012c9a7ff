package ops_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/ways"
)

// TestTake: the first step that meets the limits, otherwise the first of three that run, otherwise the first error.
func TestTake(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		steps string // e: does not run, r: runs, m: meets the limits
		want  int
		tried int
		err   string
	}{
		{"m", 0, 1, ""},
		{"erm", 2, 3, ""},
		{"erre", 1, 4, ""},
		{"rrrm", 0, 3, ""},
		{"ee", 0, 2, "0"},
	} {
		steps, tried := []int{0, 1, 2, 3}[:len(c.steps)], 0
		got, err := ways.Take(steps, func(i *int) (bool, error) {
			tried++
			if c.steps[*i] == 'e' {
				return false, errors.New(string('0' + rune(*i)))
			}
			return c.steps[*i] == 'm', nil
		})
		if *got != c.want || tried != c.tried || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: step %d after %d, %v", c.steps, *got, tried, err)
		}
	}
}

// TestMoreDevices: powers of two above the number there is, up to so many times as many.
func TestMoreDevices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		have, growth, most int
		want               []int
	}{{1, 8, 100, []int{2, 4, 8}}, {6, 8, 100, []int{8, 16, 32}}, {8, 64, 16, []int{16}}, {8, 64, 8, nil}} {
		if got := ways.Devices(c.have, c.growth, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestOtherSystems: the nearest of a vendor's own better systems come first, then those of others.
func TestOtherSystems(t *testing.T) {
	t.Parallel()
	own, err := device.Lookup("h100_sxm")
	if err != nil {
		t.Fatal(err)
	}
	memory := func(d *device.Profile) float64 { return float64(d.Memory) }
	got := ways.Systems(new(session.Session), own, func(d *device.Profile) bool { return d.Memory > own.Memory }, memory)
	if len(got) != 2 {
		t.Fatalf("%d groups", len(got))
	}
	for i, group := range got {
		if len(group) == 0 || len(group) > 4 || !slices.IsSortedFunc(group, func(a, b *device.Profile) int { return int(a.Memory - b.Memory) }) {
			t.Errorf("group %d: %d systems", i, len(group))
		}
		for _, d := range group {
			if (d.Vendor == own.Vendor) != (i == 0) || d.Memory <= own.Memory {
				t.Errorf("group %d has %s", i, d.Name)
			}
		}
	}
}
