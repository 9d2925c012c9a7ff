package table

import (
	"bufio"
	"bytes"
	"compress/flate"
	_ "embed"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

//go:embed surfaces.bin
var shippedFile []byte

// Embedded is the data of this package as they are in the program, for checks of an installation.
func Embedded() embedded.Files { return embedded.Files{"surfaces.bin": shippedFile} }

// Shipped are the surfaces that come with the program. Only their index is read.
//
//nolint:gochecknoglobals // the same for the whole process, and never changed
var Shipped = embedded.Once("table: surfaces.bin", shippedFile, ReadSurfaces)

// Surfaces are those of several systems, as a file holds them.
type Surfaces struct {
	Source  string // where the measurements come from
	Systems []*Fitted
}

// magic begins a file of surfaces, and ends with the version of the format.
const magic = "plimsoll surfaces 3\n"

var errDamaged = errors.New("damaged")

// numbered lets gob number the types of a file in one order, whichever a process meets
// first: files are the same to the byte.
//
//nolint:gochecknoglobals // once per process, as gob's numbers are
var numbered = sync.OnceFunc(func() {
	for _, v := range []any{Surfaces{}, []fittedShelf{}} {
		if err := gob.NewEncoder(io.Discard).Encode(v); err != nil {
			panic(fmt.Sprintf("table: %v", err)) // types that gob cannot encode
		}
	}
})

// WriteSurfaces writes the surfaces of several systems.
func WriteSurfaces(w io.Writer, s *Surfaces) error {
	numbered()
	if _, err := io.WriteString(w, magic); err != nil {
		return err
	}
	return gob.NewEncoder(w).Encode(s)
}

// ReadSurfaces reads the index of a file; surfaces are decoded on first use.
func ReadSurfaces(data []byte) (*Surfaces, error) {
	file, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		return nil, errors.New("no file of surfaces of this version")
	}
	r, out := bytes.NewReader(file), &Surfaces{}
	if err := gob.NewDecoder(r).Decode(out); err != nil {
		return nil, err
	}
	for _, f := range out.Systems {
		for _, p := range f.Parts {
			if p.Family >= families || p.In >= formats || p.KV >= formats {
				return nil, errDamaged
			}
		}
	}
	if r.Len() > 0 {
		return nil, errDamaged
	}
	return out, nil
}

// fittedShelf is the surfaces of one group in a file. Sizes are not logarithms there, so
// that whole ones are short numbers and come back to the last bit; ratios are in
// steps.
type fittedShelf struct {
	Exactly [2]float64
	Sources []fittedSource
}

// fittedSource is the curves kept of one engine's kernels.
type fittedSource struct {
	From  string
	Sites []fittedSite
}

type fittedSite struct {
	Place [2]float32
	Deal  op.Deal
	Lines []fittedLine
}

type fittedLine struct {
	At   float32
	X    []float32
	Rise []int // of the ratio, from the point before
}

// newSource makes curves of rows.
func newSource(from string, rows []row) fittedSource {
	out := fittedSource{From: from}
	for _, s := range curves(rows) {
		site := fittedSite{Place: [2]float32{axis(s.place[0]), axis(s.place[1])}, Deal: s.deal}
		for _, l := range s.lines {
			line, before := fittedLine{At: axis(l.at)}, 0
			for i := range l.x {
				q := quantum(l.ratio[i])
				line.X, line.Rise, before = append(line.X, axis(l.x[i])), append(line.Rise, q-before), q
			}
			site.Lines = append(site.Lines, line)
		}
		out.Sites = append(out.Sites, site)
	}
	return out
}

// encode compresses the surfaces of a kind.
func encode(shelves []fittedShelf) []byte {
	numbered()
	var out bytes.Buffer
	z, err := flate.NewWriter(&out, flate.BestCompression)
	if err == nil {
		err = errors.Join(gob.NewEncoder(z).Encode(shelves), z.Close())
	}
	if err != nil {
		panic(fmt.Sprintf("table: encoding in memory: %v", err))
	}
	return out.Bytes()
}

// maxPart bounds what a part may grow to; the largest have a few hundred kilobytes.
const maxPart = 16 << 20

// decode reads the surfaces of a kind.
func decode(data []byte) (out []fittedShelf, err error) {
	r := bufio.NewReader(io.LimitReader(flate.NewReader(bytes.NewReader(data)), maxPart))
	return out, gob.NewDecoder(r).Decode(&out)
}

// curves are those of a source, and whether they can be read.
func (s *fittedSource) curves(experts bool) (out []*site, ok bool) {
	for i := range s.Sites {
		f := &s.Sites[i]
		c := &site{place: [2]float64{position(f.Place[0]), position(f.Place[1])}, deal: f.Deal}
		ok := finite(c.place[0]) && finite(c.place[1]) && len(f.Lines) > 0 && (f.Deal.Possible() || !experts)
		for k := range f.Lines {
			l := f.Lines[k].curve()
			ok = ok && finite(l.at) && len(l.x) > 0 && (k == 0 || c.lines[k-1].at < l.at)
			c.lines = append(c.lines, l)
		}
		if !ok {
			return nil, false
		}
		out = append(out, c)
	}
	return out, true
}

// most is the largest ratio that is no mistake, in steps: a factor of e¹⁰.
const most = 10 / step

// slowest is the most, in logarithms, by which a surface makes an estimate longer. A measured kernel shows that a shape can be
// computed so fast, not that no engine has a faster kernel: of many shapes only one engine's was measured.
const slowest = 0.1

// curve is the line, without points if it cannot be one.
func (f *fittedLine) curve() line {
	l := line{at: position(f.At), x: make([]float64, len(f.X)), ratio: make([]float64, len(f.X))}
	ratio := 0
	for i, x := range f.X {
		if len(f.Rise) != len(f.X) {
			return line{at: l.at}
		}
		l.x[i] = position(x)
		if ratio += f.Rise[i]; !finite(l.x[i]) || i > 0 && l.x[i-1] >= l.x[i] || ratio < -most || ratio > most {
			return line{at: l.at}
		}
		l.ratio[i] = min(value(ratio), slowest)
	}
	return l
}
