package graph

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// Routed is how a rank's tokens meet the experts in one step.
type Routed struct {
	Rows     float64 // tokens this rank routes
	Pairs    float64 // token-expert pairs it sends
	Mine     float64 // of those, for its own experts
	Received float64 // pairs its experts receive from the whole group
	Active   float64 // its experts with any row
	Narrow   bool    // rows arrive in the experts' format
	Deal     op.Deal // if they were chosen at random
}

// Mixture is the feed-forward part of layers with experts.
type Mixture struct{ *Walk }

// emit is the whole of a mixture of experts, from the norm's output to the hidden states
// before the residual sum.
func (w Mixture) emit(k *Kind) {
	switch {
	case w.g.spec.addsUp():
		w.addedExperts(k)
		return
	case w.rewrites(AtMoE, k):
		return
	}
	m := w.Meet()
	w.AllGather(m.Gather, w.Tokens, w.Hidden)
	if k.Layer.FFN.Router.WideScores() && m.Slice.Size > 1 {
		w.router(k, w.Tokens, m.Rows) // before the tokens are divided
	} else {
		w.router(k, m.Rows, m.Rows)
	}
	if !w.g.spec.SharedExpertTP {
		w.SharedExperts(k, min(m.Rows, w.Tokens)) // a rank's own tokens, not those it fetched
	}
	w.Branch = 2
	w.routedExperts(k, m.Rows)
	w.AllGather(m.Slice, m.Rows, w.Hidden)
	w.Branch = 0
	if w.g.spec.SharedExpertTP {
		w.SharedExperts(k, w.Tokens)
	}
}

// addedExperts emits a mixture whose ranks hold the same tokens: each runs its
// experts, or slices of them, on the tokens that chose them and adds up their
// results and its part of the shared experts'; then the parts are summed.
func (w Mixture) addedExperts(k *Kind) {
	f, e := &k.Layer.FFN, w.Width()
	w.router(k, w.Tokens, w.Tokens)
	fused := w.g.spec.fusesShared(f)
	if !fused {
		w.SharedExperts(k, w.Tokens)
	}
	w.Branch = 2
	h := k.Experts.Hidden
	if f.Latent > 0 {
		w.Linear(dtype.Unquantized(w.Base), w.Tokens, w.Hidden, h, 1)
	}
	r := w.Dealt(k, w.Tokens, 1)
	if fused { // every token chooses it too
		r.Received, r.Active = r.Received+w.Tokens, r.Active+1
	}
	w.Elementwise(op.InitRouting, e*(r.Rows+r.Received)*h+IndexBytes*r.Received)
	if w.g.spec.Compile {
		w.GroupedExperts(k, &r)
	} else {
		w.separateExperts(k, &r)
	}
	w.Elementwise(op.Unpermute, e*(r.Received+r.Rows)*h+(e+IndexBytes)*r.Received)
	if f.Latent > 0 {
		w.Linear(dtype.Unquantized(w.Base), w.Tokens, h, w.Hidden, 1)
	}
	w.AllReduce(w.g.spec.Layout.TPGroup(), w.Tokens, w.Hidden)
	w.Branch = 0
}

// fusesShared reports whether the shared expert is computed among the others, which must be alike and on every rank.
func (s *Spec) fusesShared(f *model.FFN) bool {
	return s.FusesShared && s.Compile && s.Layout.EP == 1 && f.SharedIntermediate == f.ExpertIntermediate && !f.SharedGate && f.Latent == 0 &&
		s.Quant.Shared == s.Quant.Experts
}

// Dealt lets rows tokens of each of a number of ranks choose experts at random: this
// is the rank whose experts are chosen most.
func (w Mixture) Dealt(k *Kind, rows, ranks float64) Routed {
	r := Routed{Rows: rows, Pairs: rows * float64(k.Layer.FFN.TopK), Deal: k.Experts.deal}
	r.Mine = k.Experts.dealt.Even(rows)
	r.Received, r.Active = k.Experts.dealt.Busiest(w.g.spec.replays(rows) * ranks)
	return r
}

