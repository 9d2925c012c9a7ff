package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nobody is the user of the image: not root, by number, so that Kubernetes can check it (runAsNonRoot).
const nobody = "65532:65532"

// writeImage writes one image for both Linux platforms as an OCI layout. It is from scratch: the binary, the licences, and an
// empty /tmp for whoever mounts one there; nothing is written at run time, so the root may be read-only.
func writeImage(dist, version, dir string, at time.Time) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range []string{"amd64", "arm64"} {
		binary, err := binaryOf(filepath.Join(dist, "plimsoll_linux_"+arch))
		if err != nil {
			return err
		}
		img, err := imageOf(binary, arch, version, at)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	into, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	return into.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": version}))
}

// imageOf makes the image of one platform.
func imageOf(binary, arch, version string, at time.Time) (v1.Image, error) {
	data, err := layerOf(binary, at)
	if err != nil {
		return nil, err
	}
	layer := static.NewLayer(data.packed, types.OCILayer)
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err = mutate.Append(img, mutate.Addendum{Layer: withDiffID{layer, data.diff}, History: v1.History{Created: v1.Time{Time: at}, CreatedBy: "plimsoll-pack"}})
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(img, &v1.ConfigFile{
		Architecture: arch, OS: "linux", Created: v1.Time{Time: at},
		RootFS:  v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{data.diff}},
		History: []v1.History{{Created: v1.Time{Time: at}, CreatedBy: "plimsoll-pack"}},
		Config: v1.Config{
			Entrypoint: []string{"/usr/bin/plimsoll"}, Cmd: []string{"serve", "--addr", "0.0.0.0:8080"}, User: nobody, WorkingDir: "/",
			Env:          []string{"PATH=/usr/bin", "HOME=/tmp"},
			ExposedPorts: map[string]struct{}{"8080/tcp": {}},
			Labels: map[string]string{
				"org.opencontainers.image.title":    "plimsoll",
				"org.opencontainers.image.version":  version,
				"org.opencontainers.image.licenses": "Apache-2.0",
				"org.opencontainers.image.source":   "https://github.com/plimsoll-project/plimsoll",
			},
		},
	})
}

// withDiffID is a layer that knows the hash of its uncompressed bytes, which a static one takes for the compressed.
type withDiffID struct {
	v1.Layer

	diff v1.Hash
}

// DiffID is that hash.
func (l withDiffID) DiffID() (v1.Hash, error) { return l.diff, nil }

// packedLayer is a layer and the hash of its tar.
type packedLayer struct {
	packed []byte
	diff   v1.Hash
}

// layerOf packs the files of the image.
func layerOf(binary string, at time.Time) (packedLayer, error) {
	root, err := rootOf()
	if err != nil {
		return packedLayer{}, err
	}
	var plain bytes.Buffer
	t := tar.NewWriter(&plain)
	for _, dir := range []struct {
		name string
		mode int64
	}{{"tmp/", 0o1777}, {"usr/", 0o755}, {"usr/bin/", 0o755}, {"usr/share/", 0o755}, {"usr/share/doc/", 0o755}, {"usr/share/doc/plimsoll/", 0o755}} {
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir.name, Mode: dir.mode, ModTime: at, Format: tar.FormatPAX}); err != nil {
			return packedLayer{}, err
		}
	}
	for _, f := range []struct {
		name, from string
		mode       int64
	}{
		{"usr/bin/plimsoll", binary, 0o755},
		{"usr/share/doc/plimsoll/LICENSE", filepath.Join(root, "LICENSE"), 0o644},
		{"usr/share/doc/plimsoll/NOTICE", filepath.Join(root, "NOTICE"), 0o644},
		{"usr/share/doc/plimsoll/THIRD-PARTY.txt", filepath.Join(root, "packaging/THIRD-PARTY.txt"), 0o644},
	} {
		data, err := os.ReadFile(f.from)
		if err == nil {
			err = t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(data)), ModTime: at, Format: tar.FormatPAX})
		}
		if err == nil {
			_, err = t.Write(data)
		}
		if err != nil {
			return packedLayer{}, err
		}
	}
	if err := t.Close(); err != nil {
		return packedLayer{}, err
	}
	diff, _, err := v1.SHA256(bytes.NewReader(plain.Bytes()))
	if err != nil {
		return packedLayer{}, err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = io.Copy(z, &plain)
	}
	if err == nil {
		err = z.Close()
	}
	return packedLayer{packed.Bytes(), diff}, err
}

// rootOf finds the repository above the working directory.
func rootOf() (string, error) {
	root := "."
	for {
		if _, err := os.Stat(filepath.Join(root, "cmd/plimsoll")); err == nil {
			return root, nil
		}
		if root = filepath.Join(root, ".."); strings.Count(root, "..") > 8 {
			return "", fmt.Errorf("no cmd/plimsoll above the working directory")
		}
	}
}
