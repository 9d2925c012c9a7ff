package plimsoll_test

import (
	"testing"

	"github.com/plimsoll-project/plimsoll"
)

// TestCatalog: every name that is listed can be used.
func TestCatalog(t *testing.T) {
	t.Parallel()
	planner := &plimsoll.Planner{}
	one := func(d plimsoll.Deployment) plimsoll.PredictRequest {
		d.Model = "Qwen/Qwen3-0.6B"
		return plimsoll.PredictRequest{Deployment: d, Traffic: plimsoll.Traffic{Concurrency: 1, Requests: 1, Input: 8, Output: 2}}
	}
	for _, e := range plimsoll.Engines() {
		if _, err := planner.Predict(t.Context(), one(plimsoll.Deployment{Engine: e})); err != nil {
			t.Errorf("%+v: %v", e, err)
		}
	}
	for _, s := range plimsoll.Systems() {
		if _, err := planner.Predict(t.Context(), one(plimsoll.Deployment{System: s.Name})); err != nil {
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
