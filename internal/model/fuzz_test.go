package model

import (
	"io/fs"
	"strings"
	"testing"
)

// FuzzParse looks for inputs that panic or give a Model that contradicts itself.
func FuzzParse(f *testing.F) {
	err := fs.WalkDir(catalogFiles, "catalog/shape", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := catalogFiles.ReadFile(name)
		f.Add(b, []byte(nil))
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	entries, err := catalogFiles.ReadDir("catalog/quant")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		b, err := catalogFiles.ReadFile("catalog/quant/" + e.Name())
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(deepseekConfig), b)
	}
	f.Add([]byte(gptConfig), []byte(nil))
	f.Fuzz(func(t *testing.T, config, quant []byte) {
		for _, as := range []string{"", genericFamily} {
			checkParsed(t, config, quant, as)
		}
	})
}

func checkParsed(t *testing.T, config, quant []byte, as string) {
	m, err := ParseAs(config, quant, as)
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			if strings.TrimSpace(line) == "" {
				t.Errorf("an empty line in %q", err)
			}
		}
		return
	}
	if n := len(m.Layers); n == 0 || n > maxLayers || len(m.Kinds) > n+1 {
		t.Fatalf("%d layers of %d kinds", n, len(m.Kinds))
	}
	for _, k := range m.Layers {
		if k < 0 || k >= len(m.Kinds) {
			t.Fatalf("kind %d of %d", k, len(m.Kinds))
		}
	}
	facts := m.Facts()
	if facts.Parameters <= 0 || facts.Active <= 0 || facts.Weights.Checkpoint <= 0 {
		t.Fatalf("%+v", facts)
	}
	m.Vision.Tokens(1000, 1000)
}
