package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"github.com/plimsoll-project/plimsoll/tools/notices/linked"
)

// writeSBOM writes what is in an artefact: the program and its modules, as the Go tool noted them in the binary.
func writeSBOM(artefact, document string, at time.Time) error {
	binary, err := binaryOf(artefact)
	if err != nil {
		return err
	}
	return writeSBOMOf(artefact, binary, document, at)
}

// writeSBOMOf is [writeSBOM] for an artefact with a known binary.
func writeSBOMOf(artefact, binary, document string, at time.Time) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("%s: %w", binary, err)
	}
	licences, err := readLicences()
	if err != nil {
		return err
	}
	bom, err := billOf(info, licences, artefact, binary, at)
	if err != nil {
		return err
	}
	return writeFile(document, func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	})
}

// platform is how names of artefacts end: goreleaser's and nfpm's, and the tags of wheels.
var platform = regexp.MustCompile(`_(linux|darwin|windows)_(amd64|arm64)|-py3-none-([0-9A-Za-z_.]+)\.whl$`)

// binaryOf finds the binary of goreleaser's folder that an artefact carries.
func binaryOf(artefact string) (string, error) {
	m := platform.FindStringSubmatch(filepath.Base(artefact))
	if m == nil {
		return "", fmt.Errorf("%s: the name has no platform", artefact)
	}
	system, arch := m[1], m[2]
	for p, tag := range platformTags {
		if m[3] != "" && tag == m[3] {
			system, arch, _ = strings.Cut(p, "/")
		}
	}
	found, err := filepath.Glob(filepath.Join(filepath.Dir(artefact), fmt.Sprintf("plimsoll_%s_%s*", system, arch), "plimsoll*"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("%s: want one binary for %s/%s, found %v (%w)", artefact, system, arch, found, err)
	}
	return found[0], nil
}

// readLicences finds the licences of the modules, from goreleaser's folder or from the repository.
func readLicences() (map[string][]string, error) {
	root, err := rootOf()
	if err != nil {
		return nil, err
	}
	modules, err := linked.Modules(root)
	out := map[string][]string{}
	for _, m := range modules {
		out[m.Path] = m.Licences
	}
	return out, err
}

// billOf makes the bill of materials. It has no serial number, which would be another one each time.
func billOf(info *debug.BuildInfo, licences map[string][]string, artefact, binary string, at time.Time) (*cdx.BOM, error) {
	whole, err := hashOf(artefact)
	if err != nil {
		return nil, err
	}
	program, err := hashOf(binary)
	if err != nil {
		return nil, err
	}
	main := component(info.Main.Path, info.Main.Version, []string{"Apache-2.0"})
	main.Type, main.Hashes = cdx.ComponentTypeApplication, program
	all := []cdx.Component{
		main,
		{BOMRef: "go", Type: cdx.ComponentTypeLibrary, Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"), PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"), Licenses: names([]string{"BSD-3-Clause"})},
		{BOMRef: "uplot", Type: cdx.ComponentTypeLibrary, Name: "uplot", Version: "1.6.32", PackageURL: "pkg:npm/uplot@1.6.32", Licenses: names([]string{"MIT"})},
	}
	needs := []string{"go", "uplot"}
	for _, m := range info.Deps {
		l, ok := licences[m.Path]
		if !ok {
			return nil, fmt.Errorf("%s: no licence of %s is known", binary, m.Path)
		}
		c := component(m.Path, m.Version, l)
		needs, all = append(needs, c.BOMRef), append(all, c)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: at.Format(time.RFC3339),
		Component: &cdx.Component{BOMRef: "artefact", Type: cdx.ComponentTypeFile, Name: filepath.Base(artefact), Hashes: whole},
	}
	bom.Components = &all
	bom.Dependencies = &[]cdx.Dependency{{Ref: "artefact", Dependencies: &[]string{main.BOMRef}}, {Ref: main.BOMRef, Dependencies: &needs}}
	return bom, nil
}

// component is a Go module.
func component(path, version string, licences []string) cdx.Component {
	url := "pkg:golang/" + path
	if version != "" && version != "(devel)" {
		url += "@" + strings.ReplaceAll(version, "+", "%2B")
	}
	return cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url, Licenses: names(licences)}
}

// names are licences by their SPDX names.
func names(spdx []string) *cdx.Licenses {
	var out cdx.Licenses
	for _, id := range spdx {
		out = append(out, cdx.LicenseChoice{License: &cdx.License{ID: id}})
	}
	return &out
}

// hashOf is the hash of a file.
func hashOf(name string) (*[]cdx.Hash, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it is read only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(h.Sum(nil))}}, nil
}
