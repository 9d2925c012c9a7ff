package units

import (
	"encoding/json"
	"fmt"
	"math"
)

// InMs is a duration that JSON has in milliseconds.
type InMs Seconds

// InGiB is an amount of memory that JSON has in GiB.
type InGiB Bytes

// InKiB is an amount of memory that JSON has in KiB.
type InKiB Bytes

// Ms returns the duration in milliseconds.
func (s InMs) Ms() float64 { return Seconds(s).Ms() }

// String prints a duration as [Seconds] does.
func (s InMs) String() string { return Seconds(s).String() }

// MarshalJSON writes milliseconds.
func (s InMs) MarshalJSON() ([]byte, error) { return json.Marshal(s.Ms()) }

// UnmarshalJSON reads milliseconds.
func (s *InMs) UnmarshalJSON(data []byte) error { return readMs(data, s) }

// GiB returns the amount in gibibytes.
func (b InGiB) GiB() float64 { return Bytes(b).GiB() }

// String prints an amount as [Bytes] does.
func (b InGiB) String() string { return Bytes(b).String() }

// MarshalJSON writes GiB.
func (b InGiB) MarshalJSON() ([]byte, error) { return json.Marshal(b.GiB()) }

// UnmarshalJSON reads GiB.
func (b *InGiB) UnmarshalJSON(data []byte) error { return scaled(data, b, InGiB(GiB)) }

// KiB returns the amount in kibibytes.
func (b InKiB) KiB() float64 { return float64(Bytes(b) / KiB) }

// String prints an amount as [Bytes] does.
func (b InKiB) String() string { return Bytes(b).String() }

// MarshalJSON writes KiB.
func (b InKiB) MarshalJSON() ([]byte, error) { return json.Marshal(b.KiB()) }

// UnmarshalJSON reads KiB.
func (b *InKiB) UnmarshalJSON(data []byte) error { return scaled(data, b, InKiB(KiB)) }

// Known is a number that is known unless it is zero, which is nil, and null in JSON.
func Known[T ~int | ~float64](x T) *T {
	if x == 0 {
		return nil
	}
	return &x
}

// Share is a part of a whole, 0 of none.
func Share[T ~float64](part, whole T) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part / whole)
}

// readMs reads milliseconds: the duration of which they are the milliseconds, to the last digit, so that what is
// read and written again is the same.
func readMs[T ~float64](data []byte, into *T) error {
	var ms float64
	err := json.Unmarshal(data, &ms)
	s := ms / 1e3
	for _, near := range []float64{s, math.Nextafter(s, math.Inf(-1)), math.Nextafter(s, math.Inf(1))} {
		if near*1e3 == ms {
			s = near
			break
		}
	}
	*into = T(s)
	return err
}

// scaled reads a number in a unit. One that is too large for it is an error, as it is for package json.
func scaled[T ~float64](data []byte, into *T, unit T) error {
	var x float64
	err := json.Unmarshal(data, &x)
	if *into = T(x) * unit; math.IsInf(float64(*into), 0) {
		return fmt.Errorf("%g is out of range", x)
	}
	return err
}
