package zstd

import "math/bits"

// readLiterals reads a block's literals and returns what follows them.
func (d *decoder) readLiterals(src []byte) ([]byte, error) {
	if len(src) == 0 {
		return nil, errDamaged
	}
	kind, format := src[0]&3, src[0]>>2&3
	if kind >= 2 {
		return d.huffmanLiterals(src, kind == 3, int(format))
	}
	head := []int{1, 2, 1, 3}[format]
	if len(src) < head {
		return nil, errDamaged
	}
	n := int(word(src[:head], 0) >> []int{3, 4, 3, 4}[format])
	src = src[head:]
	stored := n
	if kind == 1 {
		stored = 1
	}
	if n > maxBlock || stored > len(src) {
		return nil, errDamaged
	}
	d.literals = d.literals[:0]
	if kind == 0 {
		d.literals = append(d.literals, src[:n]...)
	} else {
		for range n {
			d.literals = append(d.literals, src[0])
		}
	}
	return src[stored:], nil
}

// huffmanLiterals reads literals in one stream or four, with a new code or the last block's.
func (d *decoder) huffmanLiterals(src []byte, again bool, format int) ([]byte, error) {
	head, width := []int{3, 3, 4, 5}[format], []int{10, 10, 14, 18}[format]
	if len(src) < head {
		return nil, errDamaged
	}
	sizes := word(src[:head], 0) >> 4
	n, stored := int(sizes&(1<<width-1)), int(sizes>>width)
	if n > maxBlock || stored > len(src)-head {
		return nil, errDamaged
	}
	body, rest := src[head:head+stored], src[head+stored:]
	if !again {
		h, used, err := readHuffman(body)
		if err != nil {
			return nil, err
		}
		d.huffman, body = h, body[used:]
	}
	if d.huffman == nil {
		return nil, errDamaged
	}
	d.literals = d.literals[:0]
	if format == 0 {
		return rest, d.stream(body, n)
	}
	if len(body) < 6 {
		return nil, errDamaged
	}
	jump, body := body[:6], body[6:]
	part := (n + 3) / 4
	for i := range 4 {
		size, count := len(body), n-3*part
		if i < 3 {
			size, count = int(jump[2*i])|int(jump[2*i+1])<<8, part
		}
		if size > len(body) || count < 0 {
			return nil, errDamaged
		}
		if err := d.stream(body[:size], count); err != nil {
			return nil, err
		}
		body = body[size:]
	}
	return rest, nil
}

// stream decodes n literals.
func (d *decoder) stream(src []byte, n int) error {
	b, err := newBackward(src)
	if err != nil {
		return err
	}
	h := d.huffman
	for range n {
		c := h.codes[b.peek(h.longest)]
		b.left -= int(c.bits)
		d.literals = append(d.literals, c.symbol)
	}
	if b.left != 0 {
		return errDamaged
	}
	return nil
}

// huffman is a prefix code as a table over the next bits, as many as its longest code has.
type huffman struct {
	longest int
	codes   []code
}

type code struct{ symbol, bits uint8 }

// maxWeights bounds the symbols of a Huffman code, and longestCode its codes.
const (
	maxWeights  = 255
	longestCode = 11
)

// readHuffman reads the description of a Huffman code at the start of src and returns how many bytes it has.
func readHuffman(src []byte) (h *huffman, used int, err error) {
	if len(src) == 0 {
		return nil, 0, errDamaged
	}
	var weights []uint8
	if head := int(src[0]); head < 128 {
		used = 1 + head
		if used > len(src) {
			return nil, 0, errDamaged
		}
		weights, err = readWeights(src[1:used])
	} else {
		n := head - 127
		used = 1 + (n+1)/2
		if used > len(src) {
			return nil, 0, errDamaged
		}
		for i := range n {
			weights = append(weights, src[1+i/2]>>(4*(1-i%2))&15)
		}
	}
	if err != nil {
		return nil, 0, err
	}
	h, err = newHuffman(weights)
	return h, used, err
}

// readWeights reads weights that are compressed themselves: two states take turns until the bits run out.
func readWeights(src []byte) ([]uint8, error) {
	t, size, err := readTable(src, 6, maxWeights)
	if err != nil {
		return nil, err
	}
	b, err := newBackward(src[size:])
	if err != nil {
		return nil, err
	}
	states := [2]state{t.begin(&b), t.begin(&b)}
	var weights []uint8
	for i := 0; len(weights) < maxWeights; i ^= 1 {
		weights = append(weights, states[i].symbol())
		if states[i].next(&b); b.left < 0 {
			return append(weights, states[i^1].symbol()), nil
		}
	}
	return nil, errDamaged
}

// newHuffman makes the code of some weights. A symbol of weight w takes 1 << (w-1) places of the table, and the last symbol
// takes what the others leave.
func newHuffman(weights []uint8) (*huffman, error) {
	sum := 0
	for _, w := range weights {
		if w > longestCode {
			return nil, errDamaged
		}
		sum += 1 << w >> 1
	}
	longest := bits.Len(uint(sum))
	left := 1<<longest - sum
	if sum == 0 || longest > longestCode || left&(left-1) != 0 || len(weights) > maxWeights {
		return nil, errDamaged
	}
	weights = append(weights, uint8(bits.Len(uint(left))))
	h := &huffman{longest: longest, codes: make([]code, 0, 1<<longest)}
	for w := uint8(1); int(w) <= longest; w++ {
		for s, weight := range weights {
			if weight != w {
				continue
			}
			for range 1 << (w - 1) {
				h.codes = append(h.codes, code{uint8(s), uint8(longest) + 1 - w})
			}
		}
	}
	if len(h.codes) != 1<<longest {
		return nil, errDamaged
	}
	return h, nil
}
