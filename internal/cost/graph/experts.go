package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// experts emits the products of the local experts, grouped when compiled. Slices of
// experts are summed for the pairs that go back to other ranks, or for combined tokens
// where none does.
func (w Mixture) experts(k *Kind, r *Routed) {
	spec, h := &w.g.spec, k.Experts.Hidden
	if !spec.Compile {
		if spec.Layout.EP > 1 {
			// Each expert's rows from all ranks, then those of all experts.
			n := w.Count
			w.Count = n * r.Active
			w.Cat(r.Received / r.Active * h)
			w.Count = n
			w.Cat(r.Received * h)
		}
		w.separateExperts(k, r)
		return
	}
	w.GroupedExperts(k, r)
	summed := r.Rows
	if spec.Layout.EP > 1 {
		summed = r.Received
	}
	w.AllReduce(spec.ExpertTP(), summed, h)
}

// GroupedExperts emits both products of all active experts as two kernels.
func (w Mixture) GroupedExperts(k *Kind, r *Routed) {
	s, h := w.g.spec.Quant.Experts, k.Experts.Hidden
	inter := k.Experts.Inner
	if !r.Narrow {
		w.Quantize(s, r.Received, h)
	}
	up := 2 * inter
	if k.Layer.FFN.Ungated {
		up = inter
	}
	w.groupedProduct(s, r.Received, r.Active, h, up, inter).Deal = r.Deal
	if !w.rewrites(AtExpertsBetween, nil) {
		w.Quantize(s, r.Received, inter)
	}
	w.groupedProduct(s, r.Received, r.Active, inter, h, 0).Deal = r.Deal
}

// Widens reports whether kernels of experts in a format widen the weights of a tile before they multiply.
func (s *Spec) Widens(experts dtype.Scheme) bool {
	return s.WidensExperts && experts.MXFP4() && experts.WeightOnly()
}

// separateExperts emits the active experts one after another.
func (w Mixture) separateExperts(k *Kind, r *Routed) {
	outer := w.Count
	w.Count = outer * r.Active
	w.OneExpert(k, r.Received/r.Active)
	w.Count = outer
}

// OneExpert emits an expert of rows tokens, and the sum over its slices unless all parts
// are summed at once in the end.
func (w Mixture) OneExpert(k *Kind, rows float64) {
	s, h, f := w.g.spec.Quant.Experts, k.Experts.Hidden, &k.Layer.FFN
	w.Quantize(s, rows, h)
	if !w.g.spec.Compile && !f.Ungated {
		w.Quantize(s, rows, h)
	}
	w.MLP(s, rows, h, k.Experts.Inner, f)
	if !w.g.spec.addsUp() {
		w.reduceProduct(w.g.spec.ExpertTP(), rows, h)
	}
}
