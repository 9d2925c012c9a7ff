package cost_test

import (
	"reflect"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/cost"
)

func TestBound(t *testing.T) {
	for _, c := range []struct {
		estimate cost.Estimate
		want     cost.Bound
		name     string
	}{
		{cost.Estimate{}, cost.Free, "free"},
		{cost.Estimate{Total: 3, Memory: 2, Matrix: 1, Fixed: 1}, cost.Memory, "memory"},
		{cost.Estimate{Total: 3, Memory: 2, Matrix: 1, Vector: 1.5}, cost.Compute, "compute"},
		{cost.Estimate{Total: 3, Memory: 2, Matrix: 1, Vector: 1}, cost.Memory, "memory"}, // a tie
		{cost.Estimate{Total: 3, Memory: 1, Comm: 2}, cost.Communication, "communication"},
		{cost.Estimate{Total: 3, Memory: 2, Comm: 1}, cost.Memory, "memory"},
		{cost.Estimate{Total: 3, Fixed: 3}, cost.Memory, "memory"}, // launches are left aside
	} {
		if got := c.estimate.Bound(); got != c.want || got.String() != c.name {
			t.Errorf("%+v: want %s, got %s", c.estimate, c.name, got)
		}
	}
}

// TestPlus: no part of an estimate is forgotten.
func TestPlus(t *testing.T) {
	var a, b cost.Estimate
	for i, v := range []reflect.Value{reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem()} {
		for f := range v.NumField() {
			v.Field(f).SetFloat(float64(1 + i + 2*f))
		}
	}
	for f, v := range reflect.ValueOf(a.Plus(b)).Fields() {
		want := reflect.ValueOf(a).FieldByIndex(f.Index).Float() + reflect.ValueOf(b).FieldByIndex(f.Index).Float()
		if v.Float() != want {
			t.Errorf("%s: want %g, got %g", f.Name, want, v.Float())
		}
	}
}
