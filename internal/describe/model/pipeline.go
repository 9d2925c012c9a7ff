package model

import (
	"cmp"
	"fmt"
	"io/fs"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
)

// PipelineError is a pipeline of diffusers, or the transformer of one, in place of a language model.
type PipelineError struct {
	File  string // that says so
	Class string // of the pipeline or of its transformer
}

// Error names the class.
func (e *PipelineError) Error() string {
	return fmt.Sprintf("%s: a diffusers pipeline (%s), not a language model", e.File, cmp.Or(e.Class, "unnamed"))
}

// Hint says what is supported.
func (*PipelineError) Hint() string {
	return "images and videos are not modelled: name a language model that \"plimsoll models\" lists, or a directory with the config.json of one"
}

// pipelineIndex lists the parts of a diffusers pipeline.
const pipelineIndex = "model_index.json"

// pipeline is the error of a directory with a diffusers pipeline, nil elsewhere. An index names it; a directory without one, and without a
// config.json of its own, may still have the pipeline's transformer.
func pipeline(dir fs.FS) error {
	if h, err := classOf(dir, pipelineIndex); err == nil {
		return &PipelineError{pipelineIndex, h.ClassName}
	}
	if _, err := fs.Stat(dir, "config.json"); err == nil {
		return nil
	}
	const transformer = "transformer/config.json"
	if h, err := classOf(dir, transformer); err == nil && (h.ClassName != "" || h.Diffusers != "") {
		return &PipelineError{transformer, h.ClassName}
	}
	return nil
}

// classOf reads the class from a file of diffusers, without one if it has none.
func classOf(dir fs.FS, name string) (header, error) {
	var h header
	data, err := bound.File(dir, name, bound.Config)
	if err == nil {
		_ = bound.Decode(data, bound.JSONObjects, &h) // a file without a class is reported without it
	}
	return h, err
}
