package prices

import (
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/cost/table"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

// trusted are the surfaces that price operators: those that bring predictions of deployments nearer to what was measured, or change
// little. Those of fp8 products include the quantization of inputs, which is an operator of its own in a graph. With those of latent
// attention, TPOT of DeepSeek's models was predicted 4 to 9 points worse, with those of prefill and decode attention no better
// on the whole and 4 points worse for Llama-3.1-8B on H200 (AIConfigurator's silicon sample, no fit).
//
// A name stands for a family (gemm.wide), or for all that begin with it (gemm, experts, comm). The families are
// gemm.FORMAT, prefill.FORMAT.CACHE, decode.CACHE, latent.prefill.FORMAT.CACHE, latent.decode.wide.CACHE, latent.absorb.FORMAT,
// latent.expand.FORMAT, experts.FORMAT, scan, update, comm.reduce, comm.gather, comm.scatter and comm.exchange; the formats wide
// (16 bits), fp8, block (FP8 scaled in blocks), fp4, int4, int8, mxfp4 and mxfp4-fp8.
//
//nolint:gochecknoglobals // a constant table
var trusted = []string{"experts", "gemm.wide", "gemm.block", "gemm.fp4", "comm", "scan", "update"}

// covers reports whether a name stands for a family.
func covers(name, family string) bool { return name == family || strings.HasPrefix(family, name+".") }

// surfacesOf are the surfaces that price a device, nil for none: its own, or those of
// the most similar system of its generation.
func surfacesOf(d *device.Profile) *table.Fitted {
	var best *table.Fitted
	nearest := math.Inf(1)
	for _, f := range table.Shipped().Systems {
		if f.Generation != d.Generation {
			continue
		}
		if far := apart(d, &f.Measured); far < nearest {
			best, nearest = f, far
		}
	}
	return best
}

// apart is how much the peaks of a device and of a measured system differ, in
// logarithms; less than nothing for the system itself, or a user's variant of it.
func apart(d *device.Profile, m *table.Measured) float64 {
	if own(d, m) {
		return -1
	}
	of := table.MeasuredOn(d)
	return math.Abs(math.Log(of.Bandwidth/m.Bandwidth)) + math.Abs(math.Log(of.Peak/m.Peak))
}

// own reports whether a system is the device itself, or what a user's profile of it
// started from.
func own(d *device.Profile, m *table.Measured) bool { return d.Name == m.System || d.Base == m.System }

// trusts reports whether the surfaces of a system price a family on a device. Those of
// collectives go with the links they were measured on.
func trusts(f *table.Fitted, d *device.Profile, family string) bool {
	if !slices.ContainsFunc(trusted, func(name string) bool { return covers(name, family) }) {
		return false
	}
	const near = 0.05
	return !strings.HasPrefix(family, "comm.") || math.Abs(math.Log(table.MeasuredOn(d).Link/f.Link)) < near
}
