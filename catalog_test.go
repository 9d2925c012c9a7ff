package plimsoll_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll"
)

// TestCatalog: every name that is listed can be used, each engine where it runs, and only there.
func TestCatalog(t *testing.T) {
	t.Parallel()
	planner := &plimsoll.Planner{}
	one := func(d plimsoll.Deployment) plimsoll.PredictRequest {
		d.Model = "Qwen/Qwen3-0.6B"
		return plimsoll.PredictRequest{Deployment: d, Concurrency: 1, Requests: 1, Input: 8, Output: 2}
	}
	for _, e := range plimsoll.Engines() {
		ran := 0
		for _, system := range []string{"h200_sxm", "mi300x", "ATLAS_800_A3_752T_128G_DIE"} {
			_, err := planner.Predict(t.Context(), one(plimsoll.Deployment{System: system, Engine: e}))
			switch {
			case err == nil:
				ran++
			case !strings.Contains(err.Error(), "does not run on "+system) && !strings.Contains(err.Error(), "is too old"):
				t.Errorf("%+v on %s: %v", e, system, err)
			}
		}
		if ran == 0 || ran == 3 && e.Name != "generic" && e.Name != "vllm" && e.Name != "sglang" { // those have ports
			t.Errorf("%+v runs on %d of three systems", e, ran)
		}
	}
	for _, s := range plimsoll.Systems() {
		if _, err := planner.Predict(t.Context(), one(plimsoll.Deployment{System: s.Name, Engine: plimsoll.Engine{Name: "generic"}})); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if s.Memory <= 0 || s.Bandwidth <= 0 || s.Node < 1 || s.Devices < s.Node {
			t.Errorf("%+v", s)
		}
	}
	ids := map[string]bool{}
	for _, m := range plimsoll.Models() {
		if m.AliasOf == "" {
			ids[m.ID] = true
		}
		if m.Family == "" || m.AliasOf == "" && (m.Active <= 0 || m.Parameters < m.Active) {
			t.Errorf("%+v", m)
		}
	}
	if len(ids) < 50 {
		t.Errorf("%d models", len(ids))
	}
}
