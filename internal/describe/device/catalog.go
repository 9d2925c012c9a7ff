package device

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
)

//go:embed profiles/*.yaml
var profiles embed.FS

// Embedded is the data of this package as they are in the program, for checks of an installation.
func Embedded() embedded.Files {
	return embedded.Files{"profile.schema.json": []byte(schema), "instances.txt": []byte(instanceFile)}.With(profiles)
}

// entry names an embedded profile; its file is the name in lower case.
type entry struct {
	Name    string   `yaml:"name"`
	Aliases []string `yaml:"aliases"`
}

// catalog lists the embedded profiles by name. It reads all files, once: 12 ms.
//
//nolint:gochecknoglobals // read once per process
var catalog = sync.OnceValue(func() []entry {
	files, err := fs.Glob(profiles, "profiles/*.yaml")
	all := make([]entry, len(files))
	for i, file := range files {
		data, unread := profiles.ReadFile(file)
		err = errors.Join(err, unread, yaml.Unmarshal(data, &all[i]))
	}
	if err != nil {
		panic("device: the embedded profiles: " + err.Error()) // a test reads them
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.Name, b.Name) })
	return all
})

// Names lists the embedded profiles, sorted.
func Names() []string {
	all := catalog()
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name
	}
	return names
}

// Lookup returns an embedded profile by its name or an alias, in any spelling (see
// normal), or by a cloud's machine type.
func Lookup(name string) (*Profile, error) {
	e, err := find(name)
	if err != nil {
		return nil, err
	}
	known, ok := parsed.Load(e.file())
	if !ok {
		data, err := e.read()
		if err != nil {
			return nil, err
		}
		p, err := Parse(data, e.file())
		if err != nil {
			return nil, err
		}
		known, _ = parsed.LoadOrStore(e.file(), p)
	}
	out := *known.(*Profile)
	out.Aliases, out.Links = slices.Clone(out.Aliases), slices.Clone(out.Links)
	return &out, nil
}

// All returns the embedded profiles in the order of their names.
func All() []*Profile {
	var out []*Profile
	for _, e := range catalog() {
		p, err := Lookup(e.Name)
		if err != nil {
			panic("device: the embedded profiles: " + err.Error()) // a test reads them
		}
		out = append(out, p)
	}
	return out
}

// parsed are the embedded profiles read so far, by file. Callers get copies, which they may change.
//
//nolint:gochecknoglobals // each is read once per process
var parsed sync.Map

// Text returns the file of an embedded profile with its comments, a start for a custom profile.
func Text(name string) ([]byte, error) {
	e, err := find(name)
	if err != nil {
		return nil, err
	}
	return e.read()
}

func (e entry) file() string { return "profiles/" + strings.ToLower(e.Name) + ".yaml" }

func (e entry) read() ([]byte, error) {
	data, err := profiles.ReadFile(e.file())
	if err != nil {
		return nil, fmt.Errorf("reading the embedded profile of %s: %w", e.Name, err)
	}
	return data, nil
}

// find resolves a name, or returns an error that helps to correct it.
func find(name string) (entry, error) {
	if e := (entry{Name: name}); deviceName.MatchString(name) {
		if _, err := fs.Stat(profiles, e.file()); err == nil { // most names; the others need the catalog
			return e, nil
		}
	}
	key := normal(name)
	for _, e := range catalog() {
		for _, word := range e.words() {
			if normal(word) == key {
				return e, nil
			}
		}
	}
	if d := onInstance(name); d != "" {
		return find(d)
	}
	hint := ""
	if near := suggest(key); len(near) > 0 {
		hint = "; nearest: " + strings.Join(near, ", ")
	}
	return entry{}, fmt.Errorf("unknown device %q%s (plimsoll devices lists all %d)", name, hint, len(catalog()))
}

// words are all names of a device.
func (e entry) words() []string { return append([]string{e.Name}, e.Aliases...) }

// suggest returns a few canonical names for a normalised one: those it is a part
// of, else those nearest to it by name or alias.
func suggest(key string) []string {
	const few, shortest = 3, 3
	var parts, words []string
	owner := map[string]string{}
	for _, e := range catalog() {
		if len(key) >= shortest && strings.Contains(normal(e.Name), key) {
			parts = append(parts, e.Name)
		}
		for _, w := range e.words() {
			words = append(words, normal(w))
			owner[normal(w)] = e.Name
		}
	}
	if len(parts) == 0 {
		for _, w := range nearest.Matches(key, words) {
			if !slices.Contains(parts, owner[w]) {
				parts = append(parts, owner[w])
			}
		}
	}
	return parts[:min(few, len(parts))]
}
