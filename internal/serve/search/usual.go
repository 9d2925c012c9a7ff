package search

import (
	"cmp"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// Usual keeps the layouts that a model is usually cut by, in the order of their size: tensor
// parallelism for dense models; experts are spread over all devices where attention is
// latent, whose cache tensor parallelism would copy, and cut elsewhere.
func Usual(all []parallel.Layout, m *model.Model) []parallel.Layout {
	latent := slices.ContainsFunc(m.Kinds, func(l model.Layer) bool { return l.Attention.Kind == model.MLA })
	all = slices.DeleteFunc(all, func(l parallel.Layout) bool {
		switch {
		case !m.HasExperts():
			return l.DP > 1
		case latent:
			return l.TP > 1 || l.EP < l.Devices
		}
		return l.DP > 1 || l.EP > 1
	})
	slices.SortStableFunc(all, func(a, b parallel.Layout) int { return cmp.Compare(a.Devices, b.Devices) })
	return all
}
