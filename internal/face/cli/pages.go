package cli

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/face/web"
)

// newPagesCmd makes "plimsoll pages".
func newPagesCmd(env *Env) *cobra.Command {
	var playground, engine string
	cmd := &cobra.Command{
		Use:     "pages",
		Short:   "Write the live page with its engine as static files",
		GroupID: groupServe,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if playground == "" {
				return usagef("--playground needs the folder to write to")
			}
			return env.playground(playground, engine)
		},
	}
	fs := cmd.Flags()
	outputVar(fs, &playground, aHome, "playground", "`folder` to write the page to")
	fs.StringVar(&engine, "engine", "", "`folder` with engine.bin and wasm_exec.js (default playground beside the program)")
	return cmd
}

// playground writes the page and the engine into a folder.
func (e *Env) playground(dir, engine string) error {
	if engine == "" {
		program, err := os.Executable()
		if err != nil {
			return err
		}
		engine = filepath.Join(filepath.Dir(program), "playground")
	}
	files, err := web.Playground(e.programVersion())
	if err != nil {
		return err
	}
	for _, name := range []string{"engine.bin", "wasm_exec.js"} {
		data, err := e.ReadFile(filepath.Join(engine, name), bound.Engine)
		if err != nil {
			return withHint(usagef("the engine is not in %s: %s: %w", engine, name, cause(err)), "it is in release archives; \"make playground\" builds it; --engine names its folder")
		}
		files[name] = data
	}
	size := 0
	err = e.createAll("playground", dir, slices.Sorted(maps.Keys(files)), func(name string, w io.Writer) error {
		n, err := w.Write(files[name])
		size += n
		return err
	})
	if err != nil {
		return err
	}
	e.Note(fmt.Sprintf("wrote %d files, %.1f MB, to %s; any web host serves them", len(files), float64(size)/1e6, dir))
	return nil
}
