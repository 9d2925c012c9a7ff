package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// listed is a release in the table.
type listed struct {
	Version string `json:"version"`
	Date    string `json:"date"`
	// Unread says that its sources were not to be had.
	Unread bool `json:"unread,omitempty"`
	// Carries are the releases of the engines in its images.
	Carries map[string]string `json:"carries,omitempty"`
}

// table is what is written: by project its releases, and by list of names the ranges of releases that have each.
type table struct {
	releases map[string][]listed
	names    map[string]map[string][]bool // by list and name, for each release of the list's project that was read
	of       map[string]string            // the project of a list
}

func (t *table) add(p *project, all []release, from reader, cache string) error {
	if t.releases == nil {
		t.releases, t.names, t.of = map[string][]listed{}, map[string]map[string][]bool{}, map[string]string{}
	}
	read := 0
	for i := range all {
		r := &all[i]
		files, err := readSources(p, r, from, cache)
		if err != nil {
			return fmt.Errorf("%s %s: %w", p.name, r.version, err)
		}
		entry := listed{Version: r.version, Date: r.date, Unread: files == nil}
		if p.carries {
			entry.Carries = pins(files)
			maps.Copy(entry.Carries, imagesDiffer()[r.version])
			entry.Version = imageTag(r.version, all)
		}
		t.releases[p.name] = append(t.releases[p.name], entry)
		if files == nil || p.sources == "" {
			continue
		}
		if err := t.list(p, files, read, cache); err != nil {
			return fmt.Errorf("%s %s: %w", p.name, r.version, err)
		}
		fmt.Fprintln(os.Stderr, p.name, r.version)
		read++
	}
	return nil
}

// list notes the flags and keys of a release, the so-manieth that was read.
func (t *table) list(p *project, files map[string]string, at int, cache string) error {
	note := func(list string, names []string) {
		if len(names) == 0 {
			return
		}
		if t.names[list] == nil {
			t.names[list], t.of[list] = map[string][]bool{}, p.name
		}
		for _, n := range names {
			has := t.names[list][n]
			for len(has) < at {
				has = append(has, false)
			}
			t.names[list][n] = append(has, true)
		}
		lost := 0
		for _, has := range t.names[list] {
			if len(has) == at && at > 0 {
				lost++
			}
		}
		if lost*5 > len(names) {
			fmt.Fprintf(os.Stderr, "%s: %d names are lost, of %d: have its sources moved?\n", list, lost, len(names))
		}
	}
	if p.parts == nil {
		flags, keys, err := extract(p, maps.Clone(files), cache)
		note(p.name, flags)
		note(p.name+"-keys", keys)
		return err
	}
	for list, pattern := range p.parts {
		part := maps.Clone(files)
		maps.DeleteFunc(part, func(path, _ string) bool { return !regexp.MustCompile(pattern).MatchString(path) })
		flags, _, err := extract(p, part, cache)
		if err != nil {
			return err
		}
		note(list, flags)
	}
	return nil
}

// free lets a release whose allowed values of a flag or key are not written out as a list have all that are known.
func free(names map[string][]bool) {
	values := map[string][]string{}
	for name := range names {
		if base, _, ok := strings.Cut(name, "="); ok {
			values[base] = append(values[base], name)
		}
	}
	at := func(name string, i int) bool { return i < len(names[name]) && names[name][i] }
	for base, all := range values {
		for i := range names[base] {
			if !at(base, i) || slices.ContainsFunc(all, func(v string) bool { return at(v, i) }) {
				continue
			}
			for _, v := range all {
				for len(names[v]) <= i {
					names[v] = append(names[v], false)
				}
				names[v][i] = true
			}
		}
	}
}

// imagesDiffer are the engines in images of Dynamo that its wheel does not require (the pins of releases on its page of
// compatibility).
func imagesDiffer() map[string]map[string]string {
	return map[string]map[string]string{
		"0.6.0": {"vllm": "0.11.0"}, "0.6.1": {"vllm": "0.11.0"}, "0.8.1.post1": {"trtllm": "1.2.0rc6.post1"},
	}
}

// imageTag is the tag of the images of a release of Dynamo. A wheel that was published only as a post-release belongs
// to the images of the release (Dynamo's page of release artifacts).
func imageTag(version string, all []release) string {
	base, _, post := strings.Cut(version, ".post")
	if post && !slices.ContainsFunc(all, func(r release) bool { return r.version == base }) {
		return base
	}
	return version
}

// ranges are the releases that have a name: "0.9.2..0.14.0" is from 0.9.2 up to, but without, 0.14.0; several are
// divided by commas. "" is all.
func ranges(has []bool, versions []string) string {
	var out []string
	for i := 0; i < len(has); i++ {
		if !has[i] {
			continue
		}
		from := i
		for i < len(has) && has[i] {
			i++
		}
		since, until := versions[from], ""
		if from == 0 {
			since = ""
		}
		if i < len(versions) {
			until = versions[i]
		}
		if since == "" && until == "" {
			return ""
		}
		out = append(out, since+".."+until)
	}
	return strings.Join(out, ",")
}

func (t *table) encode() []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	word := func(v any) string {
		data, _ := json.Marshal(v) // of strings and maps of them
		return string(data)
	}
	line(`{`)
	line(`"made": "go -C tools run ./releases",`)
	line(`"releases": {`)
	for i, name := range slices.Sorted(maps.Keys(t.releases)) {
		line(`%s: [`, word(name))
		for j, r := range t.releases[name] {
			line(`%s%s`, word(r), comma(j, len(t.releases[name])))
		}
		line(`]%s`, comma(i, len(t.releases)))
	}
	line(`},`)
	line(`"names": {`)
	for i, list := range slices.Sorted(maps.Keys(t.names)) {
		var versions []string
		for _, r := range t.releases[t.of[list]] {
			if !r.Unread {
				versions = append(versions, r.Version)
			}
		}
		free(t.names[list])
		line(`%s: {`, word(list))
		for j, name := range slices.Sorted(maps.Keys(t.names[list])) {
			line(`%s: %s%s`, word(name), word(ranges(t.names[list][name], versions)), comma(j, len(t.names[list])))
		}
		line(`}%s`, comma(i, len(t.names)))
	}
	line(`}`)
	line(`}`)
	return b.Bytes()
}

func comma(i, n int) string {
	if i+1 < n {
		return ","
	}
	return ""
}
