package sweep

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Schema names the format of parts; an incompatible change gets a new number.
const Schema = "plimsoll/sweep/2"

// Heading is the first line of a part: which sweep it is of, made by what, and which cells it has. The lines below are rows.
type Heading struct {
	Schema  string `json:"schema"`
	Program string `json:"program"` // its version
	Data    string `json:"data"`    // the hash of what predictions rest on
	Grid    string `json:"grid"`    // the hash of the grid and the files that it names
	Cells   int    `json:"cells"`   // of the whole sweep
	Group   int    `json:"group"`   // cells in a row that go to one shard
	Shard   int    `json:"shard"`
	Of      int    `json:"of"`
}

// Heading is the heading of a shard's part.
func (s *Sweep) Heading(program string, p Shard) Heading {
	return Heading{Schema, program, Data(), s.Hash, s.Cells, s.Grid.group(), p.Index, p.Of}
}

// Line is the heading as a line.
func (h Heading) Line() ([]byte, error) { return seal(h) }

// Line is the row as a line.
func (r *Row) Line() ([]byte, error) { return seal(r) }

// differs says what two parts of one sweep must have in common and do not, "" if nothing.
func (h *Heading) differs(from *Heading) string {
	switch {
	case h.Grid != from.Grid || h.Cells != from.Cells || h.Group != from.Group:
		return "a different grid, or different files that it names"
	case h.Program != from.Program:
		return fmt.Sprintf("the program %s, not %s", h.Program, from.Program)
	case h.Data != from.Data:
		return "a program with other data"
	case h.Of != from.Of:
		return fmt.Sprintf("%d shards, not %d", h.Of, from.Of)
	}
	return ""
}

// Resumes reports an error unless the heading is the wanted one: a journal of something else must not be continued.
func (h *Heading) Resumes(want Heading) error {
	if why := h.differs(&want); why != "" {
		return fmt.Errorf("it is of %s", why)
	}
	if h.Shard != want.Shard {
		return fmt.Errorf("it is of shard %d, not %d", h.Shard, want.Shard)
	}
	return nil
}

// has reports whether a cell belongs to the part.
func (h *Heading) has(cell int64) bool {
	return cell >= 0 && cell < int64(h.Cells) && int(cell)/h.Group%h.Of == h.Shard
}

// want is the number of cells that belong to the part.
func (h *Heading) want() int { return max(0, (h.Cells/h.Group-h.Shard+h.Of-1)/h.Of*h.Group) }

// rank is the place of a cell among those of the part.
func (h *Heading) rank(cell int) int { return cell/h.Group/h.Of*h.Group + cell%h.Group }

// valid reports whether numbers of a heading make sense.
func (h *Heading) valid() bool {
	return h.Schema == Schema && h.Group >= 1 && h.Of >= 1 && h.Shard >= 0 && h.Shard < h.Of && h.Of <= maxCells && h.Cells >= 1 && h.Cells <= maxCells && h.Cells%h.Group == 0
}

// first is the first cell of the part that is not there.
func (p *Part) first() int {
	rank := 0
	for rank < len(p.at) && int(p.at[rank].rank) == rank {
		rank++
	}
	h := &p.Heading
	return (rank/h.Group*h.Of+h.Shard)*h.Group + rank%h.Group
}

// Part is rows of a shard in a file, of which memory holds only the places.
type Part struct {
	Heading Heading
	// Size is the bytes up to the end of the last whole line; what follows was cut off while it was written.
	Size int64
	// Damaged are the lines that are not as they were written, with one that was cut off. Their rows are missing.
	Damaged int

	// Failed and Over are the rows of cells that failed, and of those over their limits.
	Failed, Over int

	from io.ReaderAt
	// at are the places of the rows, by their ranks. A heading may claim more cells than memory holds, so that there is
	// nothing for a row that is not there.
	at []place
}

type place struct {
	rank         int32
	length       int32
	offset       int64
	failed, over bool
}

// ReadPart finds the rows of a part. A row that is there twice is as often the same, and counts once.
func ReadPart(from io.ReaderAt, size int64) (*Part, error) {
	p := &Part{from: from}
	for n, l := range lines(io.NewSectionReader(from, 0, size)) {
		switch {
		case l.err != nil:
			return nil, l.err
		case n == 1:
			if err := p.head(l.text); err != nil {
				return nil, err
			}
		default:
			if err := p.add(n, l.text); err != nil {
				return nil, err
			}
		}
		p.Size += l.length
	}
	if p.Size == 0 {
		return nil, errors.New("it is empty")
	}
	if p.Size < size {
		p.Damaged++
	}
	p.order()
	return p, nil
}

// head reads the first line.
func (p *Part) head(line []byte) error {
	text, whole := unseal(line)
	if !whole {
		text = line // of another format, or damaged
	}
	err := json.Unmarshal(text, &p.Heading)
	switch schema := p.Heading.Schema; {
	case err == nil && schema != Schema && strings.HasPrefix(schema, "plimsoll/sweep/"):
		return fmt.Errorf("it has the format %s of another version of the program", schema)
	case err != nil || !whole || !p.Heading.valid():
		return errors.New("not a part of a sweep of this program, or its first line is damaged")
	}
	return nil
}

