package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// Ask is the question of every cell.
type Ask string

// The questions.
const (
	Plan    Ask = "plan"    // which deployment carries the most, or carries a load
	Predict Ask = "predict" // what a given deployment does
)

// Grid is the axes of a sweep. The cells are the product of all lists, in the order of the fields here: the last one changes
// fastest. An axis that is left out has one value, the default of the question.
type Grid struct {
	Ask     Ask      `json:"ask"`
	Models  []string `json:"models"`
	Systems []string `json:"systems"`
	// Engines are named with their release where it is not the newest: "vllm@0.24.0". None: a plan compares all engines, a
	// prediction has the default.
	Engines   []string           `json:"engines,omitempty"`
	Workloads []session.Workload `json:"workloads"`

	// GPUs and Rates are the devices or the load of a plan, one of them; a rate may also be that of a prediction.
	GPUs  []int     `json:"gpus,omitempty"`
	Rates []float64 `json:"rates,omitempty"`
	// Layouts, Replicas and Concurrency are those of a prediction.
	Layouts     []parallel.Layout `json:"layouts,omitempty"`
	Replicas    []int             `json:"replicas,omitempty"`
	Concurrency []int             `json:"concurrency,omitempty"`

	Limits []workload.Limits `json:"limits,omitempty"`
	Prices []Price           `json:"prices,omitempty"`

	// With is further fields of the request of every cell.
	With json.RawMessage `json:"with,omitempty"`
}

// Price is US dollars for an hour of one device: a number for every system, by system, or "list" for the list prices.
type Price struct {
	All float64
	By  map[string]float64
}

// UnmarshalJSON reads a number, a mapping or "list".
func (p *Price) UnmarshalJSON(data []byte) error {
	*p = Price{}
	if string(data) == `"list"` {
		return nil
	}
	if json.Unmarshal(data, &p.All) != nil && json.Unmarshal(data, &p.By) != nil {
		return fmt.Errorf(`a price is a number of US dollars, a mapping of systems to them, or "list", got %s`, data)
	}
	values := []float64{p.All}
	if p.By != nil {
		values = nil
		for _, usd := range p.By {
			values = append(values, usd)
		}
	}
	for _, usd := range values {
		if !(usd > 0) || math.IsInf(usd, 1) {
			return fmt.Errorf("a price must be positive, got %s", data)
		}
	}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (p Price) MarshalJSON() ([]byte, error) {
	switch {
	case p.By != nil:
		return json.Marshal(p.By)
	case p.All != 0:
		return json.Marshal(p.All)
	}
	return []byte(`"list"`), nil
}

// of is the price of a system, 0 for the list price.
func (p Price) of(system string) float64 {
	if usd, ok := p.By[system]; ok {
		return usd
	}
	return p.All
}

// maxCells bounds a sweep, far beyond any that makes sense.
const maxCells = 50_000_000

// Read reads a grid. The name is for messages. The error joins all mistakes, one *[strictyaml.Problem] with its line each.
func Read(data []byte, name string) (*Grid, error) {
	ps := &strictyaml.Problems{File: name, Most: 20}
	root := ps.Document(data, strictyaml.Form{Holds: "grid", Kind: bound.Grid, Mapping: true})
	if root == nil {
		return nil, ps.Err()
	}
	g := &Grid{}
	seen := ps.Mapping("", root,
		strictyaml.Field{Key: "ask", Read: func(path string, n *yaml.Node) {
			one(ps, path, n, &g.Ask)
			if g.Ask != Plan && g.Ask != Predict && n.Kind == yaml.ScalarNode {
				hint := ""
				if near, ok := nearest.Match(string(g.Ask), []string{string(Plan), string(Predict)}); ok {
					hint = "; nearest: " + near
				}
				ps.Add(n.Line, path, "must be plan or predict, got %s%s", ps.KindOf(n), hint)
			}
		}},
		list(ps, "models", &g.Models), list(ps, "systems", &g.Systems), list(ps, "engines", &g.Engines), list(ps, "workloads", &g.Workloads),
		list(ps, "gpus", &g.GPUs), list(ps, "rates", &g.Rates), list(ps, "layouts", &g.Layouts), list(ps, "replicas", &g.Replicas),
		list(ps, "concurrency", &g.Concurrency), list(ps, "limits", &g.Limits), list(ps, "prices", &g.Prices),
		strictyaml.Field{Key: "with", Read: func(path string, n *yaml.Node) { one(ps, path, n, &g.With) }},
	)
	ps.Require("", root, seen, "ask", "models", "systems", "workloads")
	if ps.Err() == nil {
		g.suits(ps, root, seen)
	}
	if err := ps.Err(); err != nil {
		return nil, err
	}
	return g, nil
}

// list is an axis: a list of values, each once.
func list[T any](ps *strictyaml.Problems, key string, to *[]T) strictyaml.Field {
	return strictyaml.Field{Key: key, Read: func(path string, n *yaml.Node) {
		if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
			ps.Add(n.Line, path, "must be a list of at least one value, got %s", ps.KindOf(n))
			return
		}
		lines := map[string]int{}
		for i, item := range n.Content {
			at := fmt.Sprintf("%s[%d]", path, i)
			var x T
			if !one(ps, at, item, &x) {
				continue
			}
			text, _ := json.Marshal(x) // it was read from JSON
			if first, twice := lines[string(text)]; twice {
				ps.Add(item.Line, at, "%s appears twice, first on line %d", strictyaml.Show(strings.Trim(string(text), `"`), ""), first)
				continue
			}
			lines[string(text)] = item.Line
			*to = append(*to, x)
		}
	}}
}

