package table

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// Surfaces are those of several systems, as a file holds them.
type Surfaces struct {
	Source  string // where the measurements come from
	Systems []*Fitted
}

var errDamaged = errors.New("damaged")

// ReadSurfaces reads the index of a file; surfaces are decoded on first use.
// It keeps the data.
func ReadSurfaces(data []byte) (*Surfaces, error) {
	r := reader{data: data}
	if string(r.take(uint64(len(magic)))) != magic {
		return nil, errors.New("no file of surfaces of this version")
	}
	out := &Surfaces{Source: r.text()}
	var sizes []uint64
	for range r.count() {
		f := &Fitted{}
		f.System, f.Generation, f.Base = r.text(), r.text(), r.text()
		f.Bandwidth, f.Peak, f.Link = r.float64(), r.float64(), r.float64()
		for range r.count() {
			kind := r.take(3)
			if r.failed || kind[0] >= byte(families) || kind[1] >= byte(formats) || kind[2] >= byte(formats) {
				return nil, errDamaged
			}
			f.parts = append(f.parts, &fittedPart{kind: group{family: family(kind[0]), in: format(kind[1]), kv: format(kind[2])}})
			sizes = append(sizes, r.uint())
		}
		out.Systems = append(out.Systems, f)
	}
	for _, f := range out.Systems {
		for _, p := range f.parts {
			p.data = r.take(sizes[0])
			sizes = sizes[1:]
		}
	}
	if r.failed || len(r.data) > 0 {
		return nil, errDamaged
	}
	return out, nil
}

// Check decodes everything.
func (s *Surfaces) Check() error {
	var errs []error
	for _, f := range s.Systems {
		for _, p := range f.parts {
			if err := p.check(); err != nil {
				errs = append(errs, fmt.Errorf("%s %s: %w", f.System, p.kind.title(), err))
			}
		}
	}
	return errors.Join(errs...)
}

// reader takes numbers from data; after a failure it gives zeros.
type reader struct {
	data   []byte
	failed bool
}

func (r *reader) take(n uint64) []byte {
	if r.failed || n > uint64(len(r.data)) {
		r.failed, r.data = true, nil
		return nil
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func (r *reader) uint() uint64 {
	x, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.failed, r.data = true, nil
		return 0
	}
	r.data = r.data[n:]
	return x
}

func (r *reader) int() int64 {
	x, n := binary.Varint(r.data)
	if n <= 0 {
		r.failed, r.data = true, nil
		return 0
	}
	r.data = r.data[n:]
	return x
}

// count is a number of things of a byte or more each.
func (r *reader) count() int {
	n := r.uint()
	if n > uint64(len(r.data)) {
		r.failed, r.data = true, nil
		return 0
	}
	return int(n)
}

func (r *reader) text() string { return string(r.take(uint64(r.count()))) }

func (r *reader) float32() float32 {
	b := r.take(4)
	if b == nil {
		return 0
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(b))
}

func (r *reader) float64() float64 {
	b := r.take(8)
	if b == nil {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// most is the largest ratio that is no mistake, in steps: a factor of e¹⁰.
const most = 10 / step

// maxPart bounds what a part may grow to; the largest have a few hundred kilobytes.
const maxPart = 16 << 20

// partIndex is what the surfaces of a kind have in common, and where each is.
type partIndex struct {
	experts bool
	names   []string
	axes    []float64
	shelves []shelfBytes
}

// shelfBytes is the encoded surfaces of one group.
type shelfBytes struct {
	exactly       [2]float64
	shape, ratios []byte
}

// openPart reads the index of a part. It is never nil.
func openPart(data []byte, experts bool) (*partIndex, error) {
	x := &partIndex{experts: experts}
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), maxPart))
	if err != nil {
		return x, err
	}
	r := reader{data: raw}
	for range r.count() {
		x.names = append(x.names, r.text())
	}
	for range r.count() {
		x.axes = append(x.axes, position(r.float32()))
	}
	var sizes [][2]uint64
	for range r.count() {
		x.shelves = append(x.shelves, shelfBytes{exactly: [2]float64{float64(r.float32()), float64(r.float32())}})
		sizes = append(sizes, [2]uint64{r.uint(), r.uint()})
	}
	for i := range x.shelves {
		x.shelves[i].shape = r.take(sizes[i][0])
	}
	for i := range x.shelves {
		x.shelves[i].ratios = r.take(sizes[i][1])
	}
	if r.failed || len(r.data) > 0 {
		return x, errDamaged
	}
	return x, nil
}

