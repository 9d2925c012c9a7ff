package engine

import (
	"embed"
	"fmt"
	"strings"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

//go:embed profiles/*.yaml
var profiles embed.FS

// entry names an engine; its file is the name. The aliases are repeated here so
// that finding an engine reads one file. An engine with a server is another one's, run with
// model code of its own: its file has what differs from that one's.
type entry struct {
	name    string
	aliases []string
	server  string
}

// catalog lists the engines in the order they are shown.
//
//nolint:gochecknoglobals // a constant table
var catalog = [...]entry{
	{"vllm", []string{"vllm-v1"}, ""},
	{"sglang", []string{"sgl"}, ""},
	{"trtllm", []string{"tensorrt-llm", "trt-llm"}, ""},
	{"mindie", []string{"mindie-llm", "ascend"}, ""},
	{"vllm-ascend", []string{"vllm-npu"}, "vllm"},
	{"sglang-npu", []string{"sglang-ascend"}, "sglang"},
	{"atom", []string{"rocm-atom"}, ""},
	{"atom-vllm", []string{"vllm-atom"}, "vllm"},
	{"atom-sglang", []string{"sglang-atom"}, "sglang"},
	{"generic", nil, ""},
}

// Names lists the engines.
func Names() []string {
	names := make([]string, len(catalog))
	for i, e := range catalog {
		names[i] = e.name
	}
	return names
}

// Server is the engine whose server an engine runs: another one for model code that plugs into it, else the engine itself.
func Server(name string) string {
	if e, err := find(name); err == nil && e.server != "" {
		return e.server
	}
	return name
}

// LookupVersion returns the profile of an engine for a version, "0.11.2" or
// "1.2.0rc6"; "" is the newest.
func LookupVersion(name, release string) (*Profile, error) {
	all, err := versions(name)
	if err != nil {
		return nil, err
	}
	if p := all[0]; release == "" {
		return p.clone().at(p.newest()), nil
	}
	if err := version.Check(release); err != nil {
		return nil, fmt.Errorf("engine %s: %w", all[0].Name, err)
	}
	if p := all[0]; p.Known != "" && version.Major(release) > version.Major(p.Known)+1 {
		return nil, fmt.Errorf("engine %s: version %s is far newer than %s, the newest known version", p.Name, release, p.Known)
	}
	for _, p := range all {
		if p.Versions.contains(release) {
			return p.clone().at(release), nil
		}
	}
	return nil, fmt.Errorf("engine %s: version %s is too old; the oldest supported version is %s",
		all[0].Name, release, all[len(all)-1].Versions.Since)
}

// newest is a release that a profile without one stands for: the newest that is known, or the first of a range in the past.
func (p *Profile) newest() string {
	if p.Versions.Until == "" && p.Known != "" {
		return p.Known
	}
	return p.Versions.Since
}

// at is the profile of a release of its range.
func (p *Profile) at(release string) *Profile {
	r := &p.Recurrent
	before := func(until string) bool { return until != "" && version.Compare(release, until) < 0 }
	if r.RefusedUntil != "" && !before(r.RefusedUntil) {
		r.RefusedOn = nil
	}
	r.AskedFor, r.None = before(r.AskedUntil), before(r.NoneUntil)
	return p
}

// LookupOn returns the profile of the engine that runs under a name on a vendor's devices; see Port.
func LookupOn(v device.Vendor, name, release string) (*Profile, error) {
	return LookupVersion(Port(name, v), release)
}

// Newer is a note if a release is newer than the newest known one, otherwise "".
func (p *Profile) Newer(release string) string {
	if release == "" || p.Known == "" || version.Compare(release, p.Known) <= 0 {
		return ""
	}
	return fmt.Sprintf("%s %s is newer than %s, the newest known version: using that version's settings", p.Name, release, p.Known)
}

// LookupNear returns the profile of an engine for a release: by its version or, if that is
// empty, not a version or older than all profiles, by the month of its use ("2026-01", a
// day may follow). Without either it is the newest, or the oldest for an older version.
// Assumed describes the assumption, "" for none.
func LookupNear(name, release, month string) (p *Profile, assumed string, err error) {
	all, err := Versions(name)
	if err != nil {
		return nil, "", err
	}
	known := version.Check(release) == nil
	for _, p := range all {
		if known && p.Versions.contains(release) {
			return p.at(release), "", nil
		}
	}
	p = all[0]
	if known {
		p = all[len(all)-1]
	}
	by := ""
	for _, q := range all {
		if month != "" && q.Released != "" && q.Released <= month {
			p, by = q, ", by its date"
			break
		}
	}
	if release == "" {
		release = "without a version"
	}
	if p.Versions == (Range{}) {
		return p, "", nil // the only profile
	}
	p = p.at(p.newest())
	return p, fmt.Sprintf("%s %s: settings of %s%s", all[0].Name, release, p.Versions, by), nil
}

// Versions returns the profiles of an engine, one for each range of versions,
// newest first.
func Versions(name string) ([]*Profile, error) {
	all, err := versions(name)
	out := make([]*Profile, len(all)) // callers may change theirs
	for i, p := range all {
		out[i] = p.clone().at(p.newest())
	}
	return out, err
}

// versions are the profiles of an engine that all lookups share.
func versions(name string) ([]*Profile, error) {
	e, err := find(name)
	if err != nil {
		return nil, err
	}
	all, err := e.read()
	if err != nil {
		return nil, fmt.Errorf("reading the embedded profile of %s: %w", e.name, err)
	}
	return all, nil
}

// parsed are the profiles of the files that were read, by the engine's name.
//
//nolint:gochecknoglobals // a cache of constants
var parsed sync.Map

// read returns the profiles in the file of an engine.
func (e entry) read() ([]*Profile, error) {
	if all, known := parsed.Load(e.name); known {
		return all.([]*Profile), nil
	}
	file := "profiles/" + e.name + ".yaml"
	data, err := profiles.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all, err := e.parse(file, data)
	if err == nil {
		parsed.Store(e.name, all)
	}
	return all, err
}

// parse reads the file of an engine.
func (e entry) parse(file string, data []byte) ([]*Profile, error) {
	if e.server == "" {
		return parse(file, data)
	}
	all, err := versions(e.server)
	if err != nil {
		return nil, err
	}
	return plugged(file, data, all)
}

// UnknownError is a name that no engine has.
type UnknownError struct {
	Name    string
	Nearest string // "" when none is near
}

// Error lists the engines.
func (e *UnknownError) Error() string {
	hint := ""
	if e.Nearest != "" {
		hint = "; nearest: " + e.Nearest
	}
	return fmt.Sprintf("unknown engine %q%s (engines: %s)", e.Name, hint, strings.Join(Names(), ", "))
}

// find resolves a name, or returns an error that helps to correct it.
func find(name string) (entry, error) {
	for i := range catalog { // a profile has its own name, and searches ask for the server of every candidate
		if catalog[i].name == name {
			return catalog[i], nil
		}
	}
	var words []string
	owner := map[string]string{}
	for _, e := range catalog {
		for _, w := range append([]string{e.name}, e.aliases...) {
			if normal(w) == normal(name) {
				return e, nil
			}
			words = append(words, w)
			owner[w] = e.name
		}
	}
	near, _ := nearest.Match(name, words)
	return entry{}, &UnknownError{Name: name, Nearest: owner[near]}
}

// normal is the form in which names are compared: case, "-", "_" and blanks make
// no difference.
func normal(name string) string {
	return strings.Map(func(r rune) rune { // a strings.Replacer takes 300 KB to make
		if r == '-' || r == '_' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}
