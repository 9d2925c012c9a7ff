package model

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
)

func file(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

func TestRead(t *testing.T) {
	dir := fstest.MapFS{
		"config.json":          file(qwen3Config),
		"hf_quant_config.json": file(`{"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}}`),
	}
	m, err := (&Source{}).read(dir, "/models/mine")
	if err != nil {
		t.Fatal(err)
	}
	if m.ID != "/models/mine" || m.Quant.Attention.Weight != dtype.FP8 || m.Quant.KV != dtype.FP8 {
		t.Errorf("got %s, %+v", m.ID, m.Quant)
	}
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		dir  fstest.MapFS
		want string
	}{
		{"diffusers", fstest.MapFS{"model_index.json": file(`{"_class_name": "FluxPipeline"}`)}, "reading x: model_index.json: a diffusers pipeline (FluxPipeline), not a language model"},
		{"an index without a class", fstest.MapFS{"model_index.json": file(`[`)}, "reading x: model_index.json: a diffusers pipeline (unnamed), not a language model"},
		{
			"diffusers without an index",
			fstest.MapFS{"transformer/config.json": file(`{"_class_name": "FluxTransformer2DModel"}`)},
			"reading x: transformer/config.json: a diffusers pipeline (FluxTransformer2DModel), not a language model",
		},
		{"a folder of another kind", fstest.MapFS{"transformer/config.json": file(qwen3Config)}, "reading x: open config.json: file does not exist"},
		{"empty", fstest.MapFS{}, "reading x: open config.json: file does not exist"},
		{"bad", fstest.MapFS{"config.json": file(edit(qwen3Config, `"hidden_size": 4096, `, ""))}, "reading x: config.json: hidden_size: missing (family qwen3)"},
		{"large", fstest.MapFS{"config.json": file(strings.Repeat(" ", int(bound.Config.Bytes())+1))}, "reading x: config.json: too large with 8.1 MiB; a config.json may have at most 8 MiB"},
		{"large note", fstest.MapFS{"config.json": file(qwen3Config), "hf_quant_config.json": file(strings.Repeat(" ", int(bound.Config.Bytes())+1))}, "reading x: hf_quant_config.json: too large with 8.1 MiB; a config.json may have at most 8 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := (&Source{}).read(c.dir, "x"); err == nil || err.Error() != c.want {
				t.Errorf("want %s\ngot  %v", c.want, err)
			}
		})
	}
}

func TestReadCache(t *testing.T) {
	tied := edit(qwen3Config, `"vocab_size": 1000`, `"vocab_size": 2000`)
	const at = "models--org--name/"
	for _, c := range []struct {
		name  string
		hub   fstest.MapFS
		vocab int
	}{
		{"the ref", fstest.MapFS{
			at + "refs/main":                 file("aaa\n"),
			at + "snapshots/aaa/config.json": file(qwen3Config),
			at + "snapshots/bbb/config.json": file(tied),
		}, 1000},
		{"no ref", fstest.MapFS{
			at + "snapshots/aaa/config.json": file(qwen3Config),
			at + "snapshots/bbb/config.json": file(tied),
			at + "snapshots/ccc/README.md":   file(""),
		}, 2000},
		{"a ref outside", fstest.MapFS{
			at + "refs/main":                 file("../../etc"),
			at + "snapshots/aaa/config.json": file(qwen3Config),
		}, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := (&Source{Hub: c.hub}).cached("org/name")
			if err != nil {
				t.Fatal(err)
			}
			if m.ID != "org/name" || m.Vocab != c.vocab {
				t.Errorf("want org/name with %d words, got %s with %d", c.vocab, m.ID, m.Vocab)
			}
		})
	}
	pipeline := fstest.MapFS{at + "refs/main": file("aaa\n"), at + "snapshots/aaa/model_index.json": file(`{"_class_name": "FluxPipeline"}`)}
	_, err := (&Source{Hub: pipeline}).cached("org/name")
	if _, ok := errors.AsType[*PipelineError](err); !ok {
		t.Errorf("a pipeline in the cache: %v", err)
	}
	for _, id := range []string{"org/other", "", "../x", "a/../b"} {
		if _, err := (&Source{Hub: fstest.MapFS{}}).cached(id); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: want not found, got %v", id, err)
		}
	}
}

func TestSourceOpen(t *testing.T) {
	mine := fstest.MapFS{"config.json": file(qwen3Config)}
	dirs := map[string]fs.FS{
		"./mine": mine,
		"mine":   mine,
		"local":  fstest.MapFS{"config.json": file(qwen3Config)},
		"bad":    fstest.MapFS{"config.json": file("{}")},
	}
	s := Source{
		Dir: func(path string) fs.FS {
			if d, ok := dirs[path]; ok {
				return d
			}
			return fstest.MapFS{}
		},
		Hub: fstest.MapFS{"models--org--cached/snapshots/a/config.json": file(qwen3Config)},
	}
	for name, layers := range map[string]int{
		"Qwen/Qwen3-32B":     64,
		"QWEN3_32B":          64,
		"./mine":             2,
		"./mine/config.json": 2,
		"local":              2,
		"org/cached":         2,
	} {
		m, err := s.Open(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if len(m.Layers) != layers {
			t.Errorf("%s: want %d layers, got %d", name, layers, len(m.Layers))
		}
	}
	if _, err := s.Open("org/nothing"); err == nil {
		t.Error("want an error")
	} else if _, ok := errors.AsType[*UnknownError](err); !ok {
		t.Errorf("want an UnknownError, got %v", err)
	}
	if _, err := s.Open("bad"); err == nil || !strings.HasPrefix(err.Error(), "reading bad: config.json: neither architectures nor model_type") {
		t.Errorf("got %v", err)
	}
	if _, err := (Source{}).Open("/models/x"); err == nil || err.Error() != "/models/x: directories cannot be read here" {
		t.Errorf("got %v", err)
	}
}
