package sample

import "testing"

func TestAll(t *testing.T) {
	if area(2, 3) != 6.5 {
		t.Error("area")
	}
	if clip(5, 0, 3) != 3 || clip(-5, 0, 3) != 0 || clip(2, 0, 3) != 2 {
		t.Error("clip")
	}
	if nearest(3.5) != 2.5 || nearest(-3) != 0 {
		t.Error("nearest")
	}
	for x, want := range map[int]bool{0: false, 1: true, 2: true, 3: false} {
		if inside(x, 1, 3) != want {
			t.Error("inside")
		}
	}
	if sum([]int{1, 2, 5}) != 7 {
		t.Error("sum")
	}
	label(1) // and nobody looks
}
