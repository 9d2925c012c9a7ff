package main

import "testing"

func TestLines(t *testing.T) {
	got, err := lines([]byte(`[{"a": 1.50, "b": [1, 2]}, {"a": 1e-05}]`))
	if want := "[\n{\"a\":1.50,\"b\":[1,2]},\n{\"a\":1e-05}\n]\n"; err != nil || string(got) != want {
		t.Errorf("want %q, got %q, %v", want, got, err)
	}
	if _, err := lines(nil); err == nil {
		t.Error("no list is accepted")
	}
}
