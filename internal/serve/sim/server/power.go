package server

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// power is how much of its power a device has drawn lately, beyond that of steps that read weights: 1 is that of steps that
// compute, which is more than it is allowed for long, 0 that of the others, and less that of none. A device at its
// limit lowers its clock, and what computes takes longer.
//
// On an H200 (bf16 products of 2,048 rows among memory-bound ones, 12 s each) they took 1.03 times as long as after a
// pause where they were 0.21 of the time, 1.07 at 0.36, 1.12 at 0.54, 1.16 at 0.71 and 1.19 at 1; no longer with pauses of half
// their time or more between them. The clock fell after 30 ms, and again after 100.
type power struct {
	level float64
	at    units.Seconds
}

const (
	powerTime = 0.06 // seconds in which the level follows
	pauseDraw = -2   // 250 W, where reading weights draws 660 and computing would draw 900
)

// toward is the level after a time of another draw.
func toward(level, draw float64, time units.Seconds) float64 {
	return draw + (level-draw)*math.Exp(-float64(time)/powerTime)
}

// throttled is how much longer a step takes that begins on a device whose last one has ended, or ends now.
func (p *power) throttled(l *Launch, last, start units.Seconds) units.Seconds {
	if l.Throttled == 0 {
		return 0
	}
	p.level = toward(p.level, 0, max(0, last-p.at))
	p.level = toward(p.level, pauseDraw, max(0, start-max(last, p.at)))
	// Prices are those of a step after a pause, with what it is held back towards its end.
	longer := held(p.level, l.Compute) - held(pauseDraw, l.Compute)
	p.level = toward(p.level, 1, l.Compute)
	return l.Throttled * units.Seconds(longer)
}

// held is the level above 0, on average over a time of computing.
func held(level float64, time units.Seconds) float64 {
	from := 0.0 // when the level reaches 0
	if level < 0 {
		from = powerTime * math.Log(1-level)
	}
	rest := float64(time) - from
	if rest <= 0 {
		return 0
	}
	short := 1 - max(0, level) // of the level of computing
	return (rest - short*powerTime*(1-math.Exp(-rest/powerTime))) / float64(time)
}
