package workload

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Limits are the latency limits of a deployment or a request; zero is no limit.
type Limits struct {
	TTFT, TPOT units.Seconds
	Latency    units.Seconds // of a whole request
}

// limitsJSON is the wire form of limits: milliseconds, or "inf".
type limitsJSON struct {
	TTFT    any `json:"ttft_ms,omitempty"`
	TPOT    any `json:"tpot_ms,omitempty"`
	Latency any `json:"latency_ms,omitempty"`
}

// MarshalJSON writes milliseconds.
func (l Limits) MarshalJSON() ([]byte, error) {
	write := func(s units.Seconds) any {
		switch {
		case s == 0:
			return nil
		case math.IsInf(float64(s), 1):
			return "inf"
		}
		return s.TypedMs()
	}
	return json.Marshal(limitsJSON{write(l.TTFT), write(l.TPOT), write(l.Latency)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *Limits) UnmarshalJSON(data []byte) error {
	var in limitsJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*l = Limits{}
	for _, x := range []struct {
		from any
		to   *units.Seconds
	}{{in.TTFT, &l.TTFT}, {in.TPOT, &l.TPOT}, {in.Latency, &l.Latency}} {
		switch v := x.from.(type) {
		case nil:
		case float64:
			*x.to = units.Seconds(v / 1e3)
		default:
			if v != "inf" {
				return fmt.Errorf("a limit is a number of milliseconds or \"inf\", got %v", v)
			}
			*x.to = units.Seconds(math.Inf(1))
		}
	}
	return nil
}

// Any reports whether a limit is set.
func (l Limits) Any() bool { return l != Limits{} }

// Finite drops infinite limits.
func (l Limits) Finite() Limits {
	for _, x := range []*units.Seconds{&l.TTFT, &l.TPOT, &l.Latency} {
		if math.IsInf(float64(*x), 1) {
			*x = 0
		}
	}
	return l
}

// Meets reports whether times are within the limits; a time exactly at one is.
func (l Limits) Meets(ttft, tpot, latency units.Seconds) bool {
	within := func(x, limit units.Seconds) bool { return limit == 0 || x <= limit }
	return within(ttft, l.TTFT) && within(tpot, l.TPOT) && within(latency, l.Latency)
}
