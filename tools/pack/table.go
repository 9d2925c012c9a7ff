package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// writeTable lists the artefacts of goreleaser's folder with their sizes.
func writeTable(w io.Writer, dist string) error {
	files, err := os.ReadDir(dist)
	if err != nil {
		return err
	}
	fmt.Fprint(w, "| artefact | MB |\n|---|---|\n")
	for _, f := range files {
		size, shown := int64(0), true
		switch ext := filepath.Ext(f.Name()); {
		case f.IsDir() && f.Name() == "image":
			err = filepath.WalkDir(filepath.Join(dist, f.Name()), func(_ string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					info, e := d.Info()
					if e != nil {
						return e
					}
					size += info.Size()
				}
				return err
			})
		case strings.HasPrefix(f.Name(), "plimsoll") && (ext == ".gz" || ext == ".zip" || ext == ".deb" || ext == ".rpm" || ext == ".whl"):
			info, e := f.Info()
			err, size = e, infoSize(info)
		default:
			shown = false
		}
		if err != nil {
			return err
		}
		if shown {
			fmt.Fprintf(w, "| `%s` | %.1f |\n", f.Name(), float64(size)/1e6)
		}
	}
	return nil
}

// infoSize is the size of a file that may be gone.
func infoSize(info os.FileInfo) int64 {
	if info == nil {
		return 0
	}
	return info.Size()
}
