package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// Actions are a user's wishes for number formats. The zero value keeps the
// checkpoint's own.
type Actions struct {
	Linear    dtype.Action // every linear layer under the decoder
	NonExpert dtype.Action // overrides attention, dense and shared-expert layers
	Attention dtype.Action // the cache and the attention kernel
	// MXFP4Group is the number of elements that share an MXFP4 scale.
	MXFP4Group int
}

// DefaultMXFP4Group is the block length of the OCP microscaling formats.
const DefaultMXFP4Group = 32

// Resolve finds the format of every part of a model.
func Resolve(m *model.Model, p Policy, a Actions) Quant {
	q := Quant{Base: m.DType}
	if p.HalfPrecision || q.Base == dtype.None {
		q.Base = dtype.F16
	}
	group := a.MXFP4Group
	if group == 0 {
		group = DefaultMXFP4Group
	}
	own := &m.Quant
	switch a.Linear {
	case dtype.Auto, "":
		q.Attention, q.Dense = rebase(own.Attention, q.Base), rebase(own.Dense, q.Base)
		q.Experts, q.Shared = rebase(own.Experts, q.Base), rebase(own.Shared, q.Base)
		q.Head = rebase(own.Head, q.Base)
	default:
		s := a.Linear.Scheme(q.Base, group)
		q.Attention, q.Dense, q.Experts, q.Shared = s, s, s, s
		q.Head = dtype.Unquantized(q.Base)
	}
	switch a.NonExpert {
	case "", dtype.Disabled: // as every linear layer
	case dtype.Auto:
		q.Attention, q.Dense = rebase(own.Attention, q.Base), rebase(own.Dense, q.Base)
		q.Shared = rebase(own.Shared, q.Base)
	default:
		s := a.NonExpert.Scheme(q.Base, group)
		q.Attention, q.Dense, q.Shared = s, s, s
	}
	q.KV, q.AttentionIn = q.Base, q.Base
	switch a.Attention {
	case dtype.AttentionInt8:
		q.KV, q.AttentionIn = dtype.INT8, dtype.INT8
	case dtype.AttentionFP8:
		q.KV, q.AttentionIn = dtype.FP8, dtype.FP8
	case dtype.Auto, "":
		if own.KV >= dtype.FP8 {
			q.KV = own.KV // stored narrow, widened in the kernel
		}
	default: // Disabled
	}
	return q
}

// rebase replaces the wide formats of a checkpoint's scheme by the base.
func rebase(s dtype.Scheme, base dtype.Format) dtype.Scheme {
	if s.Weight < dtype.FP8 {
		s.Weight = base
	}
	if s.Activation < dtype.FP8 {
		s.Activation = base
	}
	return s
}

// Rebase returns q with every unquantized part in another format.
func (q Quant) Rebase(base dtype.Format) Quant {
	for _, s := range []*dtype.Scheme{&q.Attention, &q.Dense, &q.Experts, &q.Shared, &q.Head} {
		*s = rebase(*s, base)
	}
	for _, f := range []*dtype.Format{&q.Base, &q.KV, &q.AttentionIn} {
		if *f < dtype.FP8 {
			*f = base
		}
	}
	return q
}
