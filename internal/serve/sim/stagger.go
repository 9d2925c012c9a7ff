package sim

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// stagger starts the clients of a steady run, or the first arrival. Clients of a closed loop start evenly over about the time
// that a request takes, as they would be found at any time: started at once, they would stay together for long.
func (s *simulation) stagger(clients int) {
	if s.load.window == 0 {
		s.plan(s.load.gap())
		return
	}
	input, output := 0.0, 0.0
	for i := range clients {
		q := s.next()
		q.arrived = units.Seconds(i)
		input += float64(q.input) / float64(clients)
		output += float64(q.output) / float64(clients)
	}
	spread := s.lasts(s.takes(input, output, clients)) / units.Seconds(clients)
	for i := range s.requests {
		q := &s.requests[i]
		q.arrived *= spread
		s.steady.started = q.arrived
		s.begins(q, q.arrived)
		s.agenda.send(q.arrived, q.id)
	}
}

// lasts is how long a client is at it before it begins anew: with a request, or with a session of requests that take so long.
func (s *simulation) lasts(took units.Seconds) units.Seconds {
	if s.talks == nil {
		return took
	}
	sum, all := 0.0, units.Seconds(0)
	for i := range s.talks.mix {
		k := &s.talks.mix[i]
		each := took
		if x := k.Session; x != nil {
			each = took*units.Seconds(x.MeanTurns()) + x.Think*units.Seconds(x.MeanTurns()-1)
		}
		sum, all = sum+k.Share, all+each*units.Seconds(k.Share)
	}
	return all / units.Seconds(sum)
}

// takes is about how long a request takes beside others: its tokens at the pace of a full batch, and the prompts of the others
// that are computed meanwhile. The warm-up corrects what it gets wrong.
func (s *simulation) takes(input, output float64, clients int) units.Seconds {
	pool := &s.workers
	if len(s.decode.replicas) > 0 {
		pool = &s.decode
	}
	r := &pool.replicas[0]
	each := (float64(clients) + float64(len(pool.replicas)) - 1) / float64(len(pool.replicas))
	fits := float64(r.cache.total) * float64(r.cache.tokens) / (input + output)
	batch := math.Max(1, math.Floor(math.Min(each, math.Min(fits, float64(r.engine.MaxSequences)))))
	steps := math.Max(1, output/r.engine.AcceptedPerStep)
	prompt := s.workers.replicas[0].stepper.Step(Batch{
		PrefillRequests: 1, PrefillTokens: int(input), PrefillPairs: input * (input + 1) / 2, Sampled: 1,
	})
	took := r.stepper.Decode(int(batch), batch*input, batch*r.engine.AcceptedPerStep, int(steps))
	if took += prompt * units.Seconds(clients) / units.Seconds(len(s.workers.replicas)); !sound(took) {
		return 0 // the run reports what is wrong with the step model
	}
	return took * units.Seconds(math.Max(1, each/batch))
}
