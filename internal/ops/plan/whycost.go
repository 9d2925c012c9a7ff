package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/money"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

// whyLimits is what is behind the probability that the limits are met: that of each limit alone.
func whyLimits(c *Contender) Reason {
	f, l := &c.Found, c.Found.Experiment.Limits.Finite()
	out := Reason{
		Figure: OfLimits, Value: 100 * *c.Judged.Chance, Unit: "% probability", PartsUnit: "%", Parts: []Portion{},
		Sentence: "The probability of meeting each limit follows from the expected prediction error. The product is the probability of meeting all limits.",
		Error:    "Derived from the intervals of the limited times.",
	}
	ttft, tpot, latency := f.Run.Expected.Chances(f.Times, f.Experiment.Limits)
	each := 1.0
	for _, x := range []struct {
		name   string
		limit  units.Seconds
		chance float64
	}{{"TTFT", l.TTFT, ttft}, {"TPOT", l.TPOT, tpot}, {"request latency", l.Latency, latency}} {
		if x.limit > 0 {
			out.Parts = append(out.Parts, Portion{fmt.Sprintf("%s %s ≤ %s ms", c.Judged.Statistic, x.name, units.Figure(x.limit.Ms())), 100 * x.chance})
			each *= x.chance
		}
	}
	if f.Experiment.Goodput > 0 && len(out.Parts) > 1 && each > 0 { // one request is to meet all limits
		out.Parts = append(out.Parts, Portion{"all limits met by the same requests", 100 * *c.Judged.Chance / each})
	}
	return out
}

// whyCost is what is behind the cost of output tokens: the price of the GPUs and of their energy.
func whyCost(c *Contender) Reason {
	k := c.Cost
	hour := k.PerMonth / money.HoursPerMonth
	tokens := hour / k.PerMillion.Value // millions in an hour
	out := Reason{
		Figure: OfCost, Value: k.PerMillion.Value, Unit: "USD per million output tokens", PartsUnit: "USD per million output tokens",
		Parts: []Portion{{"price of the GPUs", k.PerMillion.Value - k.Energy}}, Error: fmt.Sprintf("The price is given; the interval follows from that of throughput: %s to %s USD.", units.Figure(k.PerMillion.Low), units.Figure(k.PerMillion.High)),
	}
	out.Sentence = fmt.Sprintf("%s at %s USD an hour cost %s USD an hour.", units.Counted(c.GPUsGiven, "GPU"), units.Figure(k.PerGPUHour), units.Figure(k.PerGPUHour*float64(c.GPUsGiven)))
	if k.Energy > 0 {
		out.Parts = append(out.Parts, Portion{"energy", k.Energy})
		out.Sentence += fmt.Sprintf(" Energy adds %s USD an hour at %s USD per kWh.", units.Figure(k.Energy*tokens), units.Figure(k.EnergyPrice))
	}
	out.Sentence += fmt.Sprintf(" They generate %s million output tokens per hour. A month of %d hours costs %s USD. Price: %s.", units.Figure(tokens), money.HoursPerMonth, units.Figure(k.PerMonth), k.priceInWords())
	if c.Capacity != nil {
		out.Error = "The load and the price are given, so the cost has no interval; the number of GPUs follows from the predicted capacity."
	}
	return out
}

// givenPrice is the source of a price that the request has.
const givenPrice = "given"

// priceInWords is the kind of a price with its source, date and region.
func (k *Cost) priceInWords() string {
	if k.Class == device.Yours && k.Source == givenPrice {
		return "yours"
	}
	parts := []string{k.Class.InWords(), k.Source}
	for _, x := range []string{k.Region, k.Date} {
		if !strings.Contains(k.Source, x) {
			parts = append(parts, x)
		}
	}
	return strings.Join(parts, "; ")
}

// whyEnergy is what is behind the energy of an output token: the power of a GPU, by what draws it.
func whyEnergy(c *Contender) Reason {
	e, d := c.Energy, &c.Energy.Draw
	out := Reason{
		Figure: OfEnergy, Value: e.PerToken.Value, Unit: "J per output token", PartsUnit: "W per GPU",
		Parts: slices.DeleteFunc([]Portion{
			{"idle", float64(d.Idle)},
			{"running steps", float64(d.Running)},
			{"memory traffic", float64(d.Memory)},
			{"matrix operations", float64(d.Compute)},
			{"communication between GPUs", float64(d.Link)},
		}, func(p Portion) bool { return p.Value == 0 }),
	}
	out.Sentence = fmt.Sprintf("A GPU draws %s W on average; its limit is %s W. Divided by its output tokens per second, that is %s J per token. Hosts and switches are not included; multiply by the site's PUE to add cooling and power conversion.",
		units.Figure(float64(e.Watts)), units.Figure(float64(e.Cap)), units.Figure(e.PerToken.Value))
	basis := "InferenceX deployments with measured energy, on GPUs of the same generation"
	if e.Tier != device.Calibrated {
		basis = "InferenceX deployments with measured energy, on GPUs of other generations"
	}
	out.Error = errorInWords(e.PerToken, "J", basis)
	return out
}
