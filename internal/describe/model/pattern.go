package model

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// pattern is one entry of an exclusion list: which layers it covers, and
// which of their modules.
type pattern struct {
	layer int // -1: all
	rest  string
	re    *regexp.Regexp
}

// nowhere matches no module.
const nowhere = "\x00"

// parsePattern takes a module name, a name with stars, or "re:" and a regular
// expression. Names of MTP modules or an image tower, whose layers
// have numbers of their own, and regular expressions that Go cannot read match
// nothing.
func parsePattern(s string) pattern {
	if expr, ok := strings.CutPrefix(s, "re:"); ok {
		re, err := regexp.Compile(expr)
		if err != nil {
			return pattern{layer: -1, rest: nowhere}
		}
		return pattern{layer: -1, re: re}
	}
	for _, other := range []string{"mtp", "model.mtp", "visual", "model.visual", "vision", "model.vision", "audio", "model.audio"} {
		if strings.HasPrefix(s, other) {
			return pattern{layer: -1, rest: nowhere}
		}
	}
	_, after, ok := strings.Cut(s, "layers.")
	if !ok {
		return pattern{layer: -1, rest: s}
	}
	digits := len(after) - len(strings.TrimLeft(after, "0123456789"))
	n, err := strconv.Atoi(after[:digits])
	if err != nil { // "layers.*.self_attn"
		if rest, ok := strings.CutPrefix(after, "*."); ok {
			return pattern{layer: -1, rest: rest}
		}
		return pattern{layer: -1, rest: s}
	}
	return pattern{layer: n, rest: strings.TrimPrefix(after[digits:], ".")}
}

// matches reports whether the pattern covers a module of a layer.
func (p pattern) matches(layer int, module string) bool {
	if p.layer >= 0 && p.layer != layer {
		return false
	}
	if p.re != nil {
		return p.re.MatchString("model.layers." + strconv.Itoa(layer) + "." + module)
	}
	if p.rest == "" {
		return p.layer >= 0
	}
	if strings.Contains(p.rest, "*") {
		return glob(p.rest, module) || glob(p.rest, "."+module)
	}
	// A plain name covers the module itself and everything inside it, wherever
	// it stands in the path.
	return strings.Contains("."+module+".", "."+p.rest+".")
}

// glob matches s against a pattern in which each star stands for any text: names of
// modules have no slash.
func glob(p, s string) bool {
	ok, err := path.Match(p, s)
	return ok && err == nil
}

// Bounds of an exclusion list: the longest published have some 700 entries, a
// handful of them regular expressions.
const (
	maxPatterns    = 1 << 16
	maxExpressions = 1 << 8
)

// patterns is an exclusion list sorted by layer.
type patterns struct {
	byLayer map[int][]pattern
	general []pattern // of all layers
	// expressions counts the regular ones, which see a layer's number.
	expressions int
}

func parsePatterns(list []string) (patterns, error) {
	p := patterns{byLayer: map[int][]pattern{}}
	if len(list) > maxPatterns {
		return p, errors.New("quantization: too many excluded modules")
	}
	for _, s := range list {
		switch x := parsePattern(s); {
		case x.re != nil:
			if p.expressions++; p.expressions > maxExpressions {
				return p, errors.New("quantization: too many regular expressions")
			}
			p.general = append(p.general, x)
		case x.layer >= 0:
			p.byLayer[x.layer] = append(p.byLayer[x.layer], x)
		default:
			p.general = append(p.general, x)
		}
	}
	return p, nil
}

// match reports whether any pattern covers a module, tried also under the
// singular form of "shared_experts", which Qwen uses.
func (p *patterns) match(layer int, module string) bool {
	covers := func(x pattern) bool {
		return x.matches(layer, module) ||
			x.matches(layer, strings.Replace(module, "shared_experts", "shared_expert", 1))
	}
	return slices.ContainsFunc(p.byLayer[layer], covers) || slices.ContainsFunc(p.general, covers)
}

// covered is the share of a part's matrices, over all layers, that the patterns
// name; ok is false when the model has no such part.
func (p *patterns) covered(m *Model, names *modules, of part) (share float64, ok bool) {
	all, hit := 0, 0
	count := func(layer, kind, times int) {
		for _, module := range names.of(of, &m.Kinds[kind]) {
			all += times
			if p.match(layer, module) {
				hit += times
			}
		}
	}
	if len(p.byLayer) == 0 && p.expressions == 0 { // all layers of a kind have the same result
		for kind, times := range m.Counts() {
			count(0, kind, times)
		}
	} else {
		for layer, kind := range m.Layers {
			count(layer, kind, 1)
		}
	}
	return float64(hit) / max(float64(all), 1), all > 0
}
