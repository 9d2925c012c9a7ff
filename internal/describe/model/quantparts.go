package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// quantizer decides part by part how a checkpoint is stored.
type quantizer struct {
	config *quantConfig
	model  *Model
	names  *modules
	plain  dtype.Scheme
	base   dtype.Scheme // of linear layers without a note of their own
	except patterns     // what is not in the base scheme
}

// apply fills the model's Quantization.
func (q *quantizer) apply() error {
	c, out := q.config, &q.model.Quant
	out.Method = cmp.Or(c.Method, "modelopt") // its older exports name no method
	mixed := strings.EqualFold(c.Algo, "MIXED_PRECISION")
	var err error
	if q.base, err = q.baseScheme(mixed); err != nil {
		return err
	}
	if !mixed { // there the list says what ModelOpt left in the base scheme
		if q.except, err = parsePatterns(c.excluded()); err != nil {
			return err
		}
	}
	for p, to := range []*dtype.Scheme{&out.Attention, &out.Dense, &out.Experts, &out.Shared} {
		if *to, err = q.scheme(part(p)); err != nil {
			return err
		}
	}
	return q.head(&out.Head)
}

func (q *quantizer) baseScheme(mixed bool) (dtype.Scheme, error) {
	c := q.config
	switch {
	case mixed && !strings.EqualFold(c.Method, "fp8"):
		return q.plain, nil
	case !mixed && c.Algo != "":
		return algoScheme(c.Algo, c.GroupSize, q.plain.Weight)
	case !mixed && len(c.Groups) > 0:
		return q.plain, nil // the groups' targets decide
	}
	return c.methodScheme(q.plain.Weight)
}

// scheme is the scheme of one part: what a note on it says, else the base unless
// the part is excluded.
func (q *quantizer) scheme(p part) (dtype.Scheme, error) {
	c, plain := q.config, q.plain.Weight
	if p == expertsPart && c.MoEAlgo != "" {
		return algoScheme(c.MoEAlgo, c.GroupSize, plain)
	}
	if a, ok := q.stated(p); ok {
		return algoScheme(a.Algo, a.Group, plain)
	}
	if strings.EqualFold(c.Method, "mxfp4") && p != expertsPart {
		return q.plain, nil // the method covers expert weights only
	}
	s := q.base
	if c.Algo == "" && len(c.Groups) > 0 {
		var err error
		if s, err = q.grouped(p); err != nil {
			return s, err
		}
	}
	share, ok := q.except.covered(q.model, q.names, p)
	word := "quantized"
	if share >= 0.5 {
		s, word = q.plain, "unquantized"
	}
	if ok && share > 0 && share < 1 {
		q.model.note(fmt.Sprintf("Only some matrices of the %s part are quantized; all are modelled as %s.", p, word))
	}
	return s, nil
}

// stated is the algorithm that ModelOpt's list of modules gives most often to a
// part.
func (q *quantizer) stated(p part) (quantizedPart, bool) {
	votes := map[quantizedPart]int{}
	for name, algo := range q.config.Layers {
		one := patterns{general: []pattern{parsePattern(name)}}
		layer := one.general[0].layer
		if layer < 0 || layer >= len(q.model.Layers) {
			continue
		}
		of := q.names.of(p, &q.model.Kinds[q.model.Layers[layer]])
		if slices.ContainsFunc(of, func(module string) bool { return one.match(layer, module) }) {
			votes[algo]++
		}
	}
	var best quantizedPart
	for _, a := range slices.SortedFunc(maps.Keys(votes), compareAlgos) {
		if votes[a] > votes[best] {
			best = a
		}
	}
	return best, len(votes) > 0
}

func compareAlgos(a, b quantizedPart) int {
	return cmp.Or(strings.Compare(a.Algo, b.Algo), cmp.Compare(a.Group, b.Group))
}

// grouped is the scheme of the compressed-tensors group whose targets cover a
// part.
func (q *quantizer) grouped(p part) (dtype.Scheme, error) {
	for _, name := range slices.Sorted(maps.Keys(q.config.Groups)) {
		g := q.config.Groups[name]
		if len(g.Targets) == 0 || slices.Contains(g.Targets, "Linear") {
			return g.scheme(q.plain.Weight)
		}
		targets, err := parsePatterns(g.Targets)
		if err != nil {
			return q.plain, err
		}
		if share, _ := targets.covered(q.model, q.names, p); share >= 0.5 {
			return g.scheme(q.plain.Weight)
		}
	}
	return q.plain, nil
}

// head is the scheme of the output head, which is quantized only where a note
// names it.
func (q *quantizer) head(to *dtype.Scheme) error {
	for _, name := range []string{"lm_head", "head", "language_model.lm_head"} {
		a, ok := q.config.Layers[name]
		if !ok {
			continue
		}
		s, err := algoScheme(a.Algo, a.Group, q.plain.Weight)
		if err != nil {
			return err
		}
		*to = s
	}
	return nil
}
