package figures

// Estimate is a predicted value with its 80 % interval.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Zero is the estimate, or the zero estimate where there is none.
func (e *Estimate) Zero() Estimate {
	if e == nil {
		return Estimate{}
	}
	return *e
}

// Sure is a value that is given.
func Sure(value float64) Estimate { return Estimate{value, value, value} }

// Times is the estimate of so many times the value.
func (e Estimate) Times(n float64) Estimate { return Estimate{n * e.Value, n * e.Low, n * e.High} }
