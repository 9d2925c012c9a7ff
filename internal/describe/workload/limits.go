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

// limitsJSON is the wire form of limits.
type limitsJSON struct {
	TTFT    milliseconds `json:"ttft_ms,omitzero" exclusiveMinimum:"0" maximum:"1000000000000"`
	TPOT    milliseconds `json:"tpot_ms,omitzero" exclusiveMinimum:"0" maximum:"1000000000000"`
	Latency milliseconds `json:"latency_ms,omitzero" exclusiveMinimum:"0" maximum:"1000000000000"`
}

// milliseconds is a limit in JSON: milliseconds, or "inf".
type milliseconds units.Seconds

// MarshalJSON writes milliseconds.
func (m milliseconds) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(m), 1) {
		return []byte(`"inf"`), nil
	}
	return json.Marshal(units.Seconds(m).TypedMs())
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *milliseconds) UnmarshalJSON(data []byte) error {
	if string(data) == `"inf"` {
		*m = milliseconds(math.Inf(1))
		return nil
	}
	var ms float64
	if json.Unmarshal(data, &ms) != nil {
		return fmt.Errorf("a limit is a number of milliseconds or \"inf\", got %s", data)
	}
	*m = milliseconds(ms / 1e3)
	return nil
}

// JSONForm is the form that strict readers check.
func (Limits) JSONForm() any { return limitsJSON{} }

// MarshalJSON writes milliseconds.
func (l Limits) MarshalJSON() ([]byte, error) {
	return json.Marshal(limitsJSON{milliseconds(l.TTFT), milliseconds(l.TPOT), milliseconds(l.Latency)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *Limits) UnmarshalJSON(data []byte) error {
	var in limitsJSON
	err := json.Unmarshal(data, &in)
	*l = Limits{units.Seconds(in.TTFT), units.Seconds(in.TPOT), units.Seconds(in.Latency)}
	return err
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
