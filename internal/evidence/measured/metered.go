package measured

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
)

// Metered is a row with a measured energy and what its devices did, as simulated.
type Metered struct {
	Row    *Row
	Device *device.Profile
	// Kind names the kernels that decide the power.
	Kind string
	// Used is what the devices of each pool did, OutputRate the tokens per second.
	Used       []replica.Used
	OutputRate float64
}

// Watts is the measured mean power of a device.
func (m *Metered) Watts() float64 { return m.Row.Joules * m.Row.outputPerGPU() }

// Pace is measured over predicted throughput: how much faster the devices really did
// what they did.
func (m *Metered) Pace() float64 {
	return m.Row.outputPerGPU() * float64(m.devices()) / m.OutputRate
}

// devices is how many the simulation has.
func (m *Metered) devices() int {
	n := 0
	for i := range m.Used {
		n += m.Used[i].Devices
	}
	return n
}

// outputPerGPU is measured output tokens per second and device.
func (r *Row) outputPerGPU() float64 {
	return r.PerGPU * float64(r.Output) / float64(r.Input+r.Output)
}

// unfitPower are the marks of rows whose power or throughput is wrong. That of others,
// such as medians over several versions of an engine, is as good as any.
func unfitPower() []string {
	return []string{"power-implausible", "tput-tpot-mismatch", "noisy", "queue-or-cold"}
}

// Meter simulates the rows that have an energy and a throughput, without marks that
// make them unfit, on devices whose power is known.
func (p *Predictor) Meter(ctx context.Context, rows []Row, workers int) ([]Metered, error) {
	var fit []*Row
	for i := range rows {
		r := &rows[i]
		unfit := func(mark string) bool { return strings.Contains(r.Quality, mark) }
		if r.Joules > 0 && r.PerGPU > 0 && !slices.ContainsFunc(unfitPower(), unfit) {
			fit = append(fit, r)
		}
	}
	all := make([]Metered, len(fit))
	err := pool.Each(ctx, len(fit), workers, func(i int) {
		q := p.Prepare(fit[i])
		if q.Err != nil {
			return
		}
		if o, err := q.run(ctx, p.multipliers(&q), true); err == nil && o.energy.Devices > 0 {
			all[i] = Metered{fit[i], q.deployment.Device, q.Subject.PowerKind(), o.used, o.outputRate}
		}
	})
	return slices.DeleteFunc(all, func(m Metered) bool { return m.Row == nil }), cmp.Or(err, ctx.Err()) // a simulation may have ended early
}
