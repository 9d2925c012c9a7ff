package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// beside adds the guide's figures of contenders on Ascend's devices, and says where systems are not compared like with like.
func (p *planning) beside(ctx context.Context, out *Response) error {
	var apart unlike
	said := false
	for i := range out.Contenders {
		c := &out.Contenders[i]
		s, r, err := p.world.Resolved(&c.Run, &p.r.Sources)
		if err != nil {
			return err
		}
		apart.add(c.System, r.Generates().Spec.Quant.Dense.Name(), s.Device)
		e, carrying := &c.Found.Experiment, some(&c.Found.Option, c.Found.Copies-c.Spare)
		c.Guide = simulate.GuideOf(ctx, s, &carrying, e.Input, e.Output, float64(c.Concurrency))
		if i == 0 && s.Device.Vendor == device.Ascend && c.Run.Disaggregated() {
			out.Notes = append(out.Notes, "Ascend's guide has no formula for #1: it does not cover a load on separate prefill and decode workers")
		}
		if c.Guide != nil && !said {
			said = true
			out.Notes = append(out.Notes, fmt.Sprintf("for #%d the formulas of Ascend's guide (throughput-optimizer) give %s tokens/s per GPU, TTFT %s ms and TPOT %s ms at the same load; the figures of this plan are simulated with times of measured kernels",
				i+1, units.Figure(c.Guide.Throughput/float64(c.GPUsGiven)), units.Figure(c.Guide.TTFT), units.Figure(c.Guide.TPOT)))
		}
	}
	out.Notes = append(out.Notes, apart.notes()...)
	return nil
}

// unlike is what differs between the systems of a plan beside the hardware.
type unlike struct {
	systems, formats []string
	dies             string // a system that counts dies
	vendors          []device.Vendor
}

// add notes the format that a system computes dense layers in; the first contender of a system speaks for it.
func (u *unlike) add(system, format string, d *device.Profile) {
	if slices.Contains(u.systems, system) {
		return
	}
	u.systems, u.formats = append(u.systems, system), append(u.formats, format)
	if !slices.Contains(u.vendors, d.Vendor) {
		u.vendors = append(u.vendors, d.Vendor)
	}
	if d.Generation == "ascend-a3" || d.Generation == "cdna2" { // two dies make a package (docs/devices.md)
		u.dies = cmp.Or(u.dies, system)
	}
}

// notes say what differs; none where all is alike.
func (u *unlike) notes() []string {
	var out []string
	var each []string
	for i, format := range u.formats {
		each = append(each, u.systems[i]+" computes in "+format)
	}
	if len(slices.Compact(slices.Sorted(slices.Values(u.formats)))) > 1 {
		out = append(out, "formats differ between the systems: "+strings.Join(each, ", ")+
			"; --quantize-linear-action sets one for all (DISABLED: 16 bits)")
	}
	if len(u.vendors) > 1 && u.dies != "" {
		out = append(out, "a GPU of "+u.dies+" is a die, half of a package")
	}
	return out
}
