package optimize

import (
	"github.com/plimsoll-project/plimsoll/internal/compat/ascend"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
)

// Ratio is the matching of prefill and decode.
type Ratio struct {
	Pairs []Pair `json:"pairs"` // counted as the guide does
	// Sustained is what instances carry without end; null where a phase has no row.
	Sustained *Sustained `json:"sustained"`
	// Instances carry the most within the devices, Nearest are closest to the ratio of
	// the first pair, as the guide has it. Both are null if not one of each phase fits.
	Instances *Instances `json:"instances"`
	Nearest   *Instances `json:"nearest_ratio"`
}

// Sustained is the best row of each phase and the sustained rate of one instance of each.
type Sustained struct {
	PrefillQPS float64 `json:"p_qps"`
	DecodeQPS  float64 `json:"d_qps"`
	P          Row     `json:"prefill"`
	D          Row     `json:"decode"`
}

// Pair is a prefill and a decode deployment.
type Pair struct {
	Ratio float64 `json:"pd_ratio"` // prefill instances per decode instance
	// Rate is the balanced rate with its interval, Chance the probability that both
	// phases meet their limits, null without limits.
	Rate   figures.Estimate `json:"balanced_qps"`
	Chance *float64         `json:"chance_within_limits"`

	PrefillQPS float64 `json:"p_qps"`
	DecodeQPS  float64 `json:"d_qps"`
	// Sustained is the sustained rate of one prefill instance of the layout.
	Sustained float64 `json:"p_sustained_qps"`
	P         Row     `json:"prefill"`
	D         Row     `json:"decode"`

	Balanced float64              `json:"-"` // as in Rate
	Expected calibration.Expected `json:"-"` // errors
}

// Instances is the split of the device budget.
type Instances struct {
	formulas.Instances

	QPS float64 `json:"system_qps"`
}

// match pairs the phases and divides the device budget.
func (o *optimization) match(p, d *task) *Ratio {
	out := &Ratio{Pairs: []Pair{}}
	for _, x := range ascend.Pairs(p.Rows, d.Rows) {
		out.Pairs = append(out.Pairs, NewPair(&x, p.rowAt(x.P, &x.Prefill), d.row(x.D)))
	}
	if len(out.Pairs) == 0 {
		return out
	}
	s := &Sustained{P: p.row(p.Rows[0]), D: d.row(d.Rows[0])}
	s.PrefillQPS, s.DecodeQPS = formulas.Sustained(&s.P.Best), formulas.Answers(&s.D.Best, o.r.Output)
	out.Sustained = s
	if n := formulas.Split(s.PrefillQPS, s.DecodeQPS, o.r.NumDevices, o.r.PrefillDevices, o.r.DecodeDevices); n.Prefill > 0 {
		out.Instances = s.instances(n)
		out.Nearest = s.instances(formulas.Nearest(out.Pairs[0].Ratio, o.r.NumDevices, o.r.PrefillDevices, o.r.DecodeDevices))
	}
	return out
}

func (s *Sustained) instances(n formulas.Instances) *Instances {
	return &Instances{n, n.QPS(s.PrefillQPS, s.DecodeQPS)}
}

// NewPair is a matched pair with its intervals. TTFT is prefill's and TPOT
// decode's. The balanced rate takes the error of decode's throughput: residuals
// are of the output tokens of whole deployments, there are none of prefill alone.
// The phases' errors are taken as independent, as those of TTFT and TPOT are.
func NewPair(x *ascend.Pair, p, d Row) Pair {
	out := Pair{Ratio: x.Ratio, Balanced: x.Balanced, PrefillQPS: x.PrefillQPS, DecodeQPS: x.DecodeQPS, Sustained: formulas.Sustained(&x.P.Best), P: p, D: d}
	out.Expected = d.Expected
	out.Expected.TTFT = p.Expected.TTFT
	out.Rate = out.Expected.Throughput.Of(out.Balanced)
	if p.Judged.Chance != nil || d.Judged.Chance != nil {
		out.Chance = new(p.Judged.Sure() * d.Judged.Sure())
	}
	return out
}
