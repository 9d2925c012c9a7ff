package model

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
)

// Source is where models other than the catalog's come from. Either field may
// be nil.
type Source struct {
	// Dir opens a directory of the user's by its path.
	Dir func(path string) fs.FS
	// Hub is the Hugging Face cache, the directory with "models--org--name".
	Hub fs.FS
	// As is the family in whose form a config.json is read, "" for that of its
	// architecture.
	As string
}

// Open finds a model by name. A path (beginning with "/", "." or "~", or ending
// in config.json or model_index.json) is read as a directory; any other name is looked for in the
// catalog, then as a directory, then in the Hugging Face cache. What is in none of
// them may be another name of a model of the catalog, or a quantized upload of it
// (names.txt). A name that fits several models gives an AmbiguousError, one that
// fits none an UnknownError.
func (s Source) Open(name string) (*Model, error) {
	name = atHub(name)
	dir, isFile := name, slices.Contains(marks(), path.Base(name))
	if isFile {
		dir = path.Dir(name)
	}
	if isFile || strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") {
		if s.Dir == nil {
			return nil, fmt.Errorf("%s: directories cannot be read here", name)
		}
		return s.read(s.Dir(dir), name)
	}
	if m, ok, err := listed(name); ok {
		return m, errors.Join(err, s.refuse(m))
	}
	if s.Dir != nil {
		if m, err := s.read(s.Dir(name), name); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
			return m, err
		}
	}
	if s.Hub != nil {
		if m, err := s.cached(name); !errors.Is(err, fs.ErrNotExist) {
			return m, err
		}
	}
	t, err := understand(name)
	if err != nil {
		return nil, err
	}
	m, err := t.load(name)
	return m, errors.Join(err, s.refuse(m))
}

// hubAddress is the address of a model at Hugging Face, or of what is shown of it, and the id in it.
var hubAddress = regexp.MustCompile(`^(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/([^/]+/[^/?#]+)`)

// atHub is the id in an address of a model at Hugging Face; other names stay.
func atHub(name string) string {
	if m := hubAddress.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return name
}

// refuse reports a model of the catalog that is to be read as another family than
// its own.
func (s *Source) refuse(m *Model) error {
	if m == nil || s.As == "" || strings.EqualFold(s.As, m.Family) {
		return nil
	}
	return field.Errorf("%s %s: %s is in the catalog, as family %s; give a folder with its config.json to read it otherwise",
		asFamily, s.As, m.ID, m.Family)
}

// read reads the model in a directory: config.json, and hf_quant_config.json
// where there is one. The id becomes the model's ID.
func (s *Source) read(dir fs.FS, id string) (*Model, error) {
	if err := pipeline(dir); err != nil {
		return nil, fmt.Errorf("reading %s: %w", id, err)
	}
	config, err := bound.File(dir, "config.json", bound.Config)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", id, err)
	}
	quant, err := bound.File(dir, "hf_quant_config.json", bound.Config)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading %s: %w", id, err)
	}
	m, err := ParseAs(config, quant, s.As)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", id, err)
	}
	m.ID = id
	return m, nil
}

// marks are the files of which one marks the directory of a model.
func marks() []string { return []string{"config.json", pipelineIndex} }

// marked says that a directory is that of a model.
func marked(hub fs.FS, dir string) bool {
	return slices.ContainsFunc(marks(), func(name string) bool {
		_, err := fs.Stat(hub, path.Join(dir, name))
		return err == nil
	})
}

// cached reads a model from the Hugging Face cache: the snapshot that refs/main
// names, or without it the last by name that has a config.json.
func (s *Source) cached(id string) (*Model, error) {
	dir := "models--" + strings.ReplaceAll(id, "/", "--")
	if !fs.ValidPath(dir) || strings.Contains(dir, "/") {
		return nil, fmt.Errorf("%s is not a model id: %w", quoted(id), fs.ErrNotExist)
	}
	snapshot, err := snapshotOf(s.Hub, dir)
	if err != nil {
		return nil, fmt.Errorf("looking for %s in the Hugging Face cache: %w", id, err)
	}
	sub, err := fs.Sub(s.Hub, snapshot)
	if err != nil {
		return nil, fmt.Errorf("reading %s from the Hugging Face cache: %w", id, err)
	}
	return s.read(sub, id)
}

// snapshotOf finds the directory of the current revision.
func snapshotOf(hub fs.FS, dir string) (string, error) {
	snapshots := path.Join(dir, "snapshots")
	if ref, err := bound.File(hub, path.Join(dir, "refs", "main"), bound.Config); err == nil {
		name := strings.TrimSpace(string(ref))
		at := path.Join(snapshots, name)
		if name == path.Base(name) && fs.ValidPath(at) {
			if marked(hub, at) {
				return at, nil
			}
		}
	}
	entries, err := fs.ReadDir(hub, snapshots) // sorted by name
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(entries) {
		at := path.Join(snapshots, e.Name())
		if marked(hub, at) {
			return at, nil
		}
	}
	return "", fmt.Errorf("%s: no snapshot has a config.json: %w", snapshots, fs.ErrNotExist)
}
