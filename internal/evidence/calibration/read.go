package calibration

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/basic/version"
)

// An overlay file has one line for each group, list of models and kind of residuals:
// so a fit's file stays short enough to read.

// maxProblems bounds the report.
const maxProblems = 20

// Read reads an overlay file. The name is for error messages.
func Read(data []byte, name string) (*Overlay, error) {
	r := reader{Problems: strictyaml.Problems{File: name, Most: maxProblems}, o: &Overlay{}}
	root := r.Document(data, strictyaml.Form{
		Holds: "calibration", Kind: bound.Calibration, Aliases: "anchors and aliases are not allowed", Mapping: true,
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
	size := func(key string, to *int) strictyaml.Field {
		return strictyaml.Field{Key: key, Read: func(at string, n *yaml.Node) { r.Whole(at, n, strictyaml.Span{High: math.MaxInt32}, to) }}
	}
	o, points := r.o, map[string]Remembered(nil)
	all := []strictyaml.Field{{Key: "source", Read: func(_ string, n *yaml.Node) { o.Source = n.Value }}}
	for _, s := range o.sections(&points) {
		all = append(all, strictyaml.Field{Key: s.key, Read: func(_ string, n *yaml.Node) { s.read(r, n) }})
	}
	all = append(all, strictyaml.Field{Key: "reach", Read: func(at string, n *yaml.Node) {
		r.Mapping(at, n, size("concurrency", &o.Reach.Concurrency), size("input", &o.Reach.Input), size("devices", &o.Reach.Devices))
	}})
	if r.Mapping("", root, all...); len(points) > 0 {
		o.Memory = NewMemory(points)
	}
}

// section is a part of the file with a text for each name.
type section struct {
	key   string
	read  func(r *reader, n *yaml.Node)
	lines func() map[string]string
}

// sections are those of an overlay in the order of the file. What is remembered has a form of its own there.
func (o *Overlay) sections(remembered *map[string]Remembered) []section {
	return []section{
		sectionOf("multipliers", &o.Groups, readLogs, (*Logs).text),
		sectionOf("unseen", &o.Unseen, readLogs, (*Logs).text),
		sectionOf("memory", remembered, readRemembered, Remembered.text),
		sectionOf("cells", &o.Cells, readModels, modelsText),
		sectionOf("families", &o.Families, readModels, modelsText),
		sectionOf("releases", &o.Releases, readRelease, func(release string) string { return release }),
		sectionOf("residuals", &o.Residuals, readResiduals, Residuals.text),
		sectionOf("sources", &o.Sources, readModels, modelsText),
		sectionOf("outside", &o.Outside, readOutside, Outside.Text),
	}
}

// sectionOf is a section that a map holds; nil for an empty one. Lines without a text are left out.
func sectionOf[M ~map[string]T, T any](key string, of *M, read func(name, text string) (T, error), text func(T) string) section {
	return section{key, func(r *reader, n *yaml.Node) {
		if n.ShortTag() == "!!null" {
			return
		}
		*of = M{}
		r.Keys("", n, func(_ string, key, value *yaml.Node) {
			v, err := read(key.Value, value.Value)
			if err != nil {
				r.Add(key.Line, key.Value, "%v", err)
			}
			(*of)[key.Value] = v
		})
	}, func() map[string]string {
		out := map[string]string{}
		for name, v := range *of {
			if line := text(v); line != "" {
				out[name] = line
			}
		}
		return out
	}}
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

// modelsText inverts readModels.
func modelsText(models []string) string { return strings.Join(models, ", ") }

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
