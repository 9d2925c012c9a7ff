package model

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// catalogFiles holds the shapes (shape/*.json, config.json files cut down to the
// fields we read) and the quantization notes (quant/*.json).
//
//go:embed catalog
var catalogFiles embed.FS

// catalogIndex is the list of names.
//
//go:embed catalog/index.txt
var catalogIndex string

// shapeSources says what each shape was compared with.
//
//go:embed shapes.txt
var shapeSources string

// Entry is one name of the catalog.
type Entry struct {
	ID     string `json:"id"`
	Family string `json:"family"`
	// AliasOf is the id that an old or short name stands for, "" for an id.
	AliasOf string `json:"alias_of,omitempty"`
}

// row is one line of the index: "id family shape [quant=NAME] [max=N]", or
// "alias NAME = id [from=TOOL]".
type row struct {
	id, family, shape, quant string
	max                      int

	org  string // of an id "org/repo"
	repo string // of it, spelled

	aliasOf string
	from    string // whose name an alias is
}

// index is the lines of the index, in its order.
//
//nolint:gochecknoglobals // read once per process
var index = sync.OnceValue(func() []row {
	var all []row
	for line := range strings.Lines(catalogIndex) {
		if f := strings.Fields(line); len(f) >= 3 && f[0] != "#" {
			all = append(all, parseRow(f))
		}
	}
	return all
})

func parseRow(f []string) row {
	if f[0] == "alias" {
		r := row{id: f[1], aliasOf: f[3]}
		if len(f) > 4 {
			r.from = strings.TrimPrefix(f[4], "from=")
		}
		return r
	}
	r := row{id: f[0], family: f[1], shape: f[2]}
	org, repo, _ := strings.Cut(r.id, "/")
	r.org, r.repo = org, spelled(repo)
	for _, option := range f[3:] {
		if name, ok := strings.CutPrefix(option, "quant="); ok {
			r.quant = name
		}
		if n, ok := strings.CutPrefix(option, "max="); ok {
			r.max, _ = strconv.Atoi(n) // a test reads every line
		}
	}
	return r
}

// find finds a name in the index, ignoring case.
func find(name string) (row, bool) {
	for _, r := range index() {
		if strings.EqualFold(r.id, name) {
			return r, true
		}
	}
	return row{}, false
}

// Lookup finds a model of the embedded catalog by its Hugging Face id, an old
// name (LLAMA3.1_70B) or a short one, ignoring case. An unknown name gives
// an UnknownError; [Source.Open] understands more names.
func Lookup(name string) (*Model, error) {
	if m, ok, err := listed(name); ok {
		return m, err
	}
	return nil, unknown(name)
}

// NamedBy is the tool whose own name for a model a name is, where that tool chose
// number formats by device: "AIConfigurator" for QWEN3_32B, "" for ids.
func NamedBy(name string) string {
	r, _ := find(name)
	return r.from
}

// listed loads the model that the index lists under a name, if it does.
func listed(name string) (m *Model, ok bool, err error) {
	r, ok := find(name)
	switch {
	case !ok:
		return nil, false, nil
	case r.aliasOf == "":
		m, err = r.load()
	default:
		id, _ := find(r.aliasOf) // a test follows every alias
		m, err = (&taken{row: id, from: r.from}).load(name)
	}
	return m, true, err
}

// load reads the model of a row that is not an alias.
func (r *row) load() (*Model, error) {
	config, err := catalogFiles.ReadFile("catalog/shape/" + r.shape + ".json")
	if err != nil {
		return nil, fmt.Errorf("catalog: %s: %w", r.id, err)
	}
	var quant []byte
	if r.quant != "" {
		if quant, err = catalogFiles.ReadFile("catalog/quant/" + r.quant + ".json"); err != nil {
			return nil, fmt.Errorf("catalog: %s: %w", r.id, err)
		}
	}
	m, err := Parse(config, quant)
	if err != nil {
		return nil, fmt.Errorf("catalog: %s: %w", r.id, err)
	}
	m.ID = r.id
	if r.max > 0 {
		m.MaxPosition = r.max
	}
	if r.unchecked() {
		m.Notes = append(m.Notes,
			"The shape of "+r.id+" was not compared with its config.json: pass a folder with config.json to be sure.")
	}
	return m, nil
}

// unchecked reports a shape that was written from descriptions and compared with
// nothing.
func (r *row) unchecked() bool {
	_, rest, _ := strings.Cut(shapeSources, "\nwritten "+r.shape+" ")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.HasSuffix(line, " unchecked")
}

// IDs lists the catalog's names, aliases included, sorted.
func IDs() []Entry {
	var all []Entry
	family := map[string]string{}
	for _, r := range index() {
		all = append(all, Entry{ID: r.id, Family: r.family, AliasOf: r.aliasOf})
		family[r.id] = r.family
	}
	for i := range all {
		if all[i].AliasOf != "" {
			all[i].Family = family[all[i].AliasOf]
		}
	}
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.ID), strings.ToLower(b.ID)), strings.Compare(a.ID, b.ID))
	})
	return all
}
