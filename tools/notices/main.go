// Notices writes packaging/THIRD-PARTY.txt: the licences of everything in the program that others wrote, as its binaries must carry them.
//
//	go -C tools run ./notices
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/tools/notices/linked"
)

const file = "packaging/THIRD-PARTY.txt"

func main() {
	text, err := write("..")
	if err == nil {
		err = os.WriteFile(filepath.Join("..", file), []byte(text), 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

const rule = "================================================================================\n"

// write makes the file for the tree at root.
func write(root string) (string, error) {
	modules, err := linked.Modules(root)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("Plimsoll contains the works below, under their own licences. Plimsoll itself is under the Apache License 2.0: see\nLICENSE and NOTICE. \"go -C tools run ./notices\" writes this file.\n\n")
	b.WriteString(rule + "Modules linked into the program\n" + rule + "\n")
	for _, m := range modules {
		if len(m.Licences) == 0 {
			return "", fmt.Errorf("%s %s: no licence was found", m.Path, m.Version)
		}
		fmt.Fprintf(&b, "%s %s: %s\n", m.Path, m.Version, strings.Join(m.Licences, ", "))
	}
	b.WriteString("\nThe Go standard library and runtime: BSD-3-Clause\n")
	b.WriteString("uPlot 1.6.32, in the pages: MIT\nLiberation fonts, in charts: OFL-1.1 (module codeberg.org/go-fonts/liberation)\n")
	b.WriteString("\n" + rule + "Data in the program\n" + rule)
	data, err := sources(root)
	if err != nil {
		return "", err
	}
	b.WriteString(data)
	for _, m := range modules {
		for _, t := range m.Texts {
			part(&b, m.Path+": "+t.Name, t.Content)
		}
	}
	uplot, err := os.ReadFile(filepath.Join(root, "internal/face/web/src/uplot/LICENSE"))
	if err != nil {
		return "", err
	}
	part(&b, "uPlot: LICENSE", string(uplot))
	part(&b, "Go: LICENSE", goLicence)
	return b.String(), nil
}

// part writes a licence.
func part(b *strings.Builder, title, text string) {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\f")
	}
	fmt.Fprintf(b, "\n%s%s\n%s\n%s\n", rule, title, rule, strings.Join(lines, "\n"))
}

// sources lists the embedded data with their licences, from the manifest; those of tests are not in the program.
func sources(root string) (string, error) {
	manifest, err := os.ReadFile(filepath.Join(root, "internal/evidence/provenance/manifest.yaml"))
	if err != nil {
		return "", err
	}
	var entries []struct{ Path, What, Source, Licence string }
	if err := yaml.Unmarshal(manifest, &entries); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, e := range entries {
		if strings.Contains(e.Path, "/testdata") || !strings.HasPrefix(e.Path, "internal/") {
			continue
		}
		fmt.Fprintf(&b, "\n%s: %s\n  Licence: %s\n  Source: %s\n", e.Path, e.What, e.Licence, strings.Join(strings.Fields(e.Source), " "))
	}
	return b.String(), nil
}

// goLicence is the LICENSE of Go's distribution, which some packagers leave out of GOROOT.
const goLicence = `Copyright 2009 The Go Authors.

Redistribution and use in source and binary forms, with or without
modification, are permitted provided that the following conditions are
met:

   * Redistributions of source code must retain the above copyright
notice, this list of conditions and the following disclaimer.
   * Redistributions in binary form must reproduce the above
copyright notice, this list of conditions and the following disclaimer
in the documentation and/or other materials provided with the
distribution.
   * Neither the name of Google LLC nor the names of its
contributors may be used to endorse or promote products derived from
this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS
"AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT
LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR
A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT
OWNER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,
SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT
LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE,
DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY
THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT
(INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE
OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
`
