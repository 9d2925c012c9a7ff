package ops_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/ops/estimate"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/support"
)

// TestSupport: the errors of a row are those of a simulation on as many devices, and the
// fewest devices hold a worker while half of them do not.
func TestSupport(t *testing.T) {
	got, err := support.Run(t.Context(), new(session.Session), support.Request{Model: "Qwen/Qwen3-32B", Systems: []string{"h200_sxm", "l40s", "mi300x", "t4"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) != 4*len(support.Engines()) {
		t.Fatalf("%d rows", len(got.Rows))
	}
	for i := range got.Rows {
		s := &got.Rows[i]
		if (s.Why != "") != (s.Aggregated == nil) || (s.GPUs() == 0) != (s.Aggregated == nil) {
			t.Errorf("%+v", s)
		}
		if s.Aggregated == nil {
			if s.System != "t4" && s.Engine != "trtllm" {
				t.Errorf("%s under %s: %s", s.System, s.Engine, s.Why)
			}
			continue
		}
		q := estimate.Request{Experiment: experiment.Experiment{Mode: experiment.Aggregated, Model: s.Model, System: s.System, Input: 1024, Output: 16}}
		q.Experiment.Engine.Name = s.Engine
		q.Workers.Layout.TP, q.Workers.Batch = s.GPUs(), 32
		r, err := estimate.Run(t.Context(), new(session.Session), q)
		if err != nil {
			t.Errorf("%s under %s on %d: %v", s.System, s.Engine, s.GPUs(), err)
			continue
		}
		wide, sampled := &s.Aggregated.Expected, r.Expected.TTFT.High/s.Aggregated.Expected.TTFT.High // the run has a sampling error besides
		if r.Pools[0].KVPeak < 0.8 && (!strings.HasPrefix(r.Expected.Basis, wide.Basis) || r.Expected.Throughput.High < wide.Throughput.High || sampled < 1 || sampled > 1.01) || r.Tier != s.Tier {
			t.Errorf("%s under %s: %+v (%s), an estimate has %+v (%s)", s.System, s.Engine, s.Aggregated, s.Tier, r.Expected, r.Tier)
		}
		if q.Workers.Layout.TP = s.GPUs() / 2; s.GPUs() > 1 {
			if _, err := estimate.Run(t.Context(), new(session.Session), q); err == nil {
				t.Errorf("%s under %s: %d devices would do, got %d", s.System, s.Engine, s.GPUs()/2, s.GPUs())
			}
		}
	}
}

// TestSupportOfMeasured: without a model those of which deployments were measured.
func TestSupportOfMeasured(t *testing.T) {
	got, err := support.Run(t.Context(), new(session.Session), support.Request{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) < 20 {
		t.Errorf("%d rows", len(got.Rows))
	}
	for i := range got.Rows {
		s := &got.Rows[i]
		if s.Aggregated == nil || s.Disaggregated == nil || !s.Aggregated.Compared && !s.Disaggregated.Compared || s.Tier == device.Datasheet {
			t.Errorf("%+v", s)
		}
	}
	for want, r := range map[string]support.Request{
		"unknown device": {Systems: []string{"h20_sxn"}},
		"engine_version 1.0 needs a single engine": {Version: "1.0"},
		"nowhere/none":   {Model: "nowhere/none"},
		"unknown engine": {Engines: []string{"vlm"}},
	} {
		if _, err := support.Run(t.Context(), new(session.Session), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
