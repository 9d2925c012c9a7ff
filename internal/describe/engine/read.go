package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/basic/version"
)

// parse reads the file of an engine: one YAML document for each range of
// versions, newest first. The first is complete; each further one states what was
// different before. Unknown keys are errors.
func parse(file string, data []byte) ([]*Profile, error) {
	ps := &strictyaml.Problems{File: file, Most: 20}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var all []*Profile
	var ranges []Range
	p := &Profile{Options: map[string]string{}, Renamed: map[string][]Named{}}
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		p = p.clone()
		p.read(ps, document.Content[0])
		if err := ps.Err(); err != nil {
			return nil, err
		}
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("%s: versions %s: %w", file, p.Versions, err)
		}
		all, ranges = append(all, p), append(ranges, p.Versions)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: the file is empty", file)
	}
	if err := checkRanges(ranges); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return all, nil
}

// plugged reads the file of an engine that runs another one's server: one document of what differs from each of that one's profiles,
// whose versions it has, from the release on that the document begins with up to the newest known one, which later releases are like.
func plugged(file string, data []byte, server []*Profile) ([]*Profile, error) {
	ps := &strictyaml.Problems{File: file, Most: 20}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var all []*Profile
	for _, of := range server {
		p := of.clone()
		p.read(ps, document.Content[0])
		if err := cmp.Or(ps.Err(), p.check()); err != nil {
			return nil, err
		}
		since := p.Versions.Since
		if p.Known != "" && version.Compare(of.Versions.Since, p.Known) > 0 {
			continue
		}
		p.Versions, p.Released = of.Versions, of.Released
		if len(all) == 0 {
			p.Versions.Until = ""
		}
		all = append(all, p)
		if of.Versions.contains(since) {
			p.Versions.Since = since
			return all, nil
		}
	}
	return nil, fmt.Errorf("%s: it begins before the server it runs", file)
}

// clone copies a profile with everything that a document or With can change.
func (p *Profile) clone() *Profile {
	q := *p
	q.Tiers, q.Slow, q.Hosts, q.Options, q.Renamed = slices.Clone(p.Tiers), slices.Clone(p.Slow), map[string]*Terms{}, maps.Clone(p.Options), maps.Clone(p.Renamed)
	for generation, t := range p.Hosts {
		q.Hosts[generation] = copied(t)
	}
	q.ShareRule, q.LatentRule = copied(p.ShareRule), copied(p.LatentRule)
	q.SparseRule, q.ReduceRule = copied(p.SparseRule), copied(p.ReduceRule)
	return &q
}

// copied is a copy of a rule, nil of none.
func copied[T any](rule *T) *T {
	if rule == nil {
		return nil
	}
	return new(*rule)
}

// check reports missing values; invalid ones were reported by reading.
func (p *Profile) check() error {
	var errs []error
	if p.Name == "" || p.Title == "" || p.Source == "" {
		errs = append(errs, errors.New("name, title and source are required"))
	}
	if p.Hosts[Generic] == nil {
		errs = append(errs, fmt.Errorf("host.times_us.%s is missing", Generic))
	}
	for _, s := range p.settings() {
		if err := s.check(); err != nil {
			errs = append(errs, fmt.Errorf("%s %w", s.key, err))
		}
	}
	return errors.Join(errs...)
}

// readList applies the settings of each entry of a list.
func readList(ps *strictyaml.Problems, path string, list *yaml.Node, of func(int) []setting) {
	for i, entry := range list.Content {
		leaves(ps, "", entry, func(key string, n *yaml.Node) {
			readSetting(ps, fmt.Sprintf("%s[%d].%s", path, i, key), n, of(i), key)
		})
	}
}

// read applies a document.
func (p *Profile) read(ps *strictyaml.Problems, root *yaml.Node) {
	own := p.settings()
	all := append(p.identity(), own...)
	leaves(ps, "", root, func(path string, n *yaml.Node) {
		if p.readPart(ps, path, n) {
			return
		}
		if key, ok := strings.CutPrefix(path, "options."); ok {
			p.readOption(ps, path, key, n)
		} else if rest, ok := strings.CutPrefix(path, "host.times_us."); ok {
			generation, key, _ := strings.Cut(rest, ".")
			if p.Hosts[generation] == nil {
				p.Hosts[generation] = &Terms{}
			}
			readSetting(ps, path, n, p.Hosts[generation].settings(), key)
		} else {
			readSetting(ps, path, n, all, path)
		}
	})
	if r := p.ReduceRule; r != nil && len(r.Generations) == 0 {
		p.ReduceRule = nil // as before the release that brought it
	}
}

// leaves calls do for each value of a mapping and of nested ones, with its path.
func leaves(ps *strictyaml.Problems, path string, mapping *yaml.Node, do func(path string, n *yaml.Node)) {
	ps.Keys(path, mapping, func(at string, _, value *yaml.Node) {
		if value.Kind == yaml.MappingNode {
			leaves(ps, at, value, do)
		} else {
			do(at, value)
		}
	})
}

// readSetting reads the one of some settings that has a key.
func readSetting(ps *strictyaml.Problems, path string, n *yaml.Node, all []setting, key string) {
	s, err := byKey(all, key)
	if err == nil {
		err = s.read(n)
	}
	if err != nil {
		ps.Add(n.Line, path, "%s", err)
	}
}

// read reads the value from a file.
func (s *setting) read(n *yaml.Node) error {
	if list, ok := s.at.(*[]string); ok {
		*list = nil
		if n.Decode(list) != nil {
			return errors.New("must be a list of words")
		}
		return nil
	}
	if n.Kind != yaml.ScalarNode {
		return errors.New("must be a single value")
	}
	return s.set(n.Value)
}

// readPart reads a list, or a value of a rule, and reports whether it is one.
func (p *Profile) readPart(ps *strictyaml.Problems, path string, n *yaml.Node) bool {
	for _, x := range p.parts() {
		key, within := strings.CutPrefix(path, x.key+".")
		switch {
		case x.at.Kind() == reflect.Pointer && within:
			if x.at.IsNil() {
				x.at.Set(reflect.New(x.at.Type().Elem()))
			}
			readSetting(ps, path, n, fieldsOf(x.at.Elem(), ""), key)
			return true
		case x.at.Kind() == reflect.Slice && path == x.key && n.Kind == yaml.SequenceNode:
			x.at.Set(reflect.MakeSlice(x.at.Type(), len(n.Content), len(n.Content)))
			readList(ps, path, n, func(i int) []setting { return fieldsOf(x.at.Index(i), "") })
			return true
		}
	}
	return false
}
