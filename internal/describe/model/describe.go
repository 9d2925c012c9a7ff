package model

import (
	"fmt"
	"strings"
)

// String describes a layer in a line: "64/8 heads of 128, MLP 25600".
func (l Layer) String() string {
	var parts []string
	if s := l.Attention.String(); s != "" {
		parts = append(parts, s)
	}
	if s := l.FFN.String(); s != "" {
		parts = append(parts, s)
	}
	if l.Input > 0 {
		parts = append(parts, fmt.Sprintf("own input of %d", l.Input))
	}
	if l.Streams > 1 {
		parts = append(parts, fmt.Sprintf("%d residual streams", l.Streams))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// String describes a token mixer, "" where there is none.
func (a Attention) String() string {
	var s string
	switch a.Kind {
	case NoAttention:
		return ""
	case GQA, Cross:
		s = fmt.Sprintf("%d/%d heads of %d", a.Heads, a.KVHeads, a.HeadDim)
	case MLA:
		s = fmt.Sprintf("MLA %d heads of %d, latent %d+%d", a.Heads, a.HeadDim, a.KVRank, a.RopeDim)
	case GatedDelta, Mamba2, Mamba1, ShortConv:
		return a.Recurrent.describe(a.Kind)
	}
	if a.Kind == Cross {
		s += " on images"
	}
	switch {
	case a.Chunked:
		s += fmt.Sprintf(", chunks of %d", a.Window)
	case a.Window > 0:
		s += fmt.Sprintf(", window %d", a.Window)
	}
	if a.Compress > 1 {
		s += fmt.Sprintf(", %d:1 cache", a.Compress)
	}
	switch x := a.Indexer; {
	case x.TopK == 0:
	case x.Shared:
		s += fmt.Sprintf(", shared top %d", x.TopK)
	default:
		s += fmt.Sprintf(", indexer top %d", x.TopK)
	}
	if a.SharedKV {
		s += ", shared KV"
	}
	return s
}

// describe is the recurrence of a kind of mixer.
func (c *Recurrent) describe(k AttentionKind) string {
	switch k { //nolint:exhaustive // of the recurrent ones a convolution is left
	case GatedDelta:
		return fmt.Sprintf("gated delta %d/%d heads of %d", c.KeyHeads, c.ValueHeads, c.ValueDim)
	case Mamba2:
		return fmt.Sprintf("Mamba-2 %d heads of %d, state %d", c.ValueHeads, c.ValueDim, c.KeyDim)
	case Mamba1:
		return fmt.Sprintf("Mamba %d channels, state %d", c.channels(), c.KeyDim)
	}
	return fmt.Sprintf("convolution of %d", c.Conv)
}

// String describes a feed-forward part, "" where there is none.
func (f FFN) String() string {
	var s string
	switch f.Kind {
	case NoFFN:
		return ""
	case Dense:
		return fmt.Sprintf("MLP %d", f.Intermediate)
	case MoE:
		s = fmt.Sprintf("%d of %d experts of %d", f.TopK, f.Experts, f.ExpertIntermediate)
	}
	if f.SharedIntermediate > 0 {
		s += fmt.Sprintf(" + shared %d", f.SharedIntermediate)
	}
	if f.Intermediate > 0 {
		s += fmt.Sprintf(" + MLP %d", f.Intermediate)
	}
	if f.Latent > 0 {
		s += fmt.Sprintf(" in latent %d", f.Latent)
	}
	return s
}
