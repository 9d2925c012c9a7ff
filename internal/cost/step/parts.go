package step

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// Part is a group of operators whose prices a calibration may scale together.
type Part uint8

// The parts of a step.
const (
	Products    Part = iota // matrix products outside experts
	Experts                 // grouped products
	Exchange                // collectives
	Elementwise             // everything else inside the layers
	Head                    // everything outside the layers
	Attention               // attention and recurrences
	Parts
)

// Times is a step's time by part.
type Times [Parts]units.Seconds

// add adds a share of other times.
func (t *Times) add(o *Times, share units.Seconds) {
	for p := range t {
		t[p] += share * o[p]
	}
}

// part is the group an operator belongs to.
func part(it *op.Item) Part {
	switch {
	case it.Op.Kind == op.Attention, it.Op.Kind == op.Latent, it.Op.Kind == op.Recurrent:
		return Attention
	case it.Run == 0:
		return Head
	}
	switch it.Op.Kind {
	case op.GEMM, op.LatentPrologue:
		return Products
	case op.GroupedGEMM:
		return Experts
	case op.Collective, op.Transfer:
		return Exchange
	case op.Elementwise, op.Attention, op.Latent, op.Recurrent:
	}
	return Elementwise
}
