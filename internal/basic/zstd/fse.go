package zstd

import "math/bits"

// table decodes symbols of finite state entropy: the state is a place in it.
type table struct {
	log     int // its size is 1 << log
	entries []entry
}

// entry is the symbol of a state, and how the next one is found: base plus a number of so many bits.
type entry struct {
	base   uint16
	symbol uint8
	bits   uint8
}

// single is the table of one symbol that always comes.
func single(symbol uint8) *table { return &table{entries: []entry{{symbol: symbol}}} }

// readTable reads the description of a table at the start of src and returns how many bytes it has. maxLog bounds the table's
// size, maxSymbol its symbols.
func readTable(src []byte, maxLog, maxSymbol int) (t *table, size int, err error) {
	f := forward{src: src}
	log := f.peek(4) + 5
	f.at += 4
	if log > maxLog {
		return nil, 0, errDamaged
	}
	var counts []int16
	for left := 1 << log; left > 0; {
		if len(counts) > maxSymbol || f.at > 8*len(src) {
			return nil, 0, errDamaged
		}
		count := f.count(left + 1)
		left -= max(count, -count)
		counts = append(counts, int16(count))
		for more := count == 0; more; {
			zeros := f.peek(2)
			f.at += 2
			counts = append(counts, make([]int16, zeros)...)
			more = zeros == 3 && len(counts) <= maxSymbol
		}
	}
	size, ok := f.bytes()
	if !ok || len(counts) > maxSymbol+1 {
		return nil, 0, errDamaged
	}
	t, err = newTable(counts, log)
	return t, size, err
}

// count reads the share of a symbol, -1 ("less than one") to most-1. Small ones take a bit less than others.
func (f *forward) count(most int) int {
	n := bits.Len(uint(most))
	v := f.peek(n)
	low, short := v&(1<<(n-1)-1), 1<<n-1-most
	switch {
	case low < short:
		f.at += n - 1
		return low - 1
	case v >= 1<<(n-1):
		v -= short
	}
	f.at += n
	return v - 1
}

// newTable spreads symbols over the states by their shares.
func newTable(counts []int16, log int) (*table, error) {
	size := 1 << log
	t := &table{log: log, entries: make([]entry, size)}
	next := make([]int, len(counts))
	high := size
	for s, n := range counts {
		if next[s] = int(n); n < 0 {
			high--
			t.entries[high].symbol = uint8(s)
			next[s] = 1
		}
	}
	at, step := 0, size>>1+size>>3+3
	for s, n := range counts {
		for range n {
			t.entries[at].symbol = uint8(s)
			for at = (at + step) & (size - 1); at >= high; {
				at = (at + step) & (size - 1)
			}
		}
	}
	if at != 0 {
		return nil, errDamaged
	}
	for i := range t.entries {
		e := &t.entries[i]
		n := next[e.symbol]
		next[e.symbol]++
		e.bits = uint8(log - bits.Len(uint(n)) + 1)
		e.base = uint16(n<<e.bits - size)
	}
	return t, nil
}

// state is a place in a table.
type state struct {
	*table
	at int
}

func (t *table) begin(b *backward) state { return state{t, b.read(t.log)} }

func (s *state) symbol() uint8 { return s.entries[s.at].symbol }

// next moves on.
func (s *state) next(b *backward) {
	e := s.entries[s.at]
	s.at = int(e.base) + b.read(int(e.bits))
}
