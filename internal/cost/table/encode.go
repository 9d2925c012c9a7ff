package table

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// part is the surfaces of one kind on their way into a file.
type part struct {
	experts bool
	shelves []fittedShelf
}

// fittedShelf is the surfaces of one group.
type fittedShelf struct {
	exactly [2]float64
	sources []fittedSource
}

// fittedSource is the rows kept of one engine's kernels.
type fittedSource struct {
	from string
	rows []row
}

func (p *part) add(exactly [2]float64, sources []fittedSource) {
	if len(sources) > 0 {
		p.shelves = append(p.shelves, fittedShelf{exactly, sources})
	}
}

// encode writes the surfaces: the names and the sizes that occur, an index, the shape
// of every curve by their numbers, then the ratios in steps, each as the difference to
// the one before.
func (p *part) encode() []byte {
	if len(p.shelves) == 0 {
		return nil
	}
	names, axes := p.dictionary()
	index := encoder{}
	index.uint(len(names))
	for _, name := range names {
		index.uint(len(name))
		index.shape = append(index.shape, name...)
	}
	number := map[float32]uint64{}
	index.uint(len(axes))
	for i, a := range axes {
		number[a] = uint64(i)
		index.float32(a)
	}
	index.uint(len(p.shelves))
	var shapes, ratios []byte
	for i := range p.shelves {
		s := &p.shelves[i]
		e := encoder{experts: p.experts, names: names, number: number}
		e.shelf(s)
		index.float32(float32(s.exactly[0]))
		index.float32(float32(s.exactly[1]))
		index.uint(len(e.shape))
		index.uint(len(e.ratios))
		shapes, ratios = append(shapes, e.shape...), append(ratios, e.ratios...)
	}
	return compress(slices.Concat(index.shape, shapes, ratios))
}

// encoder writes the curves of a group.
type encoder struct {
	shape, ratios []byte
	names         []string
	number        map[float32]uint64 // of a size
	experts       bool
	first         int64 // ratio of the line before
}

func (e *encoder) uint(n int) { e.shape = binary.AppendUvarint(e.shape, uint64(n)) }
func (e *encoder) float32(x float32) {
	e.shape = binary.LittleEndian.AppendUint32(e.shape, math.Float32bits(x))
}
func (e *encoder) axis(log float64) { e.shape = binary.AppendUvarint(e.shape, e.number[axis(log)]) }

func (e *encoder) shelf(s *fittedShelf) {
	e.uint(len(s.sources))
	for _, f := range s.sources {
		e.uint(slices.Index(e.names, f.from))
		sites := chunks(f.rows, sameSite)
		e.uint(len(sites))
		for _, site := range sites {
			e.site(site)
		}
	}
}

func (e *encoder) site(rows []row) {
	r := &rows[0]
	e.axis(r.place[0])
	e.axis(r.place[1])
	if e.experts {
		e.uint(int(r.deal.Experts))
		e.uint(int(r.deal.Choice))
		e.uint(int(r.deal.Ranks))
	}
	lines := chunks(rows, sameLine)
	e.uint(len(lines))
	for _, l := range lines {
		e.line(l)
	}
}

func (e *encoder) line(rows []row) {
	e.axis(rows[0].line)
	e.uint(len(rows))
	at, ratio := uint64(0), e.first
	e.first = quantum(rows[0].ratio)
	for i := range rows {
		n, q := e.number[axis(rows[i].x)], quantum(rows[i].ratio)
		e.shape = binary.AppendUvarint(e.shape, n-at)
		e.ratios = binary.AppendVarint(e.ratios, q-ratio)
		at, ratio = n, q
	}
}

// dictionary is the names and the sizes that occur, in order.
func (p *part) dictionary() (names []string, axes []float32) {
	for _, s := range p.shelves {
		for _, f := range s.sources {
			names = append(names, f.from)
			for i := range f.rows {
				r := &f.rows[i]
				axes = append(axes, axis(r.place[0]), axis(r.place[1]), axis(r.line), axis(r.x))
			}
		}
	}
	slices.Sort(names)
	slices.Sort(axes)
	return slices.Compact(names), slices.Compact(axes)
}

func compress(data []byte) []byte {
	var out bytes.Buffer
	z, err := flate.NewWriter(&out, flate.BestCompression)
	if err == nil {
		_, err = z.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(fmt.Sprintf("table: compressing in memory: %v", err))
	}
	return out.Bytes()
}

func sameSite(a, b *row) bool { return a.place == b.place && a.deal == b.deal }
func sameLine(a, b *row) bool { return a.line == b.line }

// magic begins a file of surfaces, and ends with the version of the format.
const magic = "plimsoll surfaces 2\n"

// WriteSurfaces writes the surfaces of several systems: where they come from, what
// the ratios are to, an index, and the compressed parts.
func WriteSurfaces(w io.Writer, s *Surfaces) error {
	head := []byte(magic)
	text := func(s string) { head = append(binary.AppendUvarint(head, uint64(len(s))), s...) }
	text(s.Source)
	head = binary.AppendUvarint(head, uint64(len(s.Systems)))
	var body []byte
	for _, f := range s.Systems {
		text(f.System)
		text(f.Generation)
		text(f.Base)
		for _, x := range []float64{f.Bandwidth, f.Peak, f.Link} {
			head = binary.LittleEndian.AppendUint64(head, math.Float64bits(x))
		}
		head = binary.AppendUvarint(head, uint64(len(f.parts)))
		for _, p := range f.parts {
			head = append(head, byte(p.kind.family), byte(p.kind.in), byte(p.kind.kv))
			head = binary.AppendUvarint(head, uint64(len(p.data)))
			body = append(body, p.data...)
		}
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err := w.Write(body)
	return err
}
