package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Diff is what differs between two plans, and why.
type Diff struct {
	// Causes are differences of the program, of its data and of the requests; Fields
	// those of the requests, with what each does alone.
	Causes []string      `json:"causes"`
	Fields []FieldEffect `json:"fields"`

	Best    [2]string `json:"best"` // first contenders
	Changed bool      `json:"changed"`
	// Figures are those of the first contenders.
	Figures []FigureDiff `json:"figures"`
	// Contenders are the contenders of either plan by name, with their ranks.
	Contenders []ContenderDiff `json:"contenders"`
}

// FigureDiff is a figure in both plans.
type FigureDiff struct {
	Name string  `json:"name"`
	A    float64 `json:"a"`
	B    float64 `json:"b"`
	// WithinError says that B lies in the interval of A.
	WithinError bool `json:"within_error"`
}

// ContenderDiff is a contender of either plan; a rank of 0 is none.
type ContenderDiff struct {
	Name   string              `json:"name"`
	Ranks  [2]int              `json:"ranks"`
	Tokens [2]figures.Estimate `json:"tokens_per_second_gpu"`
}

// Read reads a record.
func Read(data []byte) (*Response, error) {
	p := &Response{}
	if err := bound.Decode(data, bound.JSONObjects, p); err != nil {
		return nil, fmt.Errorf("not a plan: %w", err)
	}
	if err := readable(p.Schema); err != nil {
		return nil, err
	}
	var asked struct { // the request is run again: a misspelt field must not become a default
		Request json.RawMessage `json:"request"`
	}
	if err := json.Unmarshal(data, &asked); err != nil {
		return nil, fmt.Errorf("not a plan: %w", err)
	}
	if len(asked.Request) == 0 || string(asked.Request) == "null" {
		return nil, errors.New("not a plan: there is no request")
	}
	if err := field.Decode(asked.Request, &p.Request); err != nil {
		return nil, fmt.Errorf("request of the plan: %w", err)
	}
	return p, nil
}

// first is the number of the first schema that is read: records of 1 have other figures, and no release has written any.
const first = 2

// readable says whether records of a schema can be read: those of this number and of all before it, from the first.
func readable(schema string) error {
	kind, newest, _ := cutNumber(Schema)
	switch k, n, ok := cutNumber(schema); {
	case !ok || k != kind || n < 1:
		return fmt.Errorf("not a Plimsoll plan: want schema %s, got %q", Schema, schema)
	case n < first:
		return fmt.Errorf("a plan of a build before the first release: its schema is %s, this program reads from %s%d; make the plan again", schema, kind, first)
	case n > newest:
		return fmt.Errorf("a plan of a newer release: its schema is %s, this program reads up to %s", schema, Schema)
	}
	return nil
}

// cutNumber parts the number from a schema's name.
func cutNumber(schema string) (kind string, number int, ok bool) {
	i := strings.LastIndex(schema, "/") + 1
	number, err := strconv.Atoi(schema[i:])
	return schema[:i], number, err == nil
}

// NewDiff compares two records; effects are those of the fields that differ.
func NewDiff(a, b *Response, effects []FieldEffect) *Diff {
	out := &Diff{Causes: []string{}, Fields: []FieldEffect{}, Figures: []FigureDiff{}, Contenders: []ContenderDiff{}}
	out.causes(a, b)
	for _, e := range effects {
		out.Fields = append(out.Fields, e)
		out.Causes = append(out.Causes, "the request: "+e.Field)
	}
	if len(a.Contenders) > 0 && len(b.Contenders) > 0 {
		out.compare(&a.Contenders[0], &b.Contenders[0])
	}
	out.contenders(a, b)
	return out
}

// causes finds differences of the program and its data.
func (d *Diff) causes(a, b *Response) {
	if a.Version != b.Version {
		d.Causes = append(d.Causes, fmt.Sprintf("the program: %s, %s", a.Version, b.Version))
	}
	hashes := map[string]string{}
	for _, x := range a.Data {
		hashes[x.Path] = x.SHA256
	}
	for _, x := range b.Data {
		if was, ok := hashes[x.Path]; !ok || was != x.SHA256 {
			d.Causes = append(d.Causes, "data: "+x.Path)
		}
		delete(hashes, x.Path)
	}
	for _, x := range a.Data {
		if _, gone := hashes[x.Path]; gone {
			d.Causes = append(d.Causes, "data: "+x.Path+" is gone")
		}
	}
}

// compare compares the first contenders.
func (d *Diff) compare(a, b *Contender) {
	d.Best = [2]string{a.Name + ": " + a.Deployment, b.Name + ": " + b.Deployment}
	add := func(name string, x, y figures.Estimate) {
		d.Figures = append(d.Figures, FigureDiff{name, x.Value, y.Value, y.Value >= x.Low && y.Value <= x.High})
	}
	add("GPUs", figures.Sure(float64(a.GPUs)), figures.Sure(float64(b.GPUs)))
	add("tokens/s per GPU", a.TokensPerGPU, b.TokensPerGPU)
	add("requests/s", a.RequestRate, b.RequestRate)
	if of := a.Judged.Statistic; of == b.Judged.Statistic && of != "mean" && of != "p95" {
		add("TTFT "+of+" ms", a.Judged.TTFT.Zero(), b.Judged.TTFT.Zero())
		add("TPOT "+of+" ms", a.Judged.TPOT.Zero(), b.Judged.TPOT.Zero())
	}
	add("TTFT ms", a.Mean.TTFT.Zero(), b.Mean.TTFT.Zero())
	add("TPOT ms", a.Mean.TPOT.Zero(), b.Mean.TPOT.Zero())
	add("TTFT p95 ms", a.P95.TTFT.Zero(), b.P95.TTFT.Zero())
	add("TPOT p95 ms", a.P95.TPOT.Zero(), b.P95.TPOT.Zero())
	if a.Cost != nil && b.Cost != nil {
		add("$ per million output tokens", a.Cost.PerMillion, b.Cost.PerMillion)
		add("$ per month", figures.Sure(a.Cost.PerMonth), figures.Sure(b.Cost.PerMonth))
	}
	if a.Energy != nil && b.Energy != nil {
		add("joules per output token", a.Energy.PerToken, b.Energy.PerToken)
	}
	d.Changed = d.Best[0] != d.Best[1]
	for _, f := range d.Figures {
		d.Changed = d.Changed || f.A != f.B
	}
}

// contenders places every contender in both plans.
func (d *Diff) contenders(a, b *Response) {
	at := map[string]int{}
	for side, p := range []*Response{a, b} {
		for i := range p.Contenders {
			c := &p.Contenders[i]
			k, known := at[c.Name]
			if !known {
				k = len(d.Contenders)
				at[c.Name] = k
				d.Contenders = append(d.Contenders, ContenderDiff{Name: c.Name})
			}
			d.Contenders[k].Ranks[side], d.Contenders[k].Tokens[side] = i+1, c.TokensPerGPU
		}
	}
}

// errNoContender is of plans without a deployment.
var errNoContender = errors.New("the plan has no deployment")

// Expected is the simulation of a plan's first contender.
func (p *Response) Expected() (simulate.Request, error) {
	if len(p.Contenders) == 0 {
		return simulate.Request{}, errNoContender
	}
	best := &p.Contenders[0]
	r := simulate.Request{Deployment: best.Run, Sources: p.Request.Sources}
	r.Concurrency, r.Workloads = best.Concurrency, p.Request.Workloads
	return r, nil
}
