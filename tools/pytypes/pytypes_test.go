package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTypesAreTheProgram(t *testing.T) {
	want, err := generate("../..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("../..", file))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is out of date: run \"go -C tools run ./pytypes\"", file)
	}
}