// one reads a value as strictly as a request in JSON.
func one[T any](ps *strictyaml.Problems, path string, n *yaml.Node, to *T) bool {
	var value any
	err := n.Decode(&value)
	var data []byte
	if err == nil {
		data, err = json.Marshal(value)
	}
	if err != nil {
		ps.Add(n.Line, path, "%v", err)
		return false
	}
	err = field.Decode(data, to)
	for _, e := range field.Each(err) {
		text := e.Error()
		for _, lead := range []string{"the JSON value: ", "the JSON value "} { // the path is there already
			text = strings.TrimPrefix(text, lead)
		}
		ps.Add(n.Line, path, "%s", text)
	}
	return err == nil
}

// suits reports axes that the question does not have, values out of range, and too many cells.
func (g *Grid) suits(ps *strictyaml.Problems, root *yaml.Node, seen map[string]int) {
	not := map[Ask][]string{Plan: {"layouts", "replicas", "concurrency"}, Predict: {"gpus"}}[g.Ask]
	for _, key := range not {
		if line, ok := seen[key]; ok {
			ps.Add(line, key, "is not an axis of ask: %s", g.Ask)
		}
	}
	ways := map[Ask][2]string{Plan: {"gpus", "rates"}, Predict: {"concurrency", "rates"}}[g.Ask]
	_, first := seen[ways[0]]
	line, second := seen[ways[1]]
	replayed := g.Ask == Predict && !slices.ContainsFunc(g.Workloads, func(x session.Workload) bool { return x.Trace == "" })
	switch {
	case first && second:
		ps.Add(line, ways[1], "give %s or %s", ways[0], ways[1])
	case !first && !second && !replayed:
		ps.Add(root.Line, "", "%s or %s is missing", ways[0], ways[1])
	}
	g.numbers(ps, seen)
	for _, err := range field.Each(g.checkWith()) {
		ps.Add(seen["with"], "with", "%v", err)
	}
	if n := g.cells(); n > maxCells {
		ps.Add(root.Line, "", "the product of the lists has more than %d cells", maxCells)
	}
}

// numbers reports numbers out of range.
func (g *Grid) numbers(ps *strictyaml.Problems, seen map[string]int) {
	for _, axis := range []struct {
		key  string
		list []int
	}{{"gpus", g.GPUs}, {"replicas", g.Replicas}, {"concurrency", g.Concurrency}} {
		for i, n := range axis.list {
			if n < 1 {
				ps.Add(seen[axis.key], fmt.Sprintf("%s[%d]", axis.key, i), "must be at least 1, got %d", n)
			}
		}
	}
	for i, x := range g.Rates {
		if !(x > 0) || math.IsInf(x, 1) {
			ps.Add(seen["rates"], fmt.Sprintf("rates[%d]", i), "must be positive, got %g", x)
		}
	}
}

// checkWith reports further fields that a request does not have, or that are an axis.
func (g *Grid) checkWith() error {
	if g.With == nil {
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(g.With, &fields) != nil {
		return errors.New("must be a mapping of fields of the request")
	}
	axes := map[string]string{
		"model": "models", "systems": "systems", "engines": "engines", "workloads": "workloads", "gpus": "gpus", "rate": "rates",
		"limits": "limits", "prices": "prices", "concurrency": "concurrency", "trace": "workloads", "input_length": "workloads", "output_length": "workloads",
		"length_ratio_low": "workloads", "prefix_length": "workloads", "input_distribution": "workloads", "output_distribution": "workloads",
	}
	var errs []error
	for name := range fields {
		if axis := axes[name]; axis != "" {
			errs = append(errs, fmt.Errorf("%s has an axis of its own, %s", name, axis))
		}
	}
	if len(errs) > 0 {
		slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		return errors.Join(errs...)
	}
	if g.Ask == Plan {
		return field.Decode(g.With, &plan.Request{})
	}
	return field.Decode(g.With, &simulate.Request{})
}
