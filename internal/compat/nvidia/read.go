package nvidia

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
)

// Bounds of a file, far beyond any that makes sense.
const (
	maxProblems = 50
	maxName     = 100
)

// Read reads the experiments of a file, in the order its list "exps" has them, else in
// that of the file. Each may be of either generation. The name is for messages. The
// error joins all mistakes, one *[strictyaml.Problem] with its line each.
func Read(data []byte, name string) ([]experiment.Experiment, []string, error) {
	r := &reader{Problems: &strictyaml.Problems{File: name, Most: maxProblems}}
	root := r.Document(data, strictyaml.Form{
		Holds: "set of experiments", Kind: bound.Experiments, Mapping: true, // and aliases: the tool writes them where two roles have one list
	})
	if root == nil {
		return nil, nil, r.Err()
	}
	var out []experiment.Experiment
	for _, b := range r.selected(root) {
		out = append(out, r.experiment(b))
	}
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	return out, r.notes, nil
}

// reader reads a file.
type reader struct {
	*strictyaml.Problems

	notes []string
}

// named is the block of an experiment.
type named struct {
	name string
	line int
	node *yaml.Node
}

// selected are the blocks of the experiments to run.
func (r *reader) selected(root *yaml.Node) []named {
	var exps *yaml.Node
	blocks := map[string]named{}
	var order []string
	r.Keys("", root, func(_ string, key, value *yaml.Node) {
		if key.Value == "exps" {
			exps = value
			return
		}
		blocks[key.Value] = named{key.Value, key.Line, value}
		order = append(order, key.Value)
	})
	if mode, ok := blocks["serving_mode"]; ok && mode.node.Kind == yaml.ScalarNode {
		// a file of one experiment, which the tool saves without its name
		return []named{{mode.node.Value, root.Line, root}}
	}
	if exps != nil && !isNull(exps) {
		order = r.chosen(exps, blocks)
	}
	if len(order) == 0 && len(r.List) == 0 {
		r.Add(root.Line, "", "the file has no experiment")
	}
	out := make([]named, len(order))
	for i, name := range order {
		out[i] = blocks[name]
	}
	return out
}

// chosen are the names that "exps" lists.
func (r *reader) chosen(exps *yaml.Node, blocks map[string]named) []string {
	names := slices.Sorted(maps.Keys(blocks))
	var out []string
	for _, n := range r.items("exps", exps) {
		switch _, ok := blocks[n.Value]; {
		case n.Kind != yaml.ScalarNode || isNull(n):
			r.Add(n.Line, "exps", "must name experiments, got %s", r.KindOf(n))
		case !ok:
			r.Add(n.Line, "exps", "%s has no block in this file%s", strictyaml.Show(n.Value, ""), nearest.Hint(n.Value, names))
		case slices.Contains(out, n.Value):
			r.Add(n.Line, "exps", "%s appears twice", strictyaml.Show(n.Value, ""))
		default:
			out = append(out, n.Value)
		}
	}
	return out
}

