package measured

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// Traffic is how a row's requests came, beyond a number of clients with lengths in a range.
type Traffic struct {
	// Rate is requests per second; 0 = each client sends the next request when its last has ended.
	Rate    float64
	Process traffic.Process
	// Prefix is the tokens that all prompts begin with, found in the prefix cache.
	Prefix int
	// InputLengths and OutputLengths replace the range of lengths.
	InputLengths, OutputLengths *workload.Distribution
}

// most bounds rates and lengths in a file.
const most = 1e7

// traffic reads how requests came.
func (c *cells) traffic(r *Row) {
	c.arrivals(r)
	share := c.given("prefix_share")
	r.Traffic.Prefix = int(c.given("prefix"))
	if r.Traffic.Prefix == 0 {
		r.Traffic.Prefix = int(math.Round(min(1, max(0, share)) * float64(r.Input)))
	}
	if !(share >= 0 && share < 1) || r.Traffic.Prefix < 0 || r.Input > 0 && r.Traffic.Prefix >= r.Input {
		c.wrong("prefix must be from 0 tokens to less than isl, and prefix_share from 0 to less than 1")
	}
	r.Traffic.InputLengths = c.lengths("isl", r.Input)
	r.Traffic.OutputLengths = c.lengths("osl", r.Output)
}

// arrivals reads a rate. It counts if arrival says so, or if it is given alone: benchmarks that limit a rate by a concurrency are
// held by the concurrency.
func (c *cells) arrivals(r *Row) {
	arrival, rate, alone := strings.ToLower(c.text("arrival")), c.given("request_rate"), c.text("concurrency") == ""
	switch arrival {
	case "", "closed":
		if alone {
			r.Traffic.Rate = rate
		}
	case "burst":
	case "rate", "poisson":
		r.Traffic.Rate = rate
	case "constant":
		r.Traffic.Rate, r.Traffic.Process = rate, traffic.Constant
	default:
		c.wrong("arrival: want closed, burst, rate, poisson or constant, got %q", arrival)
	}
	if !(rate >= 0 && rate <= most) {
		c.wrong("request_rate must be between 0 and %g, got %g", float64(most), rate)
	}
	if r.Traffic.Rate <= 0 {
		return
	}
	if alone { // on average, by Little's law
		r.Concurrency = max(1, int(math.Round(min(most, r.Traffic.Rate*float64(r.TTFT+units.Seconds(r.Output)*r.TPOT)))))
	}
	if c.text("num_prompts") == "" {
		const usual = 1000 // of vllm bench serve
		r.Requests = usual
	}
}

// wrong notes the first error of a row.
func (c *cells) wrong(format string, a ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%s:%d: "+format, append([]any{c.name, c.line}, a...)...)
	}
}

// lengths reads a distribution of lengths: bins, "128-256:0.3 256-1024:0.7", or a standard deviation around the mean; nil without one.
func (c *cells) lengths(column string, mean int) *workload.Distribution {
	if text := c.text(column + "_bins"); text != "" {
		d, err := bins(text)
		if err != nil {
			c.wrong("%s_bins: %w", column, err)
		}
		return d
	}
	sd := c.given(column + "_stdev")
	switch {
	case sd == 0:
		return nil
	case !(sd > 0 && sd <= most):
		c.wrong("%s_stdev must be between 0 and %g, got %g", column, float64(most), sd)
		return nil
	}
	return normal(float64(mean), sd)
}

// bins reads ranges of lengths with their shares.
func bins(text string) (*workload.Distribution, error) {
	out := &workload.Distribution{}
	for word := range strings.FieldsSeq(text) {
		span, share, ok := strings.Cut(word, ":")
		low, high, isSpan := strings.Cut(span, "-")
		a, errA := strconv.Atoi(low)
		b, errB := strconv.Atoi(high)
		w, errW := strconv.ParseFloat(share, 64)
		if !ok || !isSpan || errA != nil || errB != nil || errW != nil || a < 1 || b <= a || b > most || !(w > 0 && w <= most) {
			return nil, fmt.Errorf("want ranges with shares, as 128-256:0.3 256-1024:0.7, got %q", word)
		}
		out.Bins = append(out.Bins, workload.Bin{Min: a, Max: b, Weight: w})
	}
	if len(out.Bins) == 0 {
		return nil, fmt.Errorf("want ranges with shares, got %q", text)
	}
	return out, nil
}

// normal are lengths of a normal distribution, as load generators draw them: in bins of half a standard deviation, at least one token.
func normal(mean, sd float64) *workload.Distribution {
	const reach, each = 6, 2 // bins to each side, in one deviation
	out := &workload.Distribution{}
	below := func(x float64) float64 { return math.Erfc(-(x-mean)/sd/math.Sqrt2) / 2 }
	for k := -reach; k < reach; k++ {
		low, high := mean+sd*float64(k)/each, mean+sd*float64(k+1)/each
		a, b := max(1, int(math.Round(low))), max(1, int(math.Round(high)))
		if w := below(high) - below(low); b > a && w > 0 {
			out.Bins = append(out.Bins, workload.Bin{Min: a, Max: b, Weight: w})
		}
	}
	if len(out.Bins) == 0 { // narrower than a token
		return nil
	}
	return out
}

// client is the benchmark that measured a row.
func (r *Row) client() traffic.Client {
	c, t := max(1, r.Concurrency), &r.Traffic
	input := traffic.Lengths{Tokens: r.Input, Low: r.LengthLow, Distribution: t.InputLengths}
	output := traffic.Lengths{Tokens: r.Output, Low: r.LengthLow, Distribution: t.OutputLengths}
	if t.Rate > 0 {
		return traffic.OpenLoop{Rate: t.Rate, Process: t.Process, Requests: max(1, min(r.Requests, MaxRequests)), Input: input, Output: output, Prefix: t.Prefix}
	}
	return traffic.ClosedLoop{Requests: max(c, min(r.Requests, MaxRequests)), Concurrency: c, Input: input, Output: output, Prefix: t.Prefix}
}
