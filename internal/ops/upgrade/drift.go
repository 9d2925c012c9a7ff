package upgrade

import "github.com/plimsoll-project/plimsoll/internal/serve/figures"

// Drift is how much engines changed over a time, for the same deployment and the same requests.
type Drift struct {
	Months int `json:"months"` // that the measurements were apart, about
	Cases  int `json:"cases"`
	// The median of the measured changes, relative, and the range in which four of five lie.
	figures.Each[figures.Estimate]

	Source string `json:"source"`
	// Beyond says that the releases are further apart than the measurements.
	Beyond bool `json:"beyond,omitempty"`
}

// source names the measurements: each case is one model, format, layout, lengths and concurrency without drafts, whose change is the
// median over all pairs of its measurements that are 0.5 to 1.5, or 1.5 to 2.5, months apart. Seven cases further apart are too few.
const source = "nightly runs of ATOM's dashboard on MI355X, with ATOM's own server and with vLLM and SGLang (March to August 2026)"

// drifts are the measured changes: quantiles 10, 50 and 90 % over the cases.
func drifts() []Drift {
	return []Drift{
		{Months: 1, Cases: 236, Each: bands(band(-0.155, -0.003, 0.133), band(-0.087, -0.019, 0.018), band(-0.017, 0.018, 0.102)), Source: source},
		{Months: 2, Cases: 135, Each: bands(band(-0.212, 0.004, 0.374), band(-0.189, -0.056, 0.011), band(-0.017, 0.057, 0.226)), Source: source},
	}
}

func bands(ttft, tpot, throughput figures.Estimate) figures.Each[figures.Estimate] {
	return figures.Each[figures.Estimate]{TTFT: ttft, TPOT: tpot, Throughput: throughput}
}

func band(low, median, high float64) figures.Estimate {
	return figures.Estimate{Value: median, Low: low, High: high}
}

// driftOver is the drift of releases that are so many months apart; backwards the other way around.
func driftOver(months float64) *Drift {
	const split, most = 1.5, 2.5
	back := months < 0
	months = max(months, -months)
	d := drifts()[0]
	if months >= split {
		d = drifts()[1]
	}
	d.Beyond = months > most
	if back {
		for _, b := range []*figures.Estimate{&d.TTFT, &d.TPOT, &d.Throughput} {
			*b = band(1/(1+b.High)-1, 1/(1+b.Value)-1, 1/(1+b.Low)-1)
		}
	}
	return &d
}
