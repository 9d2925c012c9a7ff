package measure

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/cholesky"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
)

// speed is what a copy of a deployment does at a load, as predicted.
type speed struct {
	judged  [quantities]float64 // seconds, that limits apply to
	latency float64             // of a request, judged
	mean    [quantities]float64
	tokens  float64 // output tokens per second of the whole deployment and paid device
}

// option is a deployment of the decision.
type option struct {
	speeds []speed // at growing loads
	first  int     // its first point
	output float64 // tokens of an answer
}

// decision is a choice between deployments.
type decision struct {
	options []option
	limits  workload.Limits
	belief  *belief
	drawn   []world
}

// world is one way in which all predictions may be wrong.
type world struct {
	off   [quantities][]float64 // ln(measured/predicted) at each point
	noise [quantities][]float64 // of a run there
	value []float64             // what each option carries
	best  float64
}

// draws is the number of worlds: chances are then within about a point.
const draws = 2000

// negligible is how much less than the best a choice may carry and not be wrong.
const negligible = 0.05

// draw draws worlds, the same for the same question.
func (d *decision) draw() {
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same answer for the same question
	n := len(d.belief.points)
	var lower [quantities]cholesky.Lower
	for q := range quantities {
		lower[q] = cholesky.Factor(d.belief.prior[q], coincide)
	}
	d.drawn = make([]world, draws)
	for k := range d.drawn {
		w := &d.drawn[k]
		for q := range quantities {
			z := make([]float64, n)
			w.off[q], w.noise[q] = make([]float64, n), make([]float64, n)
			for i := range n {
				z[i] = rng.NormFloat64()
				for j := range i + 1 {
					w.off[q][i] += lower[q][i][j] * z[j]
				}
				w.noise[q][i] = noise(q) * rng.NormFloat64()
			}
		}
		w.value = d.values(&w.off)
		for _, v := range w.value {
			w.best = max(w.best, v)
		}
	}
}

// values is what each option carries if predictions are off by this much.
func (d *decision) values(off *[quantities][]float64) []float64 {
	out := make([]float64, len(d.options))
	for i := range d.options {
		out[i] = d.carries(&d.options[i], off)
	}
	return out
}

// carries is the most tokens per second within the limits, between the loads that were simulated. What misses the limits at the
// lowest load carries less the more it misses them by.
func (d *decision) carries(o *option, off *[quantities][]float64) float64 {
	best, over, tokens := 0.0, 0.0, 0.0
	for k := range o.speeds {
		s := &o.speeds[k]
		first, each := math.Exp(off[ttft][o.first+k]), math.Exp(off[tpot][o.first+k])
		after := o.output - 1
		slower := (s.mean[ttft]*first + s.mean[tpot]*each*after) / (s.mean[ttft] + s.mean[tpot]*after)
		now, carried := exceeds(d.limits, s.judged[ttft]*first, s.judged[tpot]*each, s.latency*slower), s.tokens/slower
		switch {
		case now <= 1:
			best = max(best, carried)
		case k == 0:
			best = carried / (now * now)
		case over <= 1 && over > 0: // the limit is between this load and the last
			share := math.Log(1/over) / math.Log(now/over)
			best = max(best, tokens+share*(carried-tokens))
		}
		over, tokens = now, carried
	}
	return best
}

// exceeds is how many times a limit the time takes that exceeds it most; small without limits.
func exceeds(l workload.Limits, first, each, whole float64) float64 {
	out := 1e-6
	for _, x := range [...][2]float64{{first, float64(l.TTFT)}, {each, float64(l.TPOT)}, {whole, float64(l.Latency)}} {
		if x[1] > 0 && !math.IsInf(x[1], 1) {
			out = max(out, x[0]/x[1])
		}
	}
	return out
}

// verdict is how good the choice is that follows from what is measured at some points.
type verdict struct {
	wrong float64   // chance that another option carries noticeably more
	best  []float64 // chance of each option to be chosen
	// spread is the standard deviation of the logarithm of what the chosen one carries.
	spread float64
}

// after is the verdict if some points are measured.
func (d *decision) after(measured []int) verdict {
	out := verdict{best: make([]float64, len(d.options))}
	n := len(d.belief.points)
	var weights [quantities][][]float64
	for q := range quantities {
		weights[q] = d.belief.weights(q, measured)
	}
	var expected [quantities][]float64
	for q := range quantities {
		expected[q] = make([]float64, n)
	}
	var sum float64
	seen := make([]float64, len(measured))
	for k := range d.drawn {
		w := &d.drawn[k]
		for q := range quantities {
			for j, at := range measured {
				seen[j] = w.off[q][at] + w.noise[q][at]
			}
			for i := range n {
				expected[q][i] = 0
				for j, x := range seen {
					expected[q][i] += weights[q][i][j] * x
				}
			}
		}
		values := d.values(&expected)
		i := largest(values)
		out.best[i]++
		if w.value[i] < (1-negligible)*w.best {
			out.wrong++
		}
		off := math.Log(w.value[i] / values[i])
		sum += off * off
	}
	for i := range out.best {
		out.best[i] /= float64(len(d.drawn))
	}
	out.wrong /= float64(len(d.drawn))
	out.spread = math.Sqrt(sum / float64(len(d.drawn)))
	return out
}

func largest(values []float64) int {
	at := 0
	for i, v := range values {
		if v > values[at] {
			at = i
		}
	}
	return at
}

// candidate is a run that can be made: at a point, on a server that takes a time to start once.
type candidate struct {
	Run

	at, server int
}

// chosen is a run that is worth its time, with the verdict after it and those before.
type chosen struct {
	candidate
	verdict
}

// asGood is how much a point of spread counts beside a point of the chance of a wrong choice: the choice comes first, and where it is clear
// its load.
const asGood = 0.2

// worth is how much a run must better the verdict.
const worth = 0.004

// choose picks runs one after another, each the one that betters the verdict most for its time, until the time is used up.
func (d *decision) choose(all []candidate, seconds float64) []chosen {
	score := func(v *verdict) float64 { return v.wrong + asGood*v.spread }
	var out []chosen
	var measured []int
	now := d.after(nil)
	started := map[int]bool{}
	for {
		var best *chosen
		gained := 0.0
		for _, c := range all {
			takes := c.Seconds
			if !started[c.server] {
				takes += c.Start
			}
			if takes > seconds || slices.Contains(measured, c.at) {
				continue
			}
			v := d.after(append(slices.Clip(measured), c.at))
			if gain := (score(&now) - score(&v)) / takes; score(&now)-score(&v) > worth && (best == nil || gain > gained) {
				best, gained = &chosen{c, v}, gain
			}
		}
		if best == nil {
			return out
		}
		seconds -= best.Seconds
		if !started[best.server] {
			seconds -= best.Start
		}
		started[best.server] = true
		measured = append(measured, best.at)
		now = best.verdict
		out = append(out, *best)
	}
}
