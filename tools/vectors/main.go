// Vectors takes the numbers that the tests hold TensorCast's model to from the file of a run of TensorCast:
//
//	go -C tools run ./vectors FILE.json
//
// Its lists "e2e" (whole forward passes), "ops" (single operators) and "comm" (collectives) become test data, one entry a line
// and every number as it is written.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("..", os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "vectors:", err)
		os.Exit(1)
	}
}

func run(root string, args []string) error {
	if len(args) != 1 {
		return errors.New("want the file of a run of TensorCast")
	}
	data, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var lists map[string]json.RawMessage
	if err := json.Unmarshal(data, &lists); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	for name, file := range map[string]string{
		"e2e":  "internal/ops/step/testdata/tensorcast-e2e.json",
		"ops":  "internal/cost/roofline/testdata/tensorcast-operators.json",
		"comm": "internal/cost/roofline/testdata/tensorcast-collectives.json",
	} {
		text, err := lines(lists[name])
		if err != nil {
			return fmt.Errorf("%s: %s: %w", args[0], name, err)
		}
		if err := os.WriteFile(filepath.Join(root, file), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// lines writes a list with one entry a line.
func lines(list []byte) ([]byte, error) {
	var entries []json.RawMessage
	if err := json.Unmarshal(list, &entries); err != nil {
		return nil, err
	}
	b := bytes.NewBufferString("[\n")
	for i, e := range entries {
		if i > 0 {
			b.WriteString(",\n")
		}
		if err := json.Compact(b, e); err != nil {
			return nil, err
		}
	}
	b.WriteString("\n]\n")
	return b.Bytes(), nil
}
