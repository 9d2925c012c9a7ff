package zstd

// sequence is so many literals, and then a copy of so many bytes from so far back.
type sequence struct{ literals, match, back int }

// The three kinds of numbers in a sequence.
const (
	literalLengths = iota
	offsets
	matchLengths
)

// field is what RFC 8878 fixes about one kind: the largest table and symbol, the shares to take where a block brings none, and
// what a symbol stands for: a base, and a number of bits to add.
type field struct {
	maxLog, maxSymbol int
	log               int
	counts            []int16
	extra             []uint8 // the symbols from first on
	first             int
	lowest            int // what the first symbol stands for
}

func fieldOf(kind int) field {
	switch kind {
	case literalLengths:
		return field{
			maxLog: 9, maxSymbol: 35, log: 6,
			counts: []int16{4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1},
			extra:  []uint8{1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
			first:  16,
		}
	case matchLengths:
		return field{
			maxLog: 9, maxSymbol: 52, log: 6,
			counts: []int16{
				1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
				1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
			},
			extra: []uint8{1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
			first: 32, lowest: 3,
		}
	default: // an offset's symbol is its number of bits
		return field{
			maxLog: 8, maxSymbol: 31, log: 5,
			counts: []int16{1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1},
		}
	}
}

// meaning is what a symbol stands for.
type meaning struct{ base, bits int }

// meanings lists what the symbols of a length stand for: one value each up to the first that has bits to add.
func (f field) meanings() []meaning {
	var out []meaning
	base := f.lowest
	for s := range f.maxSymbol + 1 {
		m := meaning{base: base}
		if s >= f.first {
			m.bits = int(f.extra[s-f.first])
		}
		out = append(out, m)
		base += 1 << m.bits
	}
	return out
}

// readSequences reads the rest of a block.
func (d *decoder) readSequences(src []byte) error {
	d.sequences = d.sequences[:0]
	n, used, err := countOf(src)
	if err != nil || n == 0 {
		return err
	}
	src = src[used:]
	if len(src) == 0 || src[0]&3 != 0 {
		return errDamaged
	}
	modes := src[0]
	src = src[1:]
	for _, kind := range []int{literalLengths, offsets, matchLengths} {
		used, err := d.table(kind, modes>>(6-2*kind)&3, src)
		if err != nil {
			return err
		}
		src = src[used:]
	}
	return d.decodeSequences(n, src)
}

// countOf reads the number of sequences and how many bytes it took.
func countOf(src []byte) (n, used int, err error) {
	switch {
	case len(src) >= 1 && src[0] < 128:
		return int(src[0]), 1, nil
	case len(src) >= 2 && src[0] < 255:
		return int(src[0]-128)<<8 | int(src[1]), 2, nil
	case len(src) >= 3 && src[0] == 255:
		return int(src[1]) + int(src[2])<<8 + 0x7F00, 3, nil
	}
	return 0, 0, errDamaged
}

// table sets the table of a kind by its mode and returns how many bytes that took.
func (d *decoder) table(kind int, mode uint8, src []byte) (used int, err error) {
	f := fieldOf(kind)
	switch mode {
	case 0: // the RFC's own
		d.tables[kind], err = newTable(f.counts, f.log)
	case 1: // one symbol
		if len(src) == 0 || int(src[0]) > f.maxSymbol {
			return 0, errDamaged
		}
		d.tables[kind], used = single(src[0]), 1
	case 2:
		d.tables[kind], used, err = readTable(src, f.maxLog, f.maxSymbol)
	default: // the last block's
		if d.tables[kind] == nil {
			err = errDamaged
		}
	}
	return used, err
}

// decodeSequences reads n sequences.
func (d *decoder) decodeSequences(n int, src []byte) error {
	b, err := newBackward(src)
	if err != nil {
		return err
	}
	lengths, matches := fieldOf(literalLengths).meanings(), fieldOf(matchLengths).meanings()
	literal := d.tables[literalLengths].begin(&b)
	offset := d.tables[offsets].begin(&b)
	match := d.tables[matchLengths].begin(&b)
	for i := range n {
		if i > 0 {
			literal.next(&b)
			match.next(&b)
			offset.next(&b)
		}
		far := int(offset.symbol())
		value := 1<<far + b.read(far)
		m := matches[match.symbol()]
		length := m.base + b.read(m.bits)
		l := lengths[literal.symbol()]
		before := l.base + b.read(l.bits)
		if b.left < 0 {
			return errDamaged
		}
		d.sequences = append(d.sequences, sequence{before, length, d.offset(value, before == 0)})
	}
	if b.left != 0 {
		return errDamaged
	}
	return nil
}

// offset turns a value into an offset: above 3 a new one, else one of the last three, counted from the second where no
// literals come before the copy.
func (d *decoder) offset(value int, bare bool) int {
	r := &d.repeated
	if value > 3 {
		r[0], r[1], r[2] = value-3, r[0], r[1]
		return r[0]
	}
	if bare {
		value++
	}
	switch value {
	case 2:
		r[0], r[1] = r[1], r[0]
	case 3:
		r[0], r[1], r[2] = r[2], r[0], r[1]
	case 4:
		r[0], r[1], r[2] = r[0]-1, r[0], r[1]
	}
	return r[0]
}

// execute writes what the sequences say, and the literals left over.
func (d *decoder) execute() error {
	rest, from := d.literals, len(d.out)
	for _, s := range d.sequences {
		if s.literals > len(rest) {
			return errDamaged
		}
		if err := d.room(s.literals + s.match); err != nil {
			return err
		}
		d.out = append(d.out, rest[:s.literals]...)
		rest = rest[s.literals:]
		at := len(d.out) - s.back
		if s.back <= 0 || at < d.start || len(d.out)+s.match-from > maxBlock {
			return errDamaged
		}
		if s.back >= s.match {
			d.out = append(d.out, d.out[at:at+s.match]...)
			continue
		}
		for i := range s.match { // the copy reads what it has just written
			d.out = append(d.out, d.out[at+i])
		}
	}
	if err := d.room(len(rest)); err != nil {
		return err
	}
	d.out = append(d.out, rest...)
	return nil
}
