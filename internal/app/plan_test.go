package app

import (
	"testing"
	"time"

	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

func planRequest() PlanRequest {
	return PlanRequest{
		Model: "Qwen/Qwen3-32B", Systems: []string{"h200_sxm"}, Devices: 32, Workloads: []Workload{{Input: 3000, Output: 512}},
		Limits: workload.Limits{TTFT: 1000 * units.Millisecond, TPOT: 10 * units.Millisecond},
	}
}

func TestPlanTry(t *testing.T) {
	for _, nochanges := range []bool{true, false} {
		r := planRequest()
		r.NoChanges = nochanges
		at := time.Now()
		got, err := (&World{}).Plan(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(time.Since(at))
		for _, c := range got.Contenders {
			t.Logf("%s %s %s %v %.1f tok/s/gpu ttft %.0f tpot %.2f p95 %.0f %.2f chance %.2f %.2f cost %+v", c.Experiment.System, c.Option.Engine, c.Experiment.Mode, c.Meets, c.perDevice(), c.TTFT.Ms(), c.TPOT.Ms(), c.TTFT95.Ms(), c.TPOT95.Ms(), c.Chance, c.Chance95, c.Cost)
		}
		for _, c := range got.Changes {
			t.Logf("%s: %.2f %v %s", c.What, c.Ratio, c.WithinError, c.Failure)
		}
	}
}
