package engine

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
	"github.com/plimsoll-project/plimsoll/internal/basic/version"
)

// releasesJSON is the table of releases: those that are published, and the flags and keys each has, by list: the engines'
// servers ("vllm"), TensorRT-LLM's settings ("trtllm-keys"), Dynamo's workers ("dynamo.vllm") and its frontend. An allowed
// value of a flag or key is a name too: "--kv-cache-dtype=fp8". It is made of the released packages (tools/releases).
//
//go:embed releases.json
var releasesJSON []byte

// Embedded is the data of this package as they are in the program, for checks of an installation.
func Embedded() embedded.Files {
	return embedded.Files{"releases.json": releasesJSON, "defaults.json": defaultsJSON, "presets.yaml": presetsFile, "reworked.yaml": reworkedFile, "successors.yaml": successorsFile}.With(profiles)
}

// Release is a published release of an engine or of Dynamo.
type Release struct {
	Version string `json:"version"`
	Date    string `json:"date"`
	// Unread says that its flags and keys were not to be had: those of the releases beside it stand for them.
	Unread bool `json:"unread"`
	// Carries are the releases of the engines in Dynamo's images.
	Carries map[string]string `json:"carries"`
}

// ranges are releases as the table writes them: "0.9.2..0.13.0,0.14.1..".
type ranges []Range

// UnmarshalText reads them; "" is all releases.
func (r *ranges) UnmarshalText(text []byte) error {
	for one := range strings.SplitSeq(string(text), ",") {
		since, until, _ := strings.Cut(one, "..")
		*r = append(*r, Range{since, until})
	}
	return nil
}

type releaseTable struct {
	Made     string // how
	Releases map[string][]Release
	Names    map[string]map[string]ranges
}

//nolint:gochecknoglobals // read once, never changed
var releases = embedded.Once("engine: releases.json", releasesJSON, embedded.JSON[releaseTable])

// Released lists the engines that have a table of releases, and "dynamo".
func Released() []string { return slices.Sorted(maps.Keys(releases().Releases)) }

// Releases lists the published releases of an engine, or of "dynamo", oldest first; nil if there is no list.
func Releases(name string) []Release { return releases().Releases[name] }

// Published returns the release of an engine that a version names ("0.14" is "0.14.0"), nil if none is published.
func Published(name, release string) *Release {
	all := Releases(name)
	i := slices.IndexFunc(all, func(r Release) bool { return version.Compare(r.Version, release) == 0 })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// Upto is the newest published release of an engine that is not newer than a version; the version itself without one.
func Upto(name, release string) string {
	out := release
	for _, r := range Releases(name) {
		if version.Compare(r.Version, release) <= 0 {
			out = r.Version
		}
	}
	return out
}

// Carrier is the release of Dynamo whose images have a release of an engine, the newest of several. Without one it is
// that with the next newer release of the engine, or the newest, which is also that of "", an engine of any release; its Carries
// says which. Post-releases of Dynamo had images for TensorRT-LLM alone.
func Carrier(name, release string) Release {
	var best Release
	for _, r := range Releases("dynamo") {
		had, has := best.Carries[name], r.Carries[name]
		switch {
		case release == "" && has != "" && !strings.Contains(r.Version, ".post"):
			best = r
		case release == "", has == "", has == had && strings.Contains(r.Version, ".post"):
		case had == "", version.Compare(had, release) < 0, version.Compare(has, release) >= 0 && version.Compare(has, had) <= 0:
			best = r
		}
	}
	return best
}

// Flags lists the flags of an engine's server, or of another list, with the releases that have each: once for each range
// of them. It is nil if there is no list. Callers share it and do not change it.
func Flags(list string) []Named { return flags()[list] }

var flags = sync.OnceValue(func() map[string][]Named { //nolint:gochecknoglobals // sorted once, never changed
	out := map[string][]Named{}
	for list, names := range releases().Names {
		for name, all := range names {
			if strings.Contains(name, "=") {
				continue
			}
			for _, r := range all {
				out[list] = append(out[list], Named{name, r})
			}
		}
		slices.SortFunc(out[list], func(a, b Named) int { return strings.Compare(a.Name, b.Name) })
	}
	return out
})

// Keys lists the keys of an engine's config file as paths, in the same way. A path that
// ends with ".*" accepts anything below it.
func Keys(name string) []Named { return Flags(name + keyList) }

// keyList ends the names of lists of keys.
const keyList = "-keys"

// Has reports whether a release ("" is the newest) has a flag or key of a list. What no release has, and what is in no
// list, counts as had: nothing is known of it.
func Has(list, name, release string) bool {
	all, known := releases().Names[list][name]
	return !known || slices.ContainsFunc(all, func(r Range) bool {
		return release == "" && r.Until == "" || release != "" && r.contains(release)
	})
}

// Spans are the releases that have a flag or key of a list, nil if none has.
func Spans(list, name string) []Range { return releases().Names[list][name] }
