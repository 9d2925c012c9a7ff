package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is committed is what the source gives.
func TestCommitted(t *testing.T) {
	assets, err := bundle(fromHere)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range assets {
		got, err := os.ReadFile(filepath.Join(fromHere, "assets", a.name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, a.contents) {
			t.Errorf("internal/face/web/assets/%s is not what internal/face/web/src gives; run: make web", a.name)
		}
	}
	files, err := os.ReadDir(filepath.Join(fromHere, "assets"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(assets) {
		t.Errorf("internal/face/web/assets has %d files, the source gives %d", len(files), len(assets))
	}
}

// A report holds its script, with its words in two languages, so scripts stay small and name nothing outside.
func TestSmall(t *testing.T) {
	const most = 150_000
	assets, err := bundle(fromHere)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range assets {
		if len(a.contents) > most {
			t.Errorf("%s has %d bytes, more than %d", a.name, len(a.contents), most)
		}
		if strings.Contains(string(a.contents), "://") {
			t.Errorf("%s holds an address", a.name)
		}
	}
}
