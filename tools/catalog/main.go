// Catalog makes the shapes of internal/describe/model/catalog: config.json files cut down to the fields that the program reads.
//
//	go -C tools run ./catalog -models DIR
//
// DIR holds config.json files as Hugging Face publishes them, named ORG--NAME_config.json, or ORG/NAME/config.json. What is cut
// from which, and what is left or added by hand, stands in internal/describe/model/shapes.txt. A shape whose source is not in DIR, and
// one that was written by hand, stays as it is; both are counted. With -check nothing is written, and shapes that would change
// are an error.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	root := flag.String("root", "..", "the repository")
	models := flag.String("models", "", "directory of config.json files")
	check := flag.Bool("check", false, "write nothing, and fail if a shape would change")
	flag.Parse()
	if err := run(*root, *models, *check); err != nil {
		fmt.Fprintln(os.Stderr, "catalog:", err)
		os.Exit(1)
	}
}

func run(root, models string, check bool) error {
	dir := filepath.Join(root, "internal", "model")
	text, err := os.ReadFile(filepath.Join(dir, "shapes.txt"))
	if err != nil {
		return err
	}
	chosen, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("shapes.txt: %w", err)
	}
	var same, written, changed, missing []string
	for _, s := range chosen.shapes {
		if s.byHand {
			written = append(written, s.name)
			continue
		}
		config, err := find(models, s.source)
		if os.IsNotExist(err) {
			missing = append(missing, s.name)
			continue
		}
		if err != nil {
			return err
		}
		shape, err := chosen.cut(&s, config)
		if err != nil {
			return fmt.Errorf("%s, from %s: %w", s.name, s.source, err)
		}
		file := filepath.Join(dir, "catalog", "shape", s.name+".json")
		if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, shape) {
			same = append(same, s.name)
			continue
		}
		changed = append(changed, s.name)
		if !check {
			if err := os.WriteFile(file, shape, 0o666); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%d shapes as they were, %d changed, %d without a source in %s, %d written by hand\n",
		len(same), len(changed), len(missing), models, len(written))
	for what, names := range map[string][]string{"changed": changed, "no source": missing} {
		if len(names) > 0 {
			fmt.Printf("%s: %s\n", what, strings.Join(names, " "))
		}
	}
	if check && len(changed) > 0 {
		return fmt.Errorf("%d shapes are not what their sources give", len(changed))
	}
	return nil
}

// find reads the config.json of a model.
func find(dir, id string) ([]byte, error) {
	flat := filepath.Join(dir, strings.ReplaceAll(id, "/", "--"))
	for _, name := range []string{flat + "_config.json", flat + ".json"} {
		if data, err := os.ReadFile(name); err == nil {
			return data, nil
		}
	}
	return os.ReadFile(filepath.Join(dir, id, "config.json"))
}
