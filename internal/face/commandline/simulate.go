package commandline

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// Simulate is the command line of a simulation. Input, output and file name the files of the distributions and of
// the deployment, of which a request holds only the content.
func Simulate(r *simulate.Request, input, output, file string) string {
	c := commandLine{"plimsoll simulate"}
	if file != "" {
		c.add(true, "deployment", file)
		c.sources(&r.Sources)
	} else {
		c.deployment(r)
	}
	c.traffic(&r.Traffic, input, output)
	c.add(r.Protocol == simulate.Benchmark != (r.Requests > 0 && r.Trace == ""), "protocol", r.Protocol)
	c.add(r.Percentile > 0, "percentile", fmt.Sprintf("p%g", r.Percentile))
	c.add(r.Goodput > 0, "goodput", r.Goodput)
	c.add(r.Seed > 1, "seed", r.Seed)
	c.limit("ttft-limit", r.Limits.TTFT)
	c.limit("tpot-limit", r.Limits.TPOT)
	return c.String()
}

// deployment adds the flags that describe a deployment.
func (c *commandLine) deployment(r *simulate.Request) {
	d := &r.Deployment
	serves := &d.Pools[len(d.Pools)-1]
	l := &serves.Layout
	c.word(true, d.Model)
	c.add(d.AsFamily != "", "as-family", d.AsFamily)
	c.add(r.DeviceFile == "" || d.System != "", "device", d.System)
	c.sources(&r.Sources)
	c.engine(&d.Engine)
	c.add(l.Devices > 0, "num-devices", l.Devices)
	c.add(l.TP > 1, "tp-size", l.TP)
	c.add(l.DP > 1, "dp-size", l.DP)
	c.add(l.PP > 1, "pp-size", l.PP)
	c.add(l.EP > 1, "ep-size", l.EP)
	c.add(l.MoETP > 0, "moe-tp-size", l.MoETP)
	c.add(serves.Replicas > 1, "replicas", serves.Replicas)
	c.caches(d.Routing, d.Host)
	if d.Disaggregated() {
		p := &d.Pools[0]
		c.add(true, "prefill-replicas", p.Replicas)
		c.add(p.Layout.TP != l.TP, "prefill-tp-size", p.Layout.TP)
		c.add(p.Layout.DP != l.DP, "prefill-dp-size", p.Layout.DP)
		c.add(p.Layout.EP != l.EP, "prefill-ep-size", p.Layout.EP)
		list(c, "prefill-set", p.Settings)
	}
	c.formats(&deployment.Formats{Linear: d.Formats.Linear, Attention: d.Formats.Attention})
	c.add(serves.MTP > 0, "num-mtp-tokens", serves.MTP)
	c.add(serves.Drafter != "", "drafter", serves.Drafter)
	list(c, "mtp-acceptance-rates", serves.AcceptanceRates)
}

// arrivals adds how requests of a rate come.
func (c *commandLine) arrivals(p traffic.Process, variation float64) {
	c.add(p != traffic.Poisson, "arrival", p)
	c.add(variation > 0, "arrival-variation", variation)
}

// traffic adds the load.
func (c *commandLine) traffic(r *simulate.Traffic, input, output string) {
	c.add(r.Concurrency > 0, "concurrency", r.Concurrency)
	c.add(r.Rate > 0, "rate", r.Rate)
	c.arrivals(r.Process, r.Variation)
	c.add(r.Trace != "", "trace", r.Trace)
	c.add(r.Requests > 0, "num-prompts", r.Requests)
	if r.Workloads != nil {
		list(c, "workload", workloadWords(r.Workloads))
		return
	}
	if r.Trace == "" {
		c.lengths("input-length", r.Input, "length-distribution", r.InputLengths, input)
		c.lengths("output-length", r.Output, "output-distribution", r.OutputLengths, output)
	}
	c.add(r.Prefix > 0, "prefix-length", r.Prefix)
	c.add(r.LengthLow != 1, "length-ratio-low", r.LengthLow)
}

// lengths adds a length, or the file of a distribution.
func (c *commandLine) lengths(flag string, tokens int, of string, d *workload.Distribution, file string) {
	c.add(d == nil, flag, tokens)
	c.add(d != nil, of, file)
}

// caches adds the routing and the host cache.
func (c *commandLine) caches(routing string, host deployment.HostCache) {
	c.add(routing != "" && routing != sim.RoundRobin.String(), "routing", routing)
	c.add(host.GiB > 0, "host-cache", host.GiB)
	c.add(host.GiB > 0 && host.Speed() != deployment.DefaultHostBandwidth, "host-bandwidth", host.Bandwidth)
}
