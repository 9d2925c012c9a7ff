package sweep

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
)

// maxLine bounds a row: a grid may have distributions of lengths, which every request repeats.
const maxLine = 1 << 24

// The sum of a line is its last field, so that a line stays one object of JSON.
const (
	sumBefore = `,"sum":"`
	sumDigits = 8
	sumAfter  = `"}`
)

// sum is the CRC-32C of what a line holds. It finds every change of up to 32 bits in a row, and of others all but one in four billion.
func sum(data []byte) []byte {
	return fmt.Appendf(nil, "%0*x", sumDigits, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
}

// seal is an object as a line with its sum.
func seal(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	inner := data[:len(data)-1]
	return bytes.Join([][]byte{inner, []byte(sumBefore), sum(inner), []byte(sumAfter + "\n")}, nil), nil
}

// unseal is the object of a line without its sum, if the line is whole: as it was written.
func unseal(line []byte) (text []byte, whole bool) {
	inner, ended := bytes.CutSuffix(line, []byte(sumAfter))
	cut := len(inner) - sumDigits - len(sumBefore)
	if !ended || cut < 0 || !bytes.HasPrefix(inner[cut:], []byte(sumBefore)) || !bytes.Equal(inner[len(inner)-sumDigits:], sum(inner[:cut])) {
		return nil, false
	}
	return append(bytes.Clone(inner[:cut]), '}'), true
}

// fileLine is a line of a file that ends.
type fileLine struct {
	text   []byte // nil for one longer than any row
	length int64  // with its end
	err    error
}

// lines reads lines and numbers them from 1. What follows the last line's end is left out.
func lines(from io.Reader) iter.Seq2[int, fileLine] {
	return func(yield func(int, fileLine) bool) {
		r := bufio.NewReaderSize(from, 1<<16)
		for n := 1; ; n++ {
			l := nextLine(r)
			if errors.Is(l.err, io.EOF) || !yield(n, l) || l.err != nil {
				return
			}
		}
	}
}

// nextLine reads a line.
func nextLine(r *bufio.Reader) fileLine {
	l := fileLine{text: []byte{}}
	for {
		piece, err := r.ReadSlice('\n')
		l.length += int64(len(piece))
		if l.length > maxLine {
			l.text = nil
		} else {
			l.text = append(l.text, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			l.text, l.err = bytes.TrimSuffix(l.text, []byte("\n")), err
			return l
		}
	}
}
