package graph_test

import (
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/graph"
)

// TestArtefactsAreThePolicy: every switch of a policy is listed once, TensorCast
// sets them all and Physical none.
func TestArtefactsAreThePolicy(t *testing.T) {
	var p graph.Policy
	names := map[string]bool{}
	for _, a := range graph.Artefacts() {
		if names[a.Name] || a.Name != strings.ToLower(a.Name) || a.Doc == "" {
			t.Errorf("artefact %q: not a new, documented, lower-case name", a.Name)
		}
		names[a.Name] = true
		if *a.Field(&p) {
			t.Errorf("%s switches what another artefact switches", a.Name)
		}
		*a.Field(&p) = true
	}
	p.Name = "tensorcast"
	if got := graph.TensorCast(); got != p {
		t.Errorf("TensorCast: want %+v, got %+v", p, got)
	}
	if got := graph.Physical(); got != (graph.Policy{Name: "physical"}) {
		t.Errorf("Physical: got %+v", got)
	}
	for f, v := range reflect.ValueOf(p).Fields() {
		if v.Kind() == reflect.Bool && !v.Bool() {
			t.Errorf("%s is no artefact", f.Name)
		}
	}
}
