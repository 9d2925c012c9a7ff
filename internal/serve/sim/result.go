package sim

import (
	"cmp"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/statistics"
)

// result sums up.
func (s *simulation) result() *statistics.Result {
	if s.steady != nil {
		return s.windowResult()
	}
	n := len(s.source.Requests)
	_, unsent := s.source.Counts()
	res := &statistics.Result{Requests: n - unsent, Finished: n - s.refused - unsent, Refused: s.refused, Series: s.recorder.Series.Points, Timeline: s.recorder.Timeline.Result()}
	t := statistics.NewTally(n)
	for i := range s.source.Requests {
		if q := &s.source.Requests[i]; q.State == server.Finished && i >= s.source.Warmup() {
			t.Add(s.view.outcome(q, &s.outcome))
		}
	}
	if s.config.Records {
		res.Records = make([]statistics.Record, 0, n)
		for i := range s.source.Requests {
			if q := &s.source.Requests[i]; q.State != server.NotSent {
				res.Records = append(res.Records, s.view.record(q))
			}
		}
	}
	if s.config.Steady != nil {
		res.Sampling = &statistics.Sampling{Ended: statistics.Replayed}
		t.Errors(s.config.Steady.Percentile, res.Sampling)
	}
	t.Report(res, max(1, s.config.represents), s.config.Percentile, t.Span())
	res.InFlight = s.recorder.InFlight.Levels(s.clock.Now)
	if last := s.source.LastArrival(); last > 0 {
		res.Offered = float64(res.Requests) / float64(last)
		if s.config.Steady != nil {
			s.ratesUntil(last, res)
		}
	}
	s.addUse(res, s.clock.Now)
	return res
}

// ratesUntil makes the rates of a trace those until its last request came: what is served after it says nothing of the load.
func (s *simulation) ratesUntil(last units.Seconds, res *statistics.Result) {
	var t statistics.Tally
	for i := range s.source.Requests {
		if q := &s.source.Requests[i]; q.State != server.Refused && q.Done <= last {
			t.Add(s.view.outcome(q, &s.outcome))
		}
	}
	t.Rates(res, last)
	res.InFlight = s.last
}

// windowResult sums up the window of a steady run.
func (s *simulation) windowResult() *statistics.Result {
	sent, _ := s.source.Counts()
	res := &statistics.Result{
		Requests: sent, Refused: s.refused,
		Series: s.recorder.Series.Points, Timeline: s.recorder.Timeline.Result(), Records: s.recorder.Records,
	}
	over := s.steady.Report(res, max(1, s.config.represents), s.config.Percentile)
	slices.SortFunc(res.Records, func(a, b statistics.Record) int { return cmp.Compare(a.ID, b.ID) })
	s.addUse(res, over)
	return res
}

// addUse adds how the pools were used over a time.
func (s *simulation) addUse(res *statistics.Result, over units.Seconds) {
	res.Sessions = s.source.Sessions(over, s.config.Percentile)
	res.ITL = s.recorder.Gaps.Summary()
	res.Workers = s.cluster.workers.use(over)
	if len(s.cluster.decode.replicas) > 0 {
		use := s.cluster.decode.use(over)
		res.Decode = &use
	}
}

// use sums up the replicas of a pool over a time.
func (p *pool) use(over units.Seconds) statistics.PoolUse {
	var u statistics.PoolUse
	for i := range p.replicas {
		p.replicas[i].AddUse(&u, len(p.replicas), over)
	}
	return u
}
