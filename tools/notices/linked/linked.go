// Package linked lists the modules that are linked into the program on any of its platforms, with their licences.
//
// In: the tree of the program and the module cache of this machine. Out: for each module its path, version, the names of its
// licences and their texts. It knows nothing of artefacts. Start at [Modules].
package linked

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// Platforms are those the program is released for; the Makefile's "cross" compiles them too.
func Platforms() []string {
	return []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}
}

// Module is a module that is linked into the program.
type Module struct {
	Path, Version string
	// Licences are SPDX names, in the order of the alphabet.
	Licences []string
	// Texts are the licences and notices in the root of the module, by name of the file.
	Texts []Text
}

// Text is a file of a module.
type Text struct{ Name, Content string }

// legal are the files of a module that say who owns it and what one may do. Files of authors are named by licences.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright|patents)([.-].*)?$`)

// patents is a grant of patents beside a licence; its text is kept.
const patents = "GooglePatentsFile"

// Modules lists the modules of the program in the tree at root, in the order of their paths.
func Modules(root string) ([]Module, error) {
	dirs := map[[2]string]string{}
	for _, platform := range Platforms() {
		system, arch, _ := strings.Cut(platform, "/")
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/plimsoll")
		cmd.Dir, cmd.Stderr = root, os.Stderr
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=")
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", platform, err)
		}
		for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
			if f := strings.Split(s.Text(), "\t"); len(f) == 3 {
				dirs[[2]string{f[0], f[1]}] = f[2]
			}
		}
	}
	var all []Module
	for id, dir := range dirs {
		m := Module{Path: id[0], Version: id[1]}
		if err := m.read(dir); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Module) int { return cmp.Compare(a.Path, b.Path) })
	return all, nil
}

// read finds the licences in the folder of a module.
func (m *Module) read(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%s %s: %w", m.Path, m.Version, err)
	}
	for _, e := range entries {
		if e.IsDir() || !legal.MatchString(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		m.Texts = append(m.Texts, Text{e.Name(), strings.ReplaceAll(string(data), "\r\n", "\n")})
		for _, match := range licensecheck.Scan(data).Match {
			if !match.IsURL && match.ID != patents && !slices.Contains(m.Licences, match.ID) {
				m.Licences = append(m.Licences, match.ID)
			}
		}
	}
	slices.Sort(m.Licences)
	return nil
}
