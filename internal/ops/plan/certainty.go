package plan

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
)

// CertaintyClass says how far a prediction within the limits can be relied on.
type CertaintyClass string

// The classes, by the probability that the limits are met.
const (
	Sure     CertaintyClass = "sure"     // 90 % or more
	Likely   CertaintyClass = "likely"   // 50 to 90 %
	Doubtful CertaintyClass = "doubtful" // below 50 %
)

// The bounds of the classes. SafeConfidence is also that of the safe choice.
const (
	SafeConfidence = 0.9
	likelyFrom     = 0.5
)

// Certainty is the probability that the answer meets the limits, which follows from the errors of predictions against measurements.
type Certainty struct {
	Probability float64        `json:"probability"`
	Class       CertaintyClass `json:"class"` // sure, likely or doubtful
	// Words is "Likely that the means meet the limits: 62 %".
	Words string `json:"in_words"`
}

// certaintyOf puts a probability into words; nil without limits.
func certaintyOf(chance *float64, of workload.Statistic) *Certainty {
	if chance == nil {
		return nil
	}
	out := &Certainty{Probability: *chance, Class: Doubtful}
	word := "Doubtful"
	switch {
	case *chance >= SafeConfidence:
		out.Class, word = Sure, "Sure"
	case *chance >= likelyFrom:
		out.Class, word = Likely, "Likely"
	}
	what := "the means meet the limits"
	switch {
	case of.Goodput > 0:
		what = fmt.Sprintf("%g %% of the requests meet all limits", of.At())
	case of.Percentile > 0:
		what = of.Named() + " meets the limits"
	}
	out.Words = fmt.Sprintf("%s that %s: %.0f %%", word, what, 100**chance)
	return out
}

// Safe is the answer at 90 % confidence, if the answer itself is less certain: the same engine and mode, searched again.
type Safe struct {
	Confidence float64 `json:"confidence"`
	// Sentence compares the safe choice with the answer.
	Sentence string `json:"sentence"`
	Command  string `json:"command"`
	Meets    bool   `json:"meets_limits"`
	// The rest is null if no deployment meets the limits at this confidence.
	Deployment  string   `json:"in_words,omitempty"`
	GPUs        *int     `json:"gpus_used"`
	RequestRate *float64 `json:"request_rate"`
	PerMillion  *float64 `json:"usd_per_million_output_tokens"`
	PerMonth    *float64 `json:"usd_per_month"`
}

// safeOf is the safe choice among the changes; nil where the answer is safe itself, or changes were not asked for.
func safeOf(p *Response) *Safe {
	for i := range p.Changes {
		c := &p.Changes[i]
		if !c.Safe || c.Failure != "" {
			continue
		}
		out := &Safe{Confidence: c.Request.Confidence, Meets: c.Meets, Deployment: c.Deployment, GPUs: c.GPUs, RequestRate: c.RequestRate, PerMillion: c.PerMillion, PerMonth: c.PerMonth}
		out.Sentence = out.inWords(&p.Contenders[0])
		return out
	}
	return nil
}

// inWords says what the safe choice costs more than the best one.
func (s *Safe) inWords(best *Contender) string {
	sure := fmt.Sprintf("At %.0f %% confidence", 100*s.Confidence)
	if !s.Meets {
		if best.Load != nil {
			return sure + " no number of GPUs carries this load within the limits."
		}
		return sure + " no deployment on these GPUs meets the limits."
	}
	var out string
	switch {
	case best.Load != nil && *s.GPUs == best.GPUs:
		out = fmt.Sprintf("%s it needs no more GPUs: %s.", sure, s.Deployment)
	case best.Load != nil:
		out = fmt.Sprintf("%s it needs %s instead of %s: %s.", sure, units.Counted(*s.GPUs, "GPU"), units.Thousands(best.GPUs), s.Deployment)
	default:
		out = fmt.Sprintf("%s they carry %s requests per second instead of %s: %s.", sure, units.Figure(*s.RequestRate), units.Figure(best.RequestRate.Value), s.Deployment)
	}
	switch k := best.Cost; {
	case k == nil || s.PerMillion == nil:
	case best.Load != nil:
		out += fmt.Sprintf(" That costs $%s instead of $%s per month.", units.Thousands(int(*s.PerMonth+0.5)), units.Thousands(int(k.PerMonth+0.5)))
	default:
		out += fmt.Sprintf(" That costs $%s instead of $%s per million output tokens.", units.Figure(*s.PerMillion), units.Figure(k.PerMillion.Value))
	}
	return out
}
