package sim

// send moves the cache of a prefilled request to a decode replica, over the link that is free
// first. The blocks stay taken here until all of it has arrived. The client sees the first
// token when decoding can begin.
func (s *simulation) send(q *request, from *replica) {
	to := s.decode.route(q)
	q.state = moving
	q.decoder = int32(to.index)
	from.sending++
	from.sendingTokens += q.context
	link := &s.config.Link
	at := 0
	for i := range from.links {
		if from.links[i] < from.links[at] {
			at = i
		}
	}
	end := max(s.now, from.links[at]) + link.Carries(q.context)
	from.links[at] = end
	s.events.follow(end+link.Latency, cacheArrives, from.place, q.id)
}

// arrive ends a transfer.
func (s *simulation) arrive(q *request, from *replica) {
	from.sending--
	from.sendingTokens -= q.context
	from.release(q)
	from.load--
	from.wake()
	q.state = queued
	q.transferred = true
	s.decode.replicas[q.decoder].deliver(q)
}
