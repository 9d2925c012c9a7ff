package traffic

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Process is how the gaps between arrivals vary.
type Process int

const (
	// Poisson arrivals are independent of each other.
	Poisson Process = iota
	// Gamma arrivals have a given burstiness, see [OpenLoop.Variation].
	Gamma
	// Constant arrivals are evenly spaced.
	Constant
)

// MarshalText names the process.
func (p Process) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the name of a process.
func (p *Process) UnmarshalText(text []byte) error {
	for q := Poisson; q <= Constant; q++ {
		if q.String() == string(text) {
			*p = q
			return nil
		}
	}
	return fmt.Errorf("must be poisson, gamma or constant, got %q", text)
}

// Words lists the names of the processes.
func (Process) Words() []string {
	return []string{Poisson.String(), Gamma.String(), Constant.String()}
}

// String names the process.
func (p Process) String() string {
	switch p {
	case Poisson:
		return "poisson"
	case Gamma:
		return "gamma"
	case Constant:
		return "constant"
	default:
		return fmt.Sprintf("process %d", int(p))
	}
}

// gaps returns a function that draws gaps between arrivals with the mean 1/rate.
func (o *OpenLoop) gaps(random *rand.Rand) func() units.Seconds {
	mean := units.Seconds(1 / o.Rate)
	switch o.Process {
	case Constant:
		return func() units.Seconds { return mean }
	case Gamma:
		// A gamma variable of shape k has a coefficient of variation 1/√k.
		shape := 1 / (o.Variation * o.Variation)
		return func() units.Seconds { return mean * units.Seconds(gamma(random, shape)/shape) }
	default:
		return func() units.Seconds { return mean * units.Seconds(random.ExpFloat64()) }
	}
}

// gamma draws from a gamma distribution with the shape given and scale 1, by
// rejection. Marsaglia and Tsang, A simple method for generating gamma
// variables, ACM TOMS 26 (2000).
func gamma(random *rand.Rand, shape float64) float64 {
	if shape < 1 {
		// A draw of shape + 1 and a uniform power make one of shape.
		u := 1 - random.Float64()
		return gamma(random, shape+1) * math.Pow(u, 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := random.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := 1 - random.Float64()
		if math.Log(u) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