// replays is the rows that a step of so many tokens runs: those of the smallest captured graph that has them, of 1, 2, 4, a
// multiple of 8, or above 256 of 16 (vLLM, config/vllm.py, _set_cudagraph_sizes).
func (s *Spec) replays(tokens float64) float64 {
	size := 8.0
	switch {
	case tokens > float64(s.Replayed):
		return tokens
	case tokens <= 2:
		size = 1
	case tokens <= 4:
		size = 4
	case tokens > 256:
		size = 16
	}
	return min(math.Ceil(tokens/size)*size, float64(s.Replayed))
}

// routedExperts emits dispatch, the experts and the combination.
func (w Mixture) routedExperts(k *Kind, rows float64) {
	l, e := &w.g.spec.Layout, w.Width()
	f, h := &k.Layer.FFN, k.Experts.Hidden
	if f.Latent > 0 {
		w.Linear(dtype.Unquantized(w.Base), rows, w.Hidden, h, 1)
	}
	r := w.Dealt(k, rows, float64(l.EP))
	if w.g.spec.FusesDispatch() {
		w.DispatchCombine(k, &r, float64(w.DispatchFormat().Bytes(w.Visits(k, &r)*h)), r.Active)
	} else {
		w.Elementwise(op.InitRouting, e*(r.Rows+r.Pairs)*h+IndexBytes*r.Pairs)
		back := w.Dispatch(k, &r)
		w.experts(k, &r)
		w.Collective(op.AllToAll, op.Exchange, l.EPGroup(), back.Payload, back.Traffic)
	}
	w.Combine(k, &r)
	if f.Latent > 0 {
		w.Linear(dtype.Unquantized(w.Base), rows, h, w.Hidden, 1)
	}
}

// Combine emits the weighted sum of each token's expert outputs.
func (w Mixture) Combine(k *Kind, r *Routed) {
	e := w.Width()
	w.Elementwise(op.Unpermute, e*(r.Pairs+r.Rows)*k.Experts.Hidden+(e+IndexBytes)*r.Pairs)
}

// Visits is how often tokens go to another rank, each at most once to every one: a
// rank is passed by when none of a token's experts is there.
func (w Mixture) Visits(k *Kind, r *Routed) float64 {
	f := &k.Layer.FFN
	there := -math.Expm1(float64(f.TopK) * math.Log1p(-k.Experts.Local/float64(f.Experts)))
	return r.Rows * float64(w.g.spec.Layout.EP-1) * there
}

// SharedExperts emits the experts every token visits.
func (w Mixture) SharedExperts(k *Kind, rows float64) {
	if k.Experts.shared == 0 {
		return
	}
	s, f := w.g.spec.Quant.Shared, &k.Layer.FFN
	w.Branch = 1
	w.Quantize(s, rows, w.Hidden)
	if !w.g.spec.Compile && !f.Ungated {
		w.Quantize(s, rows, w.Hidden)
	}
	product := len(w.Items)
	w.MLP(s, rows, w.Hidden, k.Experts.shared, f)
	if f.SharedGate && !(w.offers(AtSharedGate) && w.rewrite(Part{Place: AtSharedGate, Rows: rows, First: int32(product)})) {
		w.Linear(dtype.Unquantized(w.Base), rows, w.Hidden, 1, 1) // engines leave it unquantized
		w.Elementwise(op.Mul, w.Width()*(2*rows*w.Hidden+rows))
	}
	if k.Experts.shared < float64(f.SharedIntermediate) && !w.g.spec.addsUp() {
		w.AllReduce(w.g.spec.Layout.TPGroup(), rows, w.Hidden)
	}
	if !(w.offers(AtSharedSum) && w.rewrite(Part{Place: AtSharedSum, FFN: f, Rows: rows})) {
		w.Add(rows, w.Hidden)
	}
	w.Branch = 0
}
