package search

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
)

// TestPacking: every unit fits, and no combination of workers that fits has more of
// both.
func TestPacking(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := Packing{Devices: rapid.IntRange(1, 40).Draw(t, "devices"), MaxPrefill: rapid.IntRange(0, 9).Draw(t, "x"), MaxDecode: rapid.IntRange(0, 9).Draw(t, "y")}
		p, d := rapid.IntRange(1, 8).Draw(t, "p"), rapid.IntRange(1, 8).Draw(t, "d")
		got := k.list(p, d)
		for x := 1; x*p+d <= k.Devices && (k.MaxPrefill == 0 || x <= k.MaxPrefill); x++ {
			for y := 1; x*p+y*d <= k.Devices && (k.MaxDecode == 0 || y <= k.MaxDecode); y++ {
				n := k.Devices / (x*p + y*d)
				if !slices.ContainsFunc(got, func(u pack) bool { return u.X*u.Copies >= x*n && u.Y*u.Copies >= y*n }) {
					t.Fatalf("%d copies of %dP%dD are not in %v, nor is anything larger", n, x, y, got)
				}
			}
		}
		for _, u := range got {
			if u.Copies*(u.X*p+u.Y*d) > k.Devices || u.Copies < 1 {
				t.Fatalf("%+v does not fit", u)
			}
		}
	})
}

// TestPackingOfAny: without a number of devices every ratio of workers up to the largest
// unit comes once.
func TestPackingOfAny(t *testing.T) {
	k := Packing{MaxDevices: 8, MaxPrefill: 3, MaxDecode: 3}
	want := []pack{{1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {1, 2, 1}, {3, 2, 1}, {1, 3, 1}, {2, 3, 1}}
	if got := k.list(1, 1); !slices.Equal(got, want) {
		t.Errorf("want %v, got %v", want, got)
	}
	if got := k.list(4, 4); !slices.Equal(got, want[:1]) {
		t.Errorf("want %v, got %v", want[:1], got)
	}
}

// TestClosest: of layouts that do not run, the reason of the one that lacks the least
// memory is given, wherever it stands.
func TestClosest(t *testing.T) {
	t.Parallel()
	short := func(devices int, weights units.InGiB) Rejected {
		memory := engine.Budget{Memory: 10, Weights: weights}
		return Rejected{Layout: parallel.Layout{Devices: devices}, Err: &replica.NoCacheError{Memory: memory}}
	}
	other := Rejected{Layout: parallel.Layout{Devices: 64}, Err: errors.New("heads do not divide")}
	if got := Closest([]Rejected{short(8, 30), short(16, 12), short(32, 20), other}); got.Layout.Devices != 16 {
		t.Errorf("closest is %v", got.Layout)
	}
	if got := Closest([]Rejected{other}); got.Layout.Devices != 64 {
		t.Errorf("closest is %v", got.Layout)
	}
}
