package commandline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// SessionWord begins a value of --workload that is a session.
const SessionWord = "session"

// Plan is the command line of a plan request.
func Plan(r *plan.Request) string {
	if !sayable(r) {
		return ""
	}
	c := commandLine{"plimsoll plan", launch.Quote(r.Model)}
	list(&c, "system", r.Systems)
	c.sources(&r.Sources)
	c.add(r.Devices > 0, "gpus", r.Devices)
	c.add(r.Rate > 0, "rate", r.Rate)
	list(&c, "daily", r.Daily)
	c.arrivals(r.Process, r.Variation)
	if x := r.ColdStart; x != nil {
		c.add(true, "cold-start", *x)
	}
	c.add(r.Spare > 0, "spare", r.Spare)
	c.add(r.Utilization > 0, "utilization", r.Utilization)
	c.workloads(r.Workloads)
	c.limit("ttft", r.Limits.TTFT)
	c.limit("tpot", r.Limits.TPOT)
	c.limit("request-latency", r.Limits.Latency)
	c.word(r.NoLimits, "--no-limits")
	c.add(r.Percentile > 0, "percentile", fmt.Sprintf("p%g", r.Percentile))
	c.add(r.Goodput > 0, "goodput", r.Goodput)
	c.add(r.Confidence > 0 && r.Confidence != search.DefaultConfidence, "confidence", r.Confidence)
	list(&c, "engine", r.Engines)
	c.add(r.EnginePreset != "", "engine-preset", r.EnginePreset)
	c.caches(r.Routing, r.Host)
	if len(r.Modes) == 1 {
		c.add(true, "serving-mode", r.Modes[0])
	}
	c.add(r.Formats.Checkpoint != "", "weights", r.Formats.Checkpoint)
	c.add(r.Formats.KV != "", "kv-cache", r.Formats.KV)
	c.formats(&r.Formats)
	c.add(r.Draft != "", "draft", r.Draft)
	c.add(r.MTP > 0, "nextn", r.MTP)
	list(&c, "nextn-accept-rates", r.AcceptanceRates)
	c.prices(r)
	if a := r.API; a != nil {
		list(&c, "api-price", []float64{a.Input, a.Output})
	}
	if p := r.EnergyPrice; p != nil {
		c.add(*p != simulate.DefaultEnergyPrice, "energy-price", *p)
	}
	c.word(r.NoChanges, "--no-changes")
	return c.String()
}

// workloads adds the workloads of a plan.
func (c *commandLine) workloads(all []session.Workload) {
	if alone(all) {
		x := &all[0]
		if x.IsPreset() {
			c.add(true, "preset", x.Preset)
			return
		}
		c.add(x.Trace == "" && x.Input > 0, "isl", x.Input)
		c.add(x.Trace == "" && x.Output > 0, "osl", x.Output)
		c.add(x.Prefix > 0, "prefix", x.Prefix)
		c.add(x.LengthLow > 0 && x.LengthLow != 1, "length-ratio-low", x.LengthLow)
		c.add(x.Trace != "", "trace", x.Trace)
		return
	}
	list(c, "workload", workloadWords(all))
}

// alone reports whether there is one workload that flags of its own can say.
func alone(all []session.Workload) bool {
	return len(all) == 1 && (all[0].Name == "" || all[0].Name == all[0].Preset) && (all[0].Session == nil || all[0].IsPreset())
}

// sayable reports whether a command line can say a request: flags lack some of what JSON can have.
func sayable(r *plan.Request) bool {
	if r.Formats.GEMM != "" || r.Formats.MoE != "" {
		return false
	}
	one := alone(r.Workloads)
	for i := range r.Workloads {
		x := &r.Workloads[i]
		switch {
		case x.InputLengths != nil || x.OutputLengths != nil: // they would need files
			return false
		case one:
		case strings.Contains(x.Name, "=") || strings.Contains(x.Trace, ":"):
			return false
		case !x.IsPreset() && (x.Preset != "" || x.Prefix > 0 || x.LengthLow > 0 && x.LengthLow != 1):
			return false
		}
	}
	return true
}

// workloadWords are values of --workload.
func workloadWords(all []session.Workload) []string {
	var words []string
	for i := range all {
		x := &all[i]
		name := cmp.Or(x.Name, fmt.Sprint("w", i+1))
		word := fmt.Sprintf("%s=%d:%d", name, x.Input, x.Output)
		if x.Session != nil {
			word = name + "=" + sessionWords(x.Session)
		}
		if x.IsPreset() {
			word = name + "=" + x.Preset
		}
		if x.Trace != "" {
			word = name + "=" + x.Trace
		}
		if x.Share != 0 && x.Share != 1 {
			word += fmt.Sprintf(":%g", x.Share)
		}
		words = append(words, word)
	}
	return words
}

// prices adds prices that differ from the list.
func (c *commandLine) prices(r *plan.Request) {
	var words []string
	for _, system := range slices.Sorted(maps.Keys(r.Prices)) {
		words = append(words, fmt.Sprintf("%s=%g", system, r.Prices[system]))
	}
	list(c, "price", words)
}

// sessionWords writes a session as package cli reads it.
func sessionWords(s *workload.Session) string {
	turns := strconv.Itoa(s.Turns)
	if s.MinTurns > 0 {
		turns = fmt.Sprintf("%d-%d", s.MinTurns, s.Turns)
	}
	out := fmt.Sprintf("%s:system=%d,turns=%s,first=%d,user=%d,output=%d", SessionWord, s.System, turns, s.First, s.User, s.Output)
	if s.LengthLow > 0 {
		out += fmt.Sprintf(",low=%g", s.LengthLow)
	}
	if s.Think > 0 {
		out += fmt.Sprintf(",think=%g", float64(s.Think))
	}
	return out
}
