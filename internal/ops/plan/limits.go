package plan

import (
	"errors"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// Usual is the limits that a plan takes where none are given: those usual for the uses of its workloads.
type Usual struct {
	Uses []string // presets
	workload.Usual
}

// plainUse is the use of workloads without a preset.
const plainUse = "chat"

// Usual is the limits that are usual for the workloads, nil where limits are given or not wanted. Workloads share a
// deployment and their requests are judged together: the tightest limit of each kind counts.
func (r *Request) Usual() *Usual {
	if r.NoLimits || r.Limits.Any() || len(r.Workloads) == 0 {
		return nil
	}
	out := &Usual{}
	var sources []string
	for i := range r.Workloads {
		name := r.Workloads[i].Preset
		if name == "" {
			name = plainUse
		}
		p, ok := workload.LookupPreset(name)
		if !ok || slices.Contains(out.Uses, name) {
			continue // an unknown one is reported with the workloads
		}
		out.Uses = append(out.Uses, name)
		sources = append(sources, p.Usual.Source)
		tighter(&out.Limits.TTFT, p.Usual.Limits.TTFT)
		tighter(&out.Limits.TPOT, p.Usual.Limits.TPOT)
		tighter(&out.Limits.Latency, p.Usual.Limits.Latency)
	}
	out.Source = strings.Join(sources, "; ")
	return out
}

// tighter lowers a limit to another one; zero is no limit.
func tighter(limit *units.Seconds, other units.Seconds) {
	if other > 0 && (*limit == 0 || other < *limit) {
		*limit = other
	}
}

// completeLimits takes the usual limits where none are given, and reports wrong ones.
func (r *Request) completeLimits() error {
	if r.NoLimits && r.Limits.Any() {
		return field.Errorf("%s excludes %s, %s and %s", field.Name("no_limits"), field.Name("ttft"), field.Name("tpot"), field.Name("request_latency"))
	}
	if u := r.Usual(); u != nil {
		r.Limits = u.Limits
	}
	return errors.Join(session.CheckLimits(r.Limits), r.CheckStatistic(r.Limits))
}
