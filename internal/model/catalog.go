package model

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/nearest"
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

// Entry is one name of the catalog.
type Entry struct {
	ID     string `json:"id"`
	Family string `json:"family"`
	// AliasOf is the id that an old or short name stands for, "" for an id.
	AliasOf string `json:"alias_of,omitempty"`
}

// UnknownError reports a name that is not in the catalog.
type UnknownError struct {
	Name    string
	Nearest []string // ids spelled most like it, best first
}

// Error names the nearest ids.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("model %s is not in the catalog; nearest: %s", quoted(e.Name), strings.Join(e.Nearest, ", "))
}

// row is one line of the index: "id family shape [quant=NAME] [max=N]", or
// "alias NAME = id".
type row struct {
	id, family, shape, quant, aliasOf string
	max                               int
}

// rows goes through the index, in its order, until yield returns false.
func rows(yield func(row) bool) {
	for line := range strings.Lines(catalogIndex) {
		f := strings.Fields(line)
		if len(f) >= 3 && f[0] != "#" && !yield(parseRow(f)) {
			return
		}
	}
}

func parseRow(f []string) row {
	if f[0] == "alias" {
		return row{id: f[1], aliasOf: f[len(f)-1]}
	}
	r := row{id: f[0], family: f[1], shape: f[2]}
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

// find finds a name in the index, whatever its case. Only the line that has it
// is taken apart.
func find(name string) (row, bool) {
	if name == "alias" || name == "#" {
		return row{}, false
	}
	for line := range strings.Lines(catalogIndex) {
		rest := strings.TrimPrefix(line, "alias ")
		if id, _, _ := strings.Cut(rest, " "); strings.EqualFold(id, name) {
			return parseRow(strings.Fields(line)), true
		}
	}
	return row{}, false
}

// Lookup finds a model of the embedded catalog by its Hugging Face id, an old
// name (LLAMA3.1_70B) or a short one, whatever the case. An unknown name gives
// an UnknownError.
func Lookup(name string) (*Model, error) {
	r, ok := find(name)
	if ok && r.aliasOf != "" {
		r, ok = find(r.aliasOf)
	}
	if !ok {
		return nil, &UnknownError{Name: name, Nearest: similar(name, 3)}
	}
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
	return m, nil
}

// IDs lists the catalog's names, aliases included, sorted.
func IDs() []Entry {
	var all []Entry
	family := map[string]string{}
	for r := range rows {
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

// similar is the n names spelled most like name, by the number of edits; one
// that contains it is near, the nearer the shorter it is.
func similar(name string, n int) []string {
	type candidate struct {
		id   string
		away int
	}
	key := strings.ToLower(name)
	if len(key) > 128 {
		key = key[:128]
	}
	var all []candidate
	for r := range rows {
		id := strings.ToLower(r.id)
		_, short, _ := strings.Cut(id, "/")
		c := candidate{r.id, min(nearest.Edits(key, id), nearest.Edits(key, short)+1)}
		if strings.Contains(id, key) {
			c.away = len(id) / 16
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.away, b.away), strings.Compare(a.id, b.id))
	})
	ids := make([]string, 0, n)
	for _, c := range all[:min(n, len(all))] {
		ids = append(ids, c.id)
	}
	return ids
}
