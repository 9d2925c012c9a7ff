package sim

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// send moves the cache of a prefilled request to a decode replica. The blocks
// stay taken here until all of it has arrived; the link of a replica carries
// one cache at a time. The client sees the first token when decoding can begin.
func (s *simulation) send(q *request, from *replica) {
	to := s.decode.route()
	q.state = moving
	q.decoder = int32(to.index)
	from.sending++
	from.carrying += q.context
	link := &s.config.Link
	start := max(s.now, from.linkAt)
	if link.BytesPerToken > 0 {
		bytes := link.BytesPerToken * units.Bytes(q.context)
		start += units.Seconds(float64(bytes) / float64(link.Bandwidth))
	}
	from.linkAt = start
	s.agenda.follow(start+link.Latency, cacheArrives, from.place, q.id)
}

// arrive ends a transfer.
func (s *simulation) arrive(q *request, from *replica) {
	from.sending--
	from.carrying -= q.context
	from.release(q)
	from.load--
	from.wake()
	q.state = queued
	q.carried = true
	s.decode.replicas[q.decoder].deliver(q)
}
