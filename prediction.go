package plimsoll

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// Prediction is the performance of a deployment under a workload. Its figures are
// those of "plimsoll simulate" for the same input.
type Prediction struct {
	// Deployment is the predicted deployment, with its system, engine and pools
	// filled in.
	Deployment Deployment

	// Requests were sent and Finished; Refused ones are too long for the KV cache.
	Requests, Finished, Refused int
	Duration                    time.Duration // from the first arrival to the last token

	TTFT    Distribution // to the first token
	TPOT    Distribution // per output token after the first, by request
	ITL     Distribution // between two tokens
	Latency Distribution // of whole requests

	RequestRate float64 // requests per second
	InputRate   float64 // prompt tokens per second
	// OutputRate is generated tokens per second. It has no interval if requests
	// arrive at a rate or from a trace, which then determine it.
	OutputRate Rate
	// Goodput is requests per second that meet the limits, GoodShare their share.
	Goodput, GoodShare float64
	// Chance is the probability that measured mean TTFT and TPOT meet their limits;
	// 1 without limits.
	Chance float64

	// JoulesPerToken is the energy of all devices for an output token, WattsPerDevice
	// their mean power; zero where the power of the device is unknown.
	JoulesPerToken, WattsPerDevice float64

	Memory Memory
	// KVMean and KVPeak are the shares of the KV cache in use, on average and at the
	// peak, Busy the share of time spent in steps, all of the replicas that decode.
	KVMean, KVPeak, Busy float64
	Preemptions          int

	// Basis describes the measurements the intervals come from, Tier where the
	// operator times come from: measured (kernel tables of this device), calibrated
	// (fits to its generation), transferred (fits to kernels alone, or to a related
	// generation) or datasheet.
	Basis string
	Tier  string
	Notes []string // about the model and the kernel tables
}

// Time is a mean time with its 80 % prediction interval.
type Time struct {
	Mean, Low, High time.Duration
}

// Distribution is the distribution of a time over requests.
type Distribution struct {
	Time

	P50, P90, P95, P99, Max time.Duration
}

// Rate is a number per second with its 80 % interval, which is zero if there is none.
type Rate struct {
	Mean, Low, High float64
}

// Memory is how the engine divides the memory of one device, in bytes.
type Memory struct {
	Device      int64 // visible to a process
	Weights     int64
	Activations int64
	Workspace   int64
	KV          int64 // the KV cache
	KVTokens    int   // tokens it holds, on one data-parallel rank
}

// Predict simulates a workload on a deployment. The limits may be zero: they affect
// only goodput and the probability of meeting them.
func (p *Planner) Predict(ctx context.Context, d Deployment, w Workload, l Limits) (*Prediction, error) {
	request, err := p.request(&d, &w, l)
	if err != nil {
		return nil, mistake(err)
	}
	if err := ctx.Err(); err != nil { // a short simulation would not look
		return nil, err
	}
	r, err := simulate.Run(ctx, p.world(), request)
	if err != nil {
		return nil, failure(err)
	}
	return predictionOf(r), nil
}

// request is the input in the form of package app.
func (p *Planner) request(d *Deployment, w *Workload, l Limits) (simulate.Request, error) {
	deployed, wrongDeployment := d.internal()
	traffic, wrongTraffic := w.internal()
	return simulate.Request{
		Deployment: deployed, Sources: p.sources(), Traffic: traffic, Seed: w.Seed, Limits: l.internal(),
	}, errors.Join(wrongDeployment, wrongTraffic, l.check())
}

func predictionOf(r *simulate.Response) *Prediction {
	s, e := &r.Result, &r.Expected
	use, _ := document.Pools(s)
	out := &Prediction{
		Deployment: fromInternal(&r.Request.Deployment),
		Requests:   s.Requests, Finished: s.Finished, Refused: s.Refused, Duration: duration(s.Duration),
		TTFT: distributionOf(&s.TTFT, e.TTFT), TPOT: distributionOf(&s.TPOT, e.TPOT), ITL: distributionOf(&s.ITL, e.TPOT),
		Latency:     distributionOf(&s.Latency, document.LatencyError(r)),
		RequestRate: s.RequestRate, InputRate: s.InputRate, OutputRate: Rate{Mean: s.OutputRate},
		Goodput: s.GoodRate, GoodShare: s.GoodShare, Chance: r.Chance,
		Memory: Memory{
			Device: int64(r.Memory.Memory), Weights: int64(r.Memory.Weights), Activations: int64(r.Memory.Activation),
			Workspace: int64(r.Memory.Workspace), KV: int64(r.Memory.KV), KVTokens: r.Memory.Tokens,
		},
		KVMean: use.KVMean, KVPeak: use.KVPeak, Busy: use.Busy, Preemptions: use.Preemptions,
		Basis: e.Basis, Tier: string(r.Tier), Notes: slices.Clone(r.Notes),
	}
	if r.Request.Concurrency > 0 {
		out.OutputRate = rateOf(s.OutputRate, e.Throughput)
	}
	if p := r.Energy; p != nil {
		out.JoulesPerToken, out.WattsPerDevice = float64(p.PerToken), float64(p.Watts)
	}
	if r.Tables != nil {
		out.Notes = append(out.Notes, r.Tables.Notes()...)
	}
	return out
}

func distributionOf(s *sim.Summary, e calibration.Error) Distribution {
	return Distribution{
		timeOf(s.Mean, e), duration(s.P50), duration(s.P90), duration(s.P95), duration(s.P99), duration(s.Max),
	}
}

func timeOf(mean units.Seconds, e calibration.Error) Time {
	low, high := e.Times(mean)
	return Time{duration(mean), duration(low), duration(high)}
}

func rateOf(mean float64, e calibration.Error) Rate {
	low, high := e.Interval(mean)
	return Rate{mean, low, high}
}