// add notes the row of a line.
func (p *Part) add(n int, line []byte) error {
	text, whole := unseal(line)
	if !whole {
		p.Damaged++
		return nil
	}
	row := struct {
		Index  *int64 `json:"index"`
		Status Status `json:"status"`
	}{}
	switch {
	case json.Unmarshal(text, &row) != nil || row.Index == nil:
		return fmt.Errorf("line %d is not a row", n)
	case !p.Heading.has(*row.Index):
		return fmt.Errorf("line %d has cell %d, which is not in shard %d of %d", n, *row.Index, p.Heading.Shard, p.Heading.Of)
	}
	p.at = append(p.at, place{int32(p.Heading.rank(int(*row.Index))), int32(len(line)), p.Size, row.Status == Failed, row.Status == OverLimits})
	return nil
}

// order puts the rows in the order of their cells, each once, and counts them.
func (p *Part) order() {
	slices.SortStableFunc(p.at, func(a, b place) int { return cmp.Compare(a.rank, b.rank) })
	p.at = slices.CompactFunc(p.at, func(a, b place) bool { return a.rank == b.rank })
	for i := range p.at {
		if p.at[i].failed {
			p.Failed++
		}
		if p.at[i].over {
			p.Over++
		}
	}
}

// Has reports whether the row of a cell is there.
func (p *Part) Has(cell int) bool {
	_, ok := p.find(cell)
	return ok
}

// find is the place of a cell's row.
func (p *Part) find(cell int) (place, bool) {
	if !p.Heading.has(int64(cell)) {
		return place{}, false
	}
	i, ok := slices.BinarySearchFunc(p.at, int32(p.Heading.rank(cell)), func(a place, rank int32) int { return cmp.Compare(a.rank, rank) })
	if !ok {
		return place{}, false
	}
	return p.at[i], true
}

// Rows is the number of rows.
func (p *Part) Rows() int { return len(p.at) }

// Complete reports an error if a row is missing.
func (p *Part) Complete() error {
	n := p.Heading.want() - p.Rows()
	if n == 0 {
		return nil
	}
	err := fmt.Errorf("shard %d of %d lacks %d of its %d rows, the first is that of cell %d", p.Heading.Shard, p.Heading.Of, n, p.Heading.want(), p.first())
	if p.Damaged > 0 {
		return fmt.Errorf("%w; %s damaged", err, units.Counted(p.Damaged, "line"))
	}
	return err
}

// row reads a row and holds its key to its request.
func (p *Part) row(cell int) (*Row, []byte, error) {
	at, ok := p.find(cell)
	if !ok {
		return nil, nil, fmt.Errorf("cell %d has no row", cell)
	}
	line := make([]byte, at.length, at.length+1)
	if _, err := p.from.ReadAt(line, at.offset); err != nil {
		return nil, nil, err
	}
	text, whole := unseal(line)
	if !whole {
		return nil, nil, fmt.Errorf("cell %d: its line is damaged", cell)
	}
	r := &Row{}
	if err := bound.Decode(text, bound.RequestObjects, r); err != nil {
		return nil, nil, fmt.Errorf("cell %d: %w", cell, err)
	}
	if r.Key != Key(r.Ask, r.Request) {
		return nil, nil, fmt.Errorf("cell %d: the key is not that of its request", cell)
	}
	return r, append(line, '\n'), nil
}

// Sorted writes the part with its rows in the order of the cells.
func (p *Part) Sorted(out io.Writer) error {
	head, err := p.Heading.Line()
	if err == nil {
		_, err = out.Write(head)
	}
	for cell := range p.Heading.Cells {
		if err == nil && p.Has(cell) {
			var text []byte
			if _, text, err = p.row(cell); err == nil {
				_, err = out.Write(text)
			}
		}
	}
	return err
}

// Merge writes the table of a sweep from its parts. All must be of one sweep, made by one program, and there: no row is lost or
// doubled.
func Merge(parts []*Part, out io.Writer, format Format) error {
	if len(parts) == 0 {
		return errors.New("no parts were found")
	}
	first := &parts[0].Heading
	by := map[int]*Part{}
	var errs []error
	for _, p := range parts {
		h := &p.Heading
		if why := h.differs(first); why != "" {
			errs = append(errs, fmt.Errorf("shard %d is of %s", h.Shard, why))
			continue
		}
		if by[h.Shard] != nil {
			errs = append(errs, fmt.Errorf("shard %d of %d appears twice", h.Shard, h.Of))
		}
		by[h.Shard] = p
		errs = append(errs, p.Complete())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i := range first.Of {
		if by[i] == nil {
			return fmt.Errorf("shard %d of %d is missing", i, first.Of)
		}
	}
	t, err := newTable(out, format, first)
	if err != nil {
		return err
	}
	for cell := range first.Cells {
		r, _, err := by[cell/first.Group%first.Of].row(cell)
		if err == nil {
			err = t.write(r)
		}
		if err != nil {
			return err
		}
	}
	return t.close()
}
