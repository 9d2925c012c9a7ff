package server

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// blockCache is a prefix cache that knows nothing of streaks of entries: one by one in lists, the least recently used first.
type blockCache struct {
	users        map[[2]uint32]int
	idle, hosted [][2]uint32
	room         int
}

func (b *blockCache) match(prompt [][2]uint32) (entries, idle, hosted int) {
	for _, x := range prompt {
		users, here := b.users[x]
		switch {
		case here && users == 0:
			idle++
		case !here && slices.Contains(b.hosted, x):
			hosted++
		case !here:
			return entries, idle, hosted
		}
		entries++
	}
	return entries, idle, hosted
}

func (b *blockCache) use(x [2]uint32) {
	is := func(y [2]uint32) bool { return x == y }
	b.users[x]++
	b.idle, b.hosted = slices.DeleteFunc(b.idle, is), slices.DeleteFunc(b.hosted, is)
}

func (b *blockCache) drop(prompt [][2]uint32) {
	for _, x := range slices.Backward(prompt) {
		if b.users[x]--; b.users[x] == 0 {
			b.idle = append(b.idle, x)
		}
	}
}

func (b *blockCache) evict(n int) {
	for _, x := range b.idle[:n] {
		delete(b.users, x)
		if b.hosted = append(b.hosted, x); len(b.hosted) > b.room {
			b.hosted = b.hosted[1:]
		}
	}
	b.idle = b.idle[n:]
}

// TestStreaks: what is kept as streaks of entries is what a list of single entries has, whatever sessions do.
func TestStreaks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const common = 3
		sessions := rapid.IntRange(1, 6).Draw(t, "sessions")
		room := rapid.IntRange(0, 12).Draw(t, "room on the host")
		p := newPrefix(nil, 0, 1, 1)
		p.answers, p.common, p.host.room = true, [][]int32{make([]int32, common+1)}, room
		twin := blockCache{users: map[[2]uint32]int{}, room: room}
		requests := make([]Request, sessions)
		for i := range requests {
			requests[i].ID = i
			p.contents = append(p.contents, []uint32{0, uint32(i + 1)})
		}
		prompt := func(q *Request, entries int) (out [][2]uint32) {
			for j := range entries {
				x := [2]uint32{0, uint32(j)}
				if j >= common {
					x = [2]uint32{uint32(q.ID + 1), uint32(j - common)}
				}
				out = append(out, x)
			}
			return out
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			q := &requests[rapid.IntRange(0, sessions-1).Draw(t, "session")]
			switch {
			case rapid.IntRange(0, 3).Draw(t, "what") == 0 && p.idle.n > 0:
				n := p.evict(rapid.IntRange(1, p.idle.n).Draw(t, "evict"))
				twin.evict(n)
			case q.context == 0:
				q.prefillTokens = rapid.IntRange(1, 20).Draw(t, "tokens")
				entries, idle, hosted := p.match(q.ID, q.prefillTokens-1)
				e, i, h := twin.match(prompt(q, q.prefillTokens-1))
				if entries != e || idle != i || hosted != h {
					t.Fatalf("found %d %d %d, one by one %d %d %d", entries, idle, hosted, e, i, h)
				}
				p.hold(q.ID, entries)
				q.shared = entries
				for _, x := range prompt(q, entries) {
					twin.use(x)
				}
				q.context = max(1, entries)
			case q.context < q.prefillTokens:
				q.context = rapid.IntRange(q.context, q.prefillTokens).Draw(t, "computed")
				from, spare := q.shared, 0
				for _, x := range prompt(q, q.context)[from:] {
					if _, here := twin.users[x]; here {
						spare++
					}
					twin.use(x)
				}
				var got int
				if q.shared, got = p.learn(q.ID, q.shared, q.context); got != spare {
					t.Fatalf("%d spare, one by one %d", got, spare)
				}
			default:
				twin.drop(prompt(q, q.shared))
				p.drop(q.ID, q.shared)
				q.shared = 0
				q.context = 0
			}
			if len(twin.users)-len(twin.idle) != p.live || len(twin.idle) != p.idle.n || len(twin.hosted) != p.host.n {
				t.Fatalf("%d live, %d idle, %d on the host; one by one %d, %d, %d", p.live, p.idle.n, p.host.n, len(twin.users)-len(twin.idle), len(twin.idle), len(twin.hosted))
			}
		}
	})
}
