package server

// lruRuns is a set of entries of contents in the order of their last use. Entries that were used last by the same request stand
// together, as a streak: what a prompt holds is let go from its end to its beginning, so the later entries of a streak are the older ones,
// and a later streak of a content is older than those before it.
type lruRuns struct {
	runs  []streak // a list closed at index 0
	free  []int32  // places in runs
	first []int32  // the first streak of each content; 0 is none
	n     int      // entries
}

// streak is neighbouring entries of a content.
type streak struct {
	content, from, to int32
	older, newer      int32
	next              int32 // the streak behind it in its content; 0 is none
}

// add makes entries the newest. They are before all others of their content.
func (l *lruRuns) add(content, from, to int32) {
	for int(content) >= len(l.first) {
		l.first = append(l.first, 0)
	}
	if len(l.runs) == 0 {
		l.runs = append(l.runs, streak{})
	}
	at := int32(len(l.runs))
	if n := len(l.free); n > 0 {
		at, l.free = l.free[n-1], l.free[:n-1]
	} else {
		l.runs = append(l.runs, streak{})
	}
	newest := l.runs[0].older
	l.runs[at] = streak{content: content, from: from, to: to, older: newest, next: l.first[content]}
	l.runs[newest].newer, l.runs[0].older, l.first[content] = at, at, at
	l.n += int(to - from)
}

// take takes out the entries of a content before some place, and returns how many there were.
func (l *lruRuns) take(content, before int32) int32 {
	taken := int32(0)
	for l.has(content) {
		at := l.first[content]
		r := &l.runs[at]
		if r.from >= before {
			break
		}
		to := min(r.to, before)
		taken += to - r.from
		if r.from = to; to == r.to {
			l.first[content] = r.next
			l.unlink(at)
		}
	}
	l.n -= int(taken)
	return taken
}

// pop takes out up to so many of the oldest entries, all of one content: they were its last. There must be one.
func (l *lruRuns) pop(most int) (content, from, to int32) {
	at := l.runs[0].newer
	r := &l.runs[at]
	content, to = r.content, r.to
	from = max(r.from, to-int32(min(most, int(to))))
	l.n -= int(to - from)
	if r.to = from; r.from == from {
		place := &l.first[content]
		for *place != at {
			place = &l.runs[*place].next
		}
		*place = 0
		l.unlink(at)
	}
	return content, from, to
}

// has reports whether there are entries of a content.
func (l *lruRuns) has(content int32) bool {
	return int(content) < len(l.first) && l.first[content] != 0
}

func (l *lruRuns) unlink(at int32) {
	r := &l.runs[at]
	l.runs[r.older].newer, l.runs[r.newer].older = r.newer, r.older
	l.free = append(l.free, at)
}
