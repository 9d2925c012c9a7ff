package document

import (
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
)

// Explanation explains the best row of a pass.
type Explanation struct {
	Device   string            `json:"device"`
	Phase    string            `json:"phase"`
	Parallel string            `json:"parallel"`
	Binds    string            `json:"bound_by"`
	Steps    []StepShare       `json:"steps"`
	Next     string            `json:"next_parallel,omitempty"`
	Gap      *float64          `json:"next_gap,omitempty"`
	WhatIf   []optimize.WhatIf `json:"what_if"`
}

// StepShare is where the time of a step goes.
type StepShare struct {
	Phase     string     `json:"phase"`
	TotalS    float64    `json:"total_s"`
	Breakdown *Breakdown `json:"breakdown"`
	Fixed     float64    `json:"fixed_share"`
	Command   string     `json:"command,omitempty"`
}

func explanation(x *optimize.Explanation, command func(*step.Request) string) Explanation {
	out := Explanation{
		Device: x.Device, Phase: optimize.Phase(x.Mode), Parallel: x.Row.Label, Binds: string(x.Row.Binds),
		Steps: []StepShare{}, WhatIf: append([]optimize.WhatIf{}, x.What...),
	}
	for _, s := range x.Steps {
		step := StepShare{Phase: s.Phase, TotalS: float64(s.Time), Breakdown: breakdown(s.Bound), Fixed: share(s.Fixed, s.Time) / 100}
		if command != nil && s.Request != nil {
			step.Command = command(s.Request)
		}
		out.Steps = append(out.Steps, step)
	}
	if x.Next != nil {
		out.Next, out.Gap = x.Next.Label, &x.Gap
	}
	return out
}
