package parquet

// deltas reads n whole numbers that are stored as differences (DELTA_BINARY_PACKED), and returns what follows them.
func deltas(src []byte, n int) (out []int64, rest []byte, err error) {
	t := thrift{rest: src}
	block, parts := t.length(), t.length()
	total, value := t.length(), t.integer()
	if t.err != nil || total != uint64(n) || parts == 0 || block%parts != 0 || block > maxRows {
		return nil, nil, errDamaged
	}
	if n > 0 {
		out = append(out, value)
	}
	each := int(block / parts) // values in a part, a multiple of 8
	for len(out) < n {
		least := t.integer()
		widths := t.take(parts)
		if t.err != nil || each == 0 {
			return nil, nil, errDamaged
		}
		for _, width := range widths {
			if len(out) == n {
				break // a last block need not have all its parts
			}
			b := t.take(uint64(width) * uint64(each) / 8)
			if t.err != nil || width > 64 {
				return nil, nil, errDamaged
			}
			for i := range min(each, n-len(out)) {
				value += least + int64(bitsAt(b, i*int(width), int(width)))
				out = append(out, value)
			}
		}
	}
	return out, t.rest, nil
}

// bitsAt returns a number of up to 64 bits from a place in b on; what is beyond the end is zero.
func bitsAt(b []byte, at, width int) uint64 {
	first := at / 8
	v := little(b[first:min(len(b), first+8)]) >> (at % 8)
	if first+8 < len(b) && at%8 > 0 {
		v |= uint64(b[first+8]) << (64 - at%8)
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}

// lengthsFirst reads n texts whose lengths come before all of them (DELTA_LENGTH_BYTE_ARRAY).
func lengthsFirst(src []byte, n int) ([]string, error) {
	lengths, rest, err := deltas(src, n)
	if err != nil {
		return nil, err
	}
	t := thrift{rest: rest}
	out := make([]string, 0, n)
	for _, length := range lengths {
		out = append(out, string(t.take(uint64(length)))) // a length below zero is more than there is
	}
	return out, t.err
}

// prefixesFirst reads n texts that begin as the one before them does (DELTA_BYTE_ARRAY).
func prefixesFirst(src []byte, n int) ([]string, error) {
	shared, rest, err := deltas(src, n)
	if err != nil {
		return nil, err
	}
	out, err := lengthsFirst(rest, n)
	if err != nil {
		return nil, err
	}
	size := 0
	for i := 1; i < len(out); i++ {
		if shared[i] < 0 || shared[i] > int64(len(out[i-1])) {
			return nil, errDamaged
		}
		out[i] = out[i-1][:shared[i]] + out[i]
		if size += len(out[i]); size > maxPage {
			return nil, errDamaged
		}
	}
	return out, nil
}

// gather undoes BYTE_STREAM_SPLIT: of n values of a size first come all first bytes, then all second ones.
func gather(src []byte, size, n int) ([]byte, error) {
	if size <= 0 || len(src) != n*size {
		return nil, errDamaged
	}
	out := make([]byte, len(src))
	for i := range n {
		for k := range size {
			out[i*size+k] = src[k*n+i]
		}
	}
	return out, nil
}