// decode reads the surfaces of some exact sizes, none if there are none.
func (x *partIndex) decode(exactly [2]float64) ([]source, error) {
	at := slices.IndexFunc(x.shelves, func(s shelfBytes) bool { return s.exactly == exactly })
	if at < 0 {
		return nil, nil
	}
	d := partDecoder{partIndex: x, shape: reader{data: x.shelves[at].shape}, ratios: reader{data: x.shelves[at].ratios}}
	// A ratio has a byte at least: all points fit.
	n := len(d.ratios.data)
	d.x, d.ratio = make([]float64, 0, n), make([]float64, 0, n)
	var out []source
	for range d.shape.count() {
		out = append(out, d.source())
		if d.failed() {
			break
		}
	}
	if d.failed() || len(d.shape.data) > 0 || len(d.ratios.data) > 0 {
		return nil, errDamaged
	}
	return out, nil
}

// slowest is the most, in logarithms, by which a surface makes an estimate longer. A measured kernel shows that a shape can be
// computed so fast, not that no engine has a faster kernel: of many shapes only one engine's was measured.
const slowest = 0.1

// partDecoder reads the curves of a group into common arrays.
type partDecoder struct {
	*partIndex

	shape, ratios reader
	x, ratio      []float64
	first         int64
	bad           bool
}

func (d *partDecoder) failed() bool { return d.bad || d.shape.failed || d.ratios.failed }

func (d *partDecoder) axis(n uint64) float64 {
	if n >= uint64(len(d.axes)) || !finite(d.axes[n]) {
		d.bad = true
		return 0
	}
	return d.axes[n]
}

func (d *partDecoder) source() source {
	var s source
	if n := d.shape.uint(); n < uint64(len(d.names)) {
		s.from = d.names[n]
	} else {
		d.bad = true
	}
	n := d.shape.count()
	s.sites = make([]*site, 0, n)
	for range n {
		s.sites = append(s.sites, d.site())
		if d.failed() {
			break
		}
	}
	return s
}

func (d *partDecoder) site() *site {
	place := [2]float64{d.axis(d.shape.uint()), d.axis(d.shape.uint())}
	s := &site{place: place}
	if d.experts {
		s.deal = op.Deal{Experts: d.uint32(), Choice: d.uint32(), Ranks: d.uint32()}
		d.bad = d.bad || !s.deal.Possible()
	}
	n := d.shape.count()
	if n == 0 {
		d.bad = true
	}
	s.lines = make([]line, 0, n)
	for range n {
		l := d.line()
		if d.failed() {
			break
		}
		if k := len(s.lines); k > 0 && s.lines[k-1].at >= l.at {
			d.bad = true
		}
		s.lines = append(s.lines, l)
	}
	return s
}

func (d *partDecoder) uint32() uint32 {
	n := d.shape.uint()
	d.bad = d.bad || n > math.MaxUint32
	return uint32(n)
}

func (d *partDecoder) line() line {
	l := line{at: d.axis(d.shape.uint())}
	n := d.shape.count()
	if n == 0 || n > len(d.ratios.data) {
		d.bad = true
		return l
	}
	from := len(d.x)
	at, q := uint64(0), d.first
	for i := range n {
		step := d.shape.uint()
		if i > 0 && step == 0 || step > uint64(len(d.axes)) {
			d.bad = true
		}
		at += step
		q += d.ratios.int()
		if i == 0 {
			d.first = q
		}
		d.bad = d.bad || q < -most || q > most
		d.x, d.ratio = append(d.x, d.axis(at)), append(d.ratio, min(value(q), slowest))
	}
	to := len(d.x)
	l.x, l.ratio = d.x[from:to:to], d.ratio[from:to:to]
	return l
}
