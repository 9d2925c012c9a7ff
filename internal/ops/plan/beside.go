package plan

import (
	"context"
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// beside adds the guide's figures of contenders on Ascend's devices, and says where systems are not compared like with like.
func (p *planning) beside(ctx context.Context, out *Response) error {
	var apart session.Unlike
	said := false
	for i := range out.Contenders {
		c := &out.Contenders[i]
		s, r, err := p.world.Resolved(&c.Run, &p.r.Sources)
		if err != nil {
			return err
		}
		apart.Add(c.System, s.Device, session.Found{Format: r.Generates().Spec.Quant.Dense.Name()})
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
	out.Notes = append(out.Notes, apart.Notes()...)
	return nil
}