// validName reports whether a name can be that of a directory, which results of an
// experiment get.
func validName(s string) bool {
	odd := func(c rune) bool { return !strconv.IsPrint(c) || strings.ContainsRune(`/\`, c) }
	return s != "" && s[0] != '.' && len(s) <= maxName && !strings.ContainsFunc(s, odd)
}

// experiment reads a block. The result is valid only without problems.
func (r *reader) experiment(n named) experiment.Experiment {
	if !validName(n.name) {
		r.Add(n.line, "", "experiment %s: a name becomes that of a directory: up to %d characters, none of them / or \\, and no . in front",
			strictyaml.Show(n.name, ""), maxName)
	}
	b := &blockReader{reader: r, at: strictyaml.Show(n.name, ""), line: n.line, given: map[string]*given{}}
	b.block = &block{name: n.name, yaml: true}
	before := len(r.List)
	b.keys(n.node)
	b.fill()
	f := &finisher{block: b.block, complain: b.complain, notes: r.notes}
	if len(r.List) > before {
		return experiment.Experiment{} // further messages would only follow from these mistakes
	}
	e := f.finish()
	r.notes = f.notes
	b.unused(f)
	r.notes = f.notes
	return e
}

// given is a value of an experiment.
type given struct {
	node  *yaml.Node
	at    string // its path, for messages
	key   string // as it is written
	level int    // a value of a higher level replaces one of a lower
	used  bool
}

// blockReader reads one experiment.
type blockReader struct {
	*reader
	*block

	at    string
	line  int
	given map[string]*given
	old   bool // a key that only the old generation has
	// replaced says that defaults do not count (mode: replace).
	replaced bool
	presets  precision
}

// Levels of values: those of the experiment, and those of its "config".
const (
	ofExperiment = iota
	ofConfig
)

// complain reports a mistake under the key it is about, else under the experiment.
func (b *blockReader) complain(key, format string, args ...any) {
	for _, k := range []string{key, "prefill_" + key} {
		if g := b.given[k]; g != nil {
			b.Add(g.node.Line, g.at, format, args...)
			return
		}
	}
	b.Add(b.line, strictyaml.Join(b.at, key), format, args...)
}

// put stores a value under its flat name. Null and empty text are ignored: the tool writes
// them for keys that are not set. Only the sizes of replicas may be null.
func (b *blockReader) put(flat string, g *given) {
	if empty := isNull(g.node) || g.node.Kind == yaml.ScalarNode && g.node.Value == ""; empty && flat != "num_gpu_per_replica" {
		return
	}
	switch first := b.given[flat]; {
	case first != nil && first.level == g.level && first.key != g.key:
		b.Add(g.node.Line, g.at, "says the same as %s on line %d", first.at, first.node.Line)
	case first != nil && first.level > g.level:
	case first != nil && (flat == "model_path" || flat == "serving_mode") && first.node.Value != g.node.Value:
		b.Add(g.node.Line, g.at, "is %s here and %s on line %d", strictyaml.Show(g.node.Value, ""),
			strictyaml.Show(first.node.Value, ""), first.node.Line)
	default:
		b.given[flat] = g
	}
}

// keys takes all keys of an experiment.
func (b *blockReader) keys(block *yaml.Node) {
	var config *yaml.Node
	known := experimentKeys()
	b.Keys(b.at, block, func(at string, key, value *yaml.Node) {
		b.old = b.old || slices.Contains(keys().Old, key.Value) || slices.Contains(sections(), key.Value)
		switch name := key.Value; {
		case name == "config":
			config = value
		case slices.Contains(sections(), name):
			b.section(at, name, value, ofExperiment)
		case !slices.Contains(known, name):
			b.Add(key.Line, at, "unknown key%s", nearest.Hint(name, known))
		default:
			b.put(flatName(name), &given{node: value, at: at, key: name})
		}
	})
	if config != nil && !isNull(config) {
		b.config(strictyaml.Join(b.at, "config"), config)
	}
}

// flatName is the flat name of a key of an experiment.
func flatName(key string) string {
	return cmp.Or(keys().Aliases[key], key)
}

// config takes the keys of the mapping that overrides everything else.
func (b *blockReader) config(path string, config *yaml.Node) {
	known := slices.Concat(keys().Config, sections())
	b.Keys(path, config, func(at string, key, value *yaml.Node) {
		switch name := key.Value; {
		case slices.Contains(sections(), name):
			b.section(at, name, value, ofConfig)
		case !slices.Contains(known, name):
			b.Add(key.Line, at, "unknown key%s", nearest.Hint(name, known))
		default:
			b.put(flatName(name), &given{node: value, at: at, key: name, level: ofConfig})
		}
	})
}

// section takes the keys of a section.
func (b *blockReader) section(path, name string, section *yaml.Node, level int) {
	if isNull(section) {
		return
	}
	flat := sectionKeys(name)
	b.Keys(path, section, func(at string, key, value *yaml.Node) {
		to, ok := flat[key.Value]
		if !ok {
			b.Add(key.Line, at, "unknown key%s", nearest.Hint(key.Value, slices.Sorted(maps.Keys(flat))))
			return
		}
		b.put(to, &given{node: value, at: at, key: name + "." + key.Value, level: level})
	})
}

// unused notes the keys that were taken and have no effect.
func (b *blockReader) unused(f *finisher) {
	var idleKeys []string
	for _, flat := range slices.Sorted(maps.Keys(b.given)) {
		g := b.given[flat]
		usual, ok := keys().Idle[flat]
		if !ok {
			usual, ok = keys().Spoken[flat]
		}
		said := !isNull(g.node) && (!ok || !sameValue(g.node, usual))
		if !g.used && said && flat != "is_moe" {
			idleKeys = append(idleKeys, g.key)
		}
	}
	if idleKeys != nil {
		f.own("accepted without effect: %s", strings.Join(idleKeys, ", "))
	}
}

// sameValue reports whether a scalar is the value that a text says.
func sameValue(n *yaml.Node, text string) bool {
	if n.Kind != yaml.ScalarNode {
		return false
	}
	x, err := strconv.ParseFloat(n.Value, 64)
	y, failed := strconv.ParseFloat(text, 64)
	return err == nil && failed == nil && x == y || n.Value == text
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }
