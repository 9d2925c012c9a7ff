package calibration

import "math"

// Neighbours are measured deployments like that of a prediction, with the errors of their predictions.
type Neighbours struct {
	Of   string `json:"of"` // "NVIDIA, vllm"
	Rows int    `json:"deployments"`
	// Measured over predicted, less one: the ends of an interval that holds 80 % of them.
	TTFT       Interval `json:"ttft"`
	TPOT       Interval `json:"tpot"`
	Throughput Interval `json:"throughput"`
}

// Neighbours are the groups of measured deployments that a case belongs to, from the widest to the narrowest: those that [Overlay.Expect]
// draws its errors from. How says how these deployments were predicted.
func (o *Overlay) Neighbours(s *Case) (groups []Neighbours, how string) {
	kind := o.kind(s)
	path := s.Path(kind)
	groups = []Neighbours{}
	for i, r := range o.along(path) {
		of := "all"
		if i > 0 {
			of = s.inWords(path[1 : i+1])
		}
		groups = append(groups, r.neighbours(of))
	}
	if r, ok := o.Residuals[s.OwnResiduals()]; ok && s.Method == Simulated {
		groups = append(groups, r.neighbours("this model, system and engine"))
	}
	return groups, kind.how()
}

func (r *Residuals) neighbours(of string) Neighbours {
	relative := func(e Error) Interval { return Interval{math.Expm1(e.Low), math.Expm1(e.High)} }
	return Neighbours{of, r.Rows, relative(r.TTFT), relative(r.TPOT), relative(r.Throughput)}
}
