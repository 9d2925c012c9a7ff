package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// finish adds to goreleaser's folder what it has no part for: the image, a Homebrew formula, and bills of materials of the wheels
// and the image.
func finish(dist string, at time.Time) error {
	data, err := os.ReadFile(filepath.Join(dist, "metadata.json"))
	if err != nil {
		return err
	}
	var made struct{ Version, Tag string }
	if err := json.Unmarshal(data, &made); err != nil {
		return fmt.Errorf("metadata.json: %w", err)
	}
	if err := writeImage(dist, made.Version, filepath.Join(dist, "image"), at); err != nil {
		return err
	}
	for _, arch := range []string{"amd64", "arm64"} {
		// What the image holds is the binary of its platform: that is the artefact which the bill names.
		binary, err := binaryOf(filepath.Join(dist, "plimsoll_linux_"+arch))
		if err == nil {
			err = writeSBOMOf(binary, binary, filepath.Join(dist, "image_linux_"+arch+".cdx.json"), at)
		}
		if err != nil {
			return err
		}
	}
	wheels, err := filepath.Glob(filepath.Join(dist, "*.whl"))
	if err != nil {
		return err
	}
	for _, w := range wheels {
		if err := writeSBOM(w, w+".cdx.json", at); err != nil {
			return err
		}
	}
	formula, err := homebrew(dist, made.Version)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dist, "plimsoll.rb"), func(w io.Writer) error {
		_, err := io.WriteString(w, formula)
		return err
	})
}

// homebrew writes a formula that installs the archives.
func homebrew(dist, version string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, `# Written by tools/pack for the archives of this release.
class Plimsoll < Formula
  desc "Find the deployment of a language model that carries the most load"
  homepage "https://github.com/plimsoll-project/plimsoll"
  version %q
  license "Apache-2.0"
`, version)
	for _, system := range []struct{ ruby, name string }{{"macos", "darwin"}, {"linux", "linux"}} {
		fmt.Fprintf(&b, "\n  on_%s do\n", system.ruby)
		for _, arch := range []struct{ ruby, name string }{{"intel", "amd64"}, {"arm", "arm64"}} {
			archive := fmt.Sprintf("plimsoll_%s_%s_%s.tar.gz", version, system.name, arch.name)
			data, err := os.ReadFile(filepath.Join(dist, archive))
			if err != nil {
				return "", err
			}
			sum := sha256.Sum256(data)
			fmt.Fprintf(&b, "    on_%s do\n      url \"https://github.com/plimsoll-project/plimsoll/releases/download/v%s/%s\"\n      sha256 %q\n    end\n",
				arch.ruby, version, archive, hex.EncodeToString(sum[:]))
		}
		b.WriteString("  end\n")
	}
	b.WriteString(`
  def install
    bin.install "plimsoll"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/plimsoll.bash" => "plimsoll"
    zsh_completion.install "completions/_plimsoll"
    fish_completion.install "completions/plimsoll.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/plimsoll version")
    assert_match "h200_sxm", shell_output("#{bin}/plimsoll devices")
  end
end
`)
	return b.String(), nil
}

// unpackImage writes the files of an image for one platform into a folder, as a container has them.
func unpackImage(dir, arch, into string) error {
	top, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return err
	}
	manifest, err := top.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		return fmt.Errorf("%s: want one index, found %v (%w)", dir, manifest, err)
	}
	index, err := top.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		return err
	}
	if manifest, err = index.IndexManifest(); err != nil {
		return err
	}
	for _, m := range manifest.Manifests {
		if m.Platform == nil || !m.Platform.Satisfies(v1.Platform{OS: "linux", Architecture: arch}) {
			continue
		}
		img, err := index.Image(m.Digest)
		if err != nil {
			return err
		}
		files := mutate.Extract(img)
		defer files.Close() //nolint:errcheck // it is read only
		return untar(files, into)
	}
	return fmt.Errorf("%s: no image for linux/%s", dir, arch)
}
