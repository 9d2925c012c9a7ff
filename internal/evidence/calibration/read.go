package calibration

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/basic/version"
)

// An overlay file has one line for each group, list of models and kind of residuals:
// so a fit's file stays short enough to read.

// Bounds of a file: the shipped one has 46 KiB.
const (
	largestFile = 8 << 20
	maxProblems = 20
)

// Read reads an overlay file. The name is for error messages.
func Read(data []byte, name string) (*Overlay, error) {
	r := reader{Problems: strictyaml.Problems{File: name, Most: maxProblems}, o: &Overlay{}}
	root := r.Document(data, strictyaml.Form{
		Holds: "calibration", Largest: largestFile, TooLarge: "larger than 8 MiB: not a calibration",
		Aliases: "anchors and aliases are not allowed", Mapping: true,
	})
	if root != nil {
		r.sections(root)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return r.o, nil
}

// reader collects an overlay and the problems of its file.
type reader struct {
	strictyaml.Problems

	o *Overlay
}

// sections reads the top-level keys.
func (r *reader) sections(root *yaml.Node) {
	field := func(key string, read func(at string, n *yaml.Node)) strictyaml.Field {
		return strictyaml.Field{Key: key, Read: read}
	}
	size := func(to *int) func(string, *yaml.Node) {
		return func(at string, n *yaml.Node) { r.Whole(at, n, strictyaml.Span{High: math.MaxInt32}, to) }
	}
	o := r.o
	r.Mapping("", root,
		field("source", func(_ string, n *yaml.Node) { o.Source = n.Value }),
		field("multipliers", func(_ string, n *yaml.Node) { o.Groups = entries(r, n, readLogs) }),
		field("unseen", func(_ string, n *yaml.Node) { o.Unseen = entries(r, n, readLogs) }),
		field("memory", func(_ string, n *yaml.Node) {
			if points := entries(r, n, readRemembered); len(points) > 0 {
				o.Memory = NewMemory(points)
			}
		}),
		field("cells", func(_ string, n *yaml.Node) { o.Cells = entries(r, n, readModels) }),
		field("families", func(_ string, n *yaml.Node) { o.Families = entries(r, n, readModels) }),
		field("releases", func(_ string, n *yaml.Node) { o.Releases = entries(r, n, readRelease) }),
		field("residuals", func(_ string, n *yaml.Node) { o.Residuals = entries(r, n, readResiduals) }),
		field("sources", func(_ string, n *yaml.Node) { o.Sources = entries(r, n, readModels) }),
		field("outside", func(_ string, n *yaml.Node) { o.Outside = entries(r, n, readOutside) }),
		field("reach", func(at string, n *yaml.Node) {
			r.Mapping(at, n, field("concurrency", size(&o.Reach.Concurrency)), field("input", size(&o.Reach.Input)), field("devices", size(&o.Reach.Devices)))
		}),
	)
}

// entries reads a section with a text for each name; nil for an empty one.
func entries[T any](r *reader, section *yaml.Node, read func(name, text string) (T, error)) map[string]T {
	if section.ShortTag() == "!!null" {
		return nil
	}
	out := map[string]T{}
	r.Keys("", section, func(_ string, key, value *yaml.Node) {
		v, err := read(key.Value, value.Value)
		if err != nil {
			r.Add(key.Line, key.Value, "%v", err)
		}
		out[key.Value] = v
	})
	return out
}

// readLogs reads the multipliers of a group: "products 1.1, first 0.95".
func readLogs(_, text string) (*Logs, error) {
	z := &Logs{}
	given := [Parameters]bool{}
	for item := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(strings.TrimSpace(item), " ")
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil {
			return nil, fmt.Errorf("want parameters and their multipliers, as in \"products 1.1, first 0.95\"; got %q", item)
		}
		i := slices.Index(names[:], name)
		switch {
		case i < 0 || Parts(i) != nil: // those are a memory's
			return nil, fmt.Errorf("unknown parameter %q; the parameters are %s", name, strings.Join(names[:kernels], ", "))
		case given[i]:
			return nil, fmt.Errorf("%s is given twice", name)
		case !(v > 0.01 && v < 100):
			return nil, fmt.Errorf("%s: a multiplier must be between 0.01 and 100, got %g", name, v)
		}
		z[i], given[i] = math.Log(v), true
	}
	return z, nil
}

// readModels reads the models of an engine on a system or generation, commas between them.
func readModels(_, text string) ([]string, error) {
	models := strings.Split(text, ",")
	for i := range models {
		if models[i] = strings.TrimSpace(models[i]); models[i] == "" {
			return nil, errors.New("want models with commas between them")
		}
	}
	return models, nil
}

// readRelease reads the newest release of an engine.
func readRelease(_, text string) (string, error) { return text, version.Check(text) }

// readResiduals reads those of a kind.
func readResiduals(kind, text string) (Residuals, error) {
	wide, _, _ := strings.Cut(kind, "/")
	if !slices.Contains(kinds(), wide) {
		return Residuals{}, fmt.Errorf("unknown kind; the kinds are %s (plimsoll calibrate writes them)", strings.Join(kinds(), ", "))
	}
	return parseResiduals(text)
}
