package chart

import (
	"image/color"
	"testing"
)

// at is the darkness of a dot, 0 to 255, in a picture of 72 dots to the inch: a point is a dot there.
func (r *raster) at(x, y int) uint8 {
	return 0xff - color.GrayModel.Convert(r.dots.At(x, y)).(color.Gray).Y
}

// The parts of an outline overlap at its corners, and nothing cancels there.
func TestOutlinesAreSolid(t *testing.T) {
	for _, way := range [][]point{
		{{5, 5}, {25, 5}, {25, 25}, {5, 25}},
		{{5, 25}, {25, 25}, {25, 5}, {5, 5}},
	} {
		r := newRaster(30, 30, 72)
		r.stroke(shape{corners: way, closed: true}, pen{width: 4, tint: black()})
		for _, dot := range [][2]int{{4, 4}, {5, 5}, {15, 5}, {24, 4}, {25, 15}, {24, 24}, {5, 15}, {5, 25}} {
			if got := r.at(dot[0], dot[1]); got != 0xff {
				t.Errorf("from %v: dot %v has darkness %d", way[0], dot, got)
			}
		}
		if r.at(15, 15) != 0 || r.at(1, 1) != 0 || r.at(15, 9) != 0 {
			t.Errorf("from %v: ink beside the line", way[0])
		}
	}
}

func TestCirclesAreHollow(t *testing.T) {
	r := newRaster(30, 30, 72)
	r.stroke(shape{corners: []point{{15, 15}}, closed: true, radius: 10}, pen{width: 3, tint: black()})
	if r.at(5, 15) < 0xf0 || r.at(15, 24) < 0xf0 || r.at(15, 15) != 0 || r.at(9, 15) != 0 {
		t.Errorf("darkness of the ring %d and %d, of the middle %d and %d", r.at(5, 15), r.at(15, 24), r.at(15, 15), r.at(9, 15))
	}
}

func TestDashes(t *testing.T) {
	r := newRaster(40, 10, 72)
	r.stroke(line(0, 5, 40, 5), pen{width: 2, tint: black(), dash: 5, gap: 3})
	for x := range 40 {
		want := uint8(0xff)
		if x%8 >= 5 {
			want = 0
		}
		if got := r.at(x, 5); got != want {
			t.Errorf("dot %d: want %d, got %d", x, want, got)
		}
	}
}

// A text that is turned has as much ink as one that is not, above the place it starts from instead of right of it.
func TestUprightText(t *testing.T) {
	f, err := newFonts()
	if err != nil {
		t.Fatal(err)
	}
	ink := func(upright bool) (sum, right, above int) {
		r := newRaster(100, 100, 72)
		r.write("token/s", f.sans(12), point{50, 50}, upright)
		for y := range 100 {
			for x := range 100 {
				n := int(r.at(x, y))
				sum += n
				if x > 62 {
					right += n
				}
				if y < 38 {
					above += n
				}
			}
		}
		return sum, right, above
	}
	flat, right, none := ink(false)
	turned, nothing, above := ink(true)
	if none != 0 || nothing != 0 || right == 0 || above == 0 || max(flat, turned)*100 > min(flat, turned)*105 {
		t.Errorf("flat: %d, right %d, above %d; turned: %d, right %d, above %d", flat, right, none, turned, nothing, above)
	}
}

// What lies outside the picture is left out.
func TestOutside(t *testing.T) {
	r := newRaster(10, 10, 72)
	r.fill(box{point{-50, -50}, point{-10, -10}}.outline(), black())
	r.fill(box{point{5, -50}, point{60, 60}}.outline(), black())
	if r.at(2, 5) != 0 || r.at(7, 5) != 0xff {
		t.Errorf("left %d, right %d", r.at(2, 5), r.at(7, 5))
	}
}
