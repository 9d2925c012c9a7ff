package plan

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// Sessions are a contender's figures for a load of sessions.
type Sessions struct {
	// Rate is sessions per second, Turns the mean requests per session. Requests outside sessions count as
	// sessions of one request.
	Rate  figures.Estimate `json:"sessions_per_second"`
	Turns float64          `json:"mean_turns"`
	// CachedShare is the share of prompt tokens found in a cache, HostShare that found in the host cache.
	CachedShare float64 `json:"prefix_cached_share"`
	HostShare   float64 `json:"host_cached_share"`
	// Time is the mean over sessions of the summed request latencies, without think time. TimeAt is the same at the
	// percentile of the request, null if limits apply to the mean; Time95 at the 95th.
	Time   figures.Estimate `json:"session_ms"`
	TimeAt *float64         `json:"session_percentile_ms"`
	Time95 float64          `json:"session_p95_ms"`
	// PerSession is the cost of a session in US dollars, null if no price is known.
	PerSession *figures.Estimate `json:"usd_per_session"`
	// Capacity is the sessions per second that the deployment carries, null where no load was given.
	Capacity *figures.Estimate `json:"capacity_sessions_per_second,omitempty"`
}

// sessionsOf is what a contender does with sessions, nil where requests come by themselves.
func sessionsOf(c *Found, out *Contender) *Sessions {
	s := c.Run.Result.Sessions
	if s == nil {
		return nil
	}
	turns := c.Turns
	over := func(r figures.Estimate) figures.Estimate {
		return figures.Estimate{Value: r.Value / turns, Low: r.Low / turns, High: r.High / turns}
	}
	latency := c.Run.Expected.Throughput.Inverse() // as that of a request
	x := &Sessions{
		Rate: over(out.RequestRate), Turns: turns, CachedShare: c.Cached, HostShare: c.Hosted,
		Time: latency.Of(s.Working.Mean.Ms()), Time95: s.Working.P95.Ms(),
	}
	if p := c.Experiment.At(); p > 0 {
		x.TimeAt = new(s.Working.Percentile(p).Ms())
	}
	if m := out.Capacity; m != nil {
		x.Capacity = new(over(m.RequestRate))
	}
	if k := out.Cost; k != nil {
		x.PerSession = new(k.PerRequest.Times(turns))
	}
	return x
}

// inWords is the time and the cost of a session.
func (s *Sessions) inWords(of workload.Statistic) string {
	out := fmt.Sprintf(" A session of %s requests takes %s s without think time", units.Figure(s.Turns), units.Figure(s.Time.Value/1e3))
	if s.TimeAt != nil {
		out += fmt.Sprintf(" (%s %s s)", of.Named(), units.Figure(*s.TimeAt/1e3))
	}
	if s.PerSession != nil {
		out += " and costs $" + units.Figure(s.PerSession.Value)
	}
	return out + fmt.Sprintf("; %.1f %% of its prompt tokens are cached.", 100*s.CachedShare)
}

// hostPerDevice is the GiB of host memory for a device that is tried: half of what a DGX H200 has (2 TB for 8 devices).
const hostPerDevice = 128

// caching are the changes of the router and of the host cache, of loads whose prompts have much in common.
func (p *planning) caching(best *Found, add func(string, func(*Request))) {
	if !p.recalls {
		return
	}
	if now, _ := sim.RoutingNamed(p.r.Routing); now == sim.RoundRobin || now == sim.LeastLoaded {
		add(fmt.Sprintf("routing by prefix and load (%s) instead of %s", sim.LLMD, now), func(r *Request) { r.Routing = sim.LLMD.String() })
	}
	if p.r.Host.GiB > 0 {
		return
	}
	n := best.Deployment.Pools[0].Layout.Devices
	add(fmt.Sprintf("%d GiB of host memory per GPU as a second cache tier", hostPerDevice), func(r *Request) {
		r.Host = deployment.HostCache{GiB: float64(hostPerDevice * n), Bandwidth: deployment.DefaultHostBandwidth}
	})
}
