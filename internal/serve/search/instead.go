package search

import (
	"context"
	"slices"
)

// Add adds a decode worker after the search began and returns its index.
func (s *Units) Add(w Worker) int {
	s.Decode = append(s.Decode, w)
	s.own, s.tokens = append(s.own, s.prompt(&w)), append(s.tokens, s.times(&w))
	return len(s.Decode) - 1
}

// Clone is a search over the same workers with the same bounds, to which others may be
// added.
func (s *Units) Clone() Units {
	out := *s
	out.Decode, out.own, out.tokens = slices.Clip(s.Decode), slices.Clip(s.own), slices.Clip(s.tokens)
	return out
}

// Instead tries another decode worker in the unit that was found. It is simulated at the
// load that was found and at one a sixteenth higher; only if it carries more there, within
// the limits, the best load is looked for. It returns the better of the two.
func (s *Units) Instead(ctx context.Context, f Found, decode int) (Found, error) {
	u, least, load := f.Unit, 0.0, f.Near.Concurrency/f.Unit.Copies
	if f.OK {
		least, load = f.Best.Throughput*(1+gain), f.Best.Concurrency/f.Unit.Copies
	}
	u.Decode = decode
	o := option{Unit: u, limit: s.limit(u)}
	o.bound = s.bound(u, o.limit)
	out := Found{Unit: u, floor: least}
	if out.beats(o.bound) {
		return f, nil
	}
	for _, n := range []int{load, load + max(1, load/16)} {
		if n < 1 || n > o.limit {
			continue
		}
		r, v, err := s.Simulate(ctx, u, n, false)
		if err != nil {
			return f, err
		}
		if s.keep(&r, v, u, &out); v != Fits {
			out.Binds = v
		}
	}
	if !out.OK || out.Best.Throughput < least {
		return f, nil
	}
	if err := s.climb(ctx, &o, &out); err != nil {
		return f, err
	}
	out, err := s.confirm(ctx, out)
	if err != nil || !out.OK || f.OK && out.Best.Throughput <= f.Best.Throughput {
		return f, err
	}
	out.Points = append(out.Points, f.Points...)
	return out, nil
}
