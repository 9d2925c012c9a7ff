package sim

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// stagger starts the clients of a steady run, or the first arrival. Clients of a closed loop start evenly over about the time
// that a request takes, as they would be found at any time: started at once, they would stay together for long.
func (s *simulation) stagger(clients int) {
	if s.load.clients == 0 {
		s.sendAt(s.load.gap())
		return
	}
	input, output := 0.0, 0.0
	first := make([]*request, clients)
	for i := range first {
		first[i] = s.next()
		input += float64(first[i].input) / float64(clients)
		output += float64(first[i].output) / float64(clients)
	}
	computed := input
	if s.conversations != nil {
		input, output, computed = s.conversations.lengths()
	}
	spread := s.lasts(s.takes(input, output, computed, clients)) / units.Seconds(clients)
	for i, q := range first {
		q.arrived = units.Seconds(i) * spread
		s.steady.started = q.arrived
		s.beginConversation(q, q.arrived)
		s.resume(q, i, clients)
		s.events.send(q.arrived, q.id)
	}
}

// resume has a session of one of the clients be under way when the run begins: each is at another turn, as they would be found at
// any time. What was said before is in no cache yet.
func (s *simulation) resume(q *request, client, clients int) {
	if s.conversations == nil {
		return
	}
	x := s.conversations.of(q)
	for range int(x.turns) * client / clients {
		x.said = q.input + q.output
		s.drawTurn(x, q)
		x.turn++
		x.resumed = true
	}
	q.prefillTokens = q.input
}

// lasts is how long it is from one request of a client to the next, if each takes so long.
func (s *simulation) lasts(took units.Seconds) units.Seconds {
	if s.conversations == nil {
		return took
	}
	turns, think := 0.0, units.Seconds(0)
	for i := range s.conversations.mix {
		k, n := &s.conversations.mix[i], 1.0
		if x := k.Session; x != nil {
			n = x.MeanTurns()
			think += x.Think * units.Seconds(k.Share*(n-1))
		}
		turns += k.Share * n
	}
	return took + think/units.Seconds(turns)
}

// takes is about how long a request takes beside others: its tokens at the pace of a full batch, and what is computed of the
// prompts of the others meanwhile. The warm-up corrects what it gets wrong.
func (s *simulation) takes(input, output, computed float64, clients int) units.Seconds {
	pool := &s.workers
	if len(s.decode.replicas) > 0 {
		pool = &s.decode
	}
	r := &pool.replicas[0]
	each := (float64(clients) + float64(len(pool.replicas)) - 1) / float64(len(pool.replicas))
	fits := float64(r.scheduler.kv.Total()) * float64(r.scheduler.engine.BlockTokens) / (input + output)
	batch := math.Max(1, math.Floor(math.Min(each, math.Min(fits, float64(r.scheduler.engine.MaxSequences)))))
	steps := math.Max(1, output/r.scheduler.engine.AcceptedPerStep)
	prompt := s.workers.replicas[0].device.stepper.Step(Batch{
		PrefillRequests: 1, PrefillTokens: int(computed), PrefillContext: int(input - computed),
		PrefillPairs: computed * (input - (computed-1)/2), Sampled: 1,
	})
	took := r.device.stepper.Decode(int(batch), batch*input, batch*r.scheduler.engine.AcceptedPerStep, int(steps))
	if took += prompt * units.Seconds(clients) / units.Seconds(len(s.workers.replicas)); !sound(took) {
		return 0 // the run reports what is wrong with the step model
	}
	return took * units.Seconds(math.Max(1, each/batch))
}
