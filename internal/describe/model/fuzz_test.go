package model

import (
	"encoding/json"
	"io/fs"
	"maps"
	"slices"
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
		for _, as := range []string{"", "generic"} {
			checkParsed(t, config, quant, as)
		}
	})
}

// One field of one config of each family says something else: it is refused or
// makes a model.
func TestOneFieldOff(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range index() {
		if seen[r.family] || r.aliasOf != "" {
			continue
		}
		seen[r.family] = true
		b, err := catalogFiles.ReadFile("catalog/shape/" + r.shape + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var config any
		if err := json.Unmarshal(b, &config); err != nil {
			t.Fatal(err)
		}
		eachField(config, func(object map[string]any, name string) {
			was := object[name]
			for _, v := range []any{nil, 0, -1, 3, 1 << 40, []any{7, 8}} {
				object[name] = v
				changed, err := json.Marshal(config)
				if err != nil {
					t.Fatal(err)
				}
				checkParsed(t, changed, nil, "")
			}
			object[name] = was
		})
	}
}

// eachField visits the fields of an object and of the objects in it.
func eachField(v any, visit func(object map[string]any, name string)) {
	object, _ := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		eachField(object[name], visit)
		visit(object, name)
	}
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
