package calibration

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Neighbours are measured deployments like that of a prediction, with the errors of their predictions.
type Neighbours struct {
	Of   string `json:"of"` // "NVIDIA, vllm"
	Rows int    `json:"deployments"`
	// Measured over predicted, less one: the ends of an interval that holds 80 % of them, and its middle.
	figures.Each[figures.Estimate]
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
	relative := func(e Error) figures.Estimate {
		return figures.Estimate{Value: math.Expm1((e.Low + e.High) / 2), Low: math.Expm1(e.Low), High: math.Expm1(e.High)}
	}
	return Neighbours{of, r.Rows, figures.Each[figures.Estimate]{TTFT: relative(r.TTFT), TPOT: relative(r.TPOT), Throughput: relative(r.Throughput)}}
}

// Nearest is a measured deployment with a known correction.
type Nearest struct {
	Deployment string `json:"deployment"` // "TP 8 DP 1 of Qwen/Qwen3-32B (bf16) on h100_sxm under vllm 0.12.0"
	Rows       int    `json:"rows"`
	Source     string `json:"source"`
	// Nearness is the share of its corrections that holds here, if it were the only one.
	Nearness float64 `json:"nearness"`
	// Kernels and Prompts are measured times over those that the fit without its memory predicts: of all kernels, and beside that of prompts.
	Kernels float64 `json:"kernels"`
	Prompts float64 `json:"prompts"`
}

// Nearest are the remembered deployments that a reader is shown as neighbours of a subject, at most five, the nearest first.
func (m *Memory) Nearest(s *Subject) []Nearest {
	const most = 5
	out := []Nearest{}
	for i := range m.Points() {
		p := &m.points[i]
		if x := nearness(s, &p.Subject); x >= neighbour {
			ofKernels, ofPrompts := m.Recall(&p.Subject)
			out = append(out, Nearest{p.Subject.inShort(), p.Rows, p.Source, x, math.Exp(known(p.Kernels, ofKernels)), math.Exp(known(p.Prompts, ofPrompts))})
		}
	}
	slices.SortStableFunc(out, func(a, b Nearest) int { return cmp.Compare(b.Nearness, a.Nearness) })
	return out[:min(most, len(out))]
}

// known is a number where it is kept, and otherwise what the neighbours say.
func known(x, otherwise float64) float64 {
	if math.IsNaN(x) {
		return otherwise
	}
	return x
}
