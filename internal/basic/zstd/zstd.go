package zstd

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// What can be wrong with compressed data.
var (
	errDamaged    = errors.New("zstd: damaged data")
	errTooLong    = errors.New("zstd: the content is longer than it may be")
	errDictionary = errors.New("zstd: compressed with a dictionary")
)

const (
	frameMagic     = 0xFD2FB528
	skippableMagic = 0x184D2A50 // and the fifteen after it
	maxBlock       = 128 << 10
)

// Decode returns the content of the frames in src, which may have at most limit bytes.
func Decode(src []byte, limit int) ([]byte, error) {
	const most = 1 << 20 // to ask for before anything is decoded
	d := decoder{limit: limit, out: make([]byte, 0, max(0, min(limit, most)))}
	for len(src) > 0 {
		rest, err := d.frame(src)
		if err != nil {
			return nil, err
		}
		src = rest
	}
	return d.out, nil
}

// decoder is the state of a frame: what it has given so far, and the tables its next block may use again.
type decoder struct {
	out   []byte
	limit int
	start int // of the frame's content

	huffman   *huffman
	tables    [3]*table // of literal lengths, offsets and match lengths
	repeated  [3]int    // the last offsets
	literals  []byte
	sequences []sequence
}

// frame decodes one frame and returns what follows it.
func (d *decoder) frame(src []byte) ([]byte, error) {
	if len(src) < 8 {
		return nil, errDamaged
	}
	magic := binary.LittleEndian.Uint32(src)
	if magic&^15 == skippableMagic {
		n := uint64(binary.LittleEndian.Uint32(src[4:]))
		if n > uint64(len(src)-8) {
			return nil, errDamaged
		}
		return src[8+n:], nil
	}
	if magic != frameMagic {
		return nil, fmt.Errorf("%w: no frame begins with %#08x", errDamaged, magic)
	}
	rest, checksum, err := header(src[4:])
	if err != nil {
		return nil, err
	}
	d.start, d.huffman, d.tables, d.repeated = len(d.out), nil, [3]*table{}, [3]int{1, 4, 8}
	for last := false; !last; {
		if last, rest, err = d.block(rest); err != nil {
			return nil, err
		}
	}
	if checksum {
		if len(rest) < 4 {
			return nil, errDamaged
		}
		rest = rest[4:]
	}
	return rest, nil
}

// header passes over a frame's header, which says nothing a decoder with all of the content in memory needs but whether a
// checksum follows the frame.
func header(src []byte) (rest []byte, checksum bool, err error) {
	descriptor := src[0]
	single := descriptor>>5&1 == 1
	size := 1 + []int{0, 2, 4, 8}[descriptor>>6]
	if !single {
		size++ // the window
	} else if descriptor>>6 == 0 {
		size++ // the content's size in one byte
	}
	identity := []int{0, 1, 2, 4}[descriptor&3]
	at := 1
	if !single {
		at++
	}
	size += identity
	if descriptor>>3&1 != 0 || len(src) < size {
		return nil, false, errDamaged
	}
	for _, b := range src[at : at+identity] {
		if b != 0 {
			return nil, false, errDictionary
		}
	}
	return src[size:], descriptor>>2&1 == 1, nil
}

// block decodes one block and says whether it is the frame's last.
func (d *decoder) block(src []byte) (last bool, rest []byte, err error) {
	if len(src) < 3 {
		return false, nil, errDamaged
	}
	head := int(src[0]) | int(src[1])<<8 | int(src[2])<<16
	src = src[3:]
	size, stored := head>>3, head>>3
	if kind := head >> 1 & 3; kind == 1 {
		stored = 1
	}
	if size > maxBlock || stored > len(src) {
		return false, nil, errDamaged
	}
	body := src[:stored]
	switch head >> 1 & 3 {
	case 0: // as it is
		err = d.room(size)
		d.out = append(d.out, body...)
	case 1: // one byte, many times
		err = d.room(size)
		for range size {
			d.out = append(d.out, body[0])
		}
	case 2:
		err = d.compressed(body)
	default:
		err = errDamaged
	}
	return head&1 == 1, src[stored:], err
}

// room checks that n more bytes may come.
func (d *decoder) room(n int) error {
	if n > d.limit-len(d.out) {
		return errTooLong
	}
	return nil
}

// compressed decodes a block of literals and sequences.
func (d *decoder) compressed(src []byte) error {
	rest, err := d.readLiterals(src)
	if err != nil {
		return err
	}
	if err := d.readSequences(rest); err != nil {
		return err
	}
	return d.execute()
}
