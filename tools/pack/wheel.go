package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// platformTags say where pip installs a wheel. The binaries are static, so that one serves glibc and musl; Go 1.26 needs macOS 12
// (go.dev/wiki/MinimumRequirements).
var platformTags = map[string]string{
	"linux/amd64":   "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
	"linux/arm64":   "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
	"darwin/amd64":  "macosx_12_0_x86_64",
	"darwin/arm64":  "macosx_12_0_arm64",
	"windows/amd64": "win_amd64",
	"windows/arm64": "win_arm64",
}

var (
	semantic = regexp.MustCompile(`^v?(\d+\.\d+\.\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$`)
	stage    = regexp.MustCompile(`^(alpha|beta|rc)\.?(\d+)$`)
	digits   = regexp.MustCompile(`[^0-9A-Za-z]+`)
)

// pythonVersion writes a semantic version as PEP 440 has it: 1.2.3-rc.1 is 1.2.3rc1, other pre-releases are development releases
// with the words in the local part.
func pythonVersion(v string) (string, error) {
	m := semantic.FindStringSubmatch(v)
	if m == nil {
		return "", fmt.Errorf("%q is not a semantic version", v)
	}
	if m[2] == "" {
		return m[1], nil
	}
	if s := stage.FindStringSubmatch(m[2]); s != nil {
		return m[1] + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[s[1]] + s[2], nil
	}
	return m[1] + ".dev0+" + strings.ToLower(strings.Trim(digits.ReplaceAllString(m[2], "."), ".")), nil
}

// member is a file of a wheel.
type member struct {
	name string
	mode fs.FileMode
	data []byte
}

// writeWheel packs the Python package in the folder pkg and a binary, which pip installs as a script.
func writeWheel(pkg, binary, system, arch, version, dir string, at time.Time) error {
	tag, ok := platformTags[system+"/"+arch]
	if !ok {
		return fmt.Errorf("no wheel for %s/%s", system, arch)
	}
	v, err := pythonVersion(version)
	if err != nil {
		return err
	}
	members, err := wheelMembers(pkg, binary, v, tag)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, fmt.Sprintf("plimsoll-%s-py3-none-%s.whl", v, tag))
	return writeFile(name, func(w io.Writer) error { return writeZip(w, members, at) })
}

// wheelMembers are the files, the record last, as PEP 427 wants them.
func wheelMembers(pkg, binary, version, tag string) ([]member, error) {
	var all []member
	add := func(name, file string, mode fs.FileMode) error {
		data, err := os.ReadFile(file)
		all = append(all, member{name, mode, data})
		return err
	}
	sources, err := filepath.Glob(filepath.Join(pkg, "plimsoll", "*"))
	if err != nil {
		return nil, err
	}
	for _, file := range sources {
		if ext := filepath.Ext(file); ext == ".py" || ext == ".typed" {
			if err := add("plimsoll/"+filepath.Base(file), file, 0o644); err != nil {
				return nil, err
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no Python files", pkg)
	}
	info := "plimsoll-" + version + ".dist-info/"
	script := "plimsoll-" + version + ".data/scripts/plimsoll"
	if strings.HasPrefix(tag, "win") {
		script += ".exe"
	}
	if err := add(script, binary, 0o755); err != nil {
		return nil, err
	}
	top := filepath.Join(pkg, "..")
	for _, name := range []string{"LICENSE", "NOTICE", "packaging/THIRD-PARTY.txt"} {
		if err := add(info+"licenses/"+filepath.Base(name), filepath.Join(top, name), 0o644); err != nil {
			return nil, err
		}
	}
	readme, err := os.ReadFile(filepath.Join(pkg, "README.md"))
	if err != nil {
		return nil, err
	}
	wheel := "Wheel-Version: 1.0\nGenerator: plimsoll-pack\nRoot-Is-Purelib: false\n"
	for one := range strings.SplitSeq(tag, ".") {
		wheel += "Tag: py3-none-" + one + "\n"
	}
	all = append(all, member{info + "METADATA", 0o644, []byte(metadata(version, string(readme)))}, member{info + "WHEEL", 0o644, []byte(wheel)})
	slices.SortStableFunc(all, func(a, b member) int { return strings.Compare(a.name, b.name) })
	var record strings.Builder
	for _, m := range all {
		sum := sha256.Sum256(m.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", m.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(m.data))
	}
	record.WriteString(info + "RECORD,,\n")
	return append(all, member{info + "RECORD", 0o644, []byte(record.String())}), nil
}

// metadata is what the index shows, by version 2.4 of its format.
func metadata(version, readme string) string {
	return "Metadata-Version: 2.4\nName: plimsoll\nVersion: " + version + `
Summary: Which deployment of a language model carries the most load within latency limits
License-Expression: Apache-2.0
License-File: LICENSE
License-File: NOTICE
License-File: THIRD-PARTY.txt
Requires-Python: >=3.9
Classifier: Typing :: Typed
Classifier: Environment :: Console
Project-URL: Source, https://github.com/plimsoll-project/plimsoll
Description-Content-Type: text/markdown

` + readme
}

// writeZip writes an archive whose bytes depend on nothing but the members and the time.
func writeZip(w io.Writer, members []member, at time.Time) error {
	if at.Year() < 1980 {
		at = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) // the first time of the format
	}
	z := zip.NewWriter(w)
	for _, m := range members {
		h := &zip.FileHeader{Name: path.Clean(m.name), Method: zip.Deflate}
		h.Modified = at
		h.SetMode(m.mode)
		f, err := z.CreateHeader(h)
		if err == nil {
			_, err = f.Write(m.data)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// writeFile writes a file beside its place and renames it.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".pack-*")
	if err != nil {
		return err
	}
	err = write(f)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
