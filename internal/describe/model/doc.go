// Package model turns a Hugging Face config.json into a Model: which layers
// there are, how their attention and feed-forward parts are shaped, what the
// checkpoint stores, and the facts that follow (parameters, KV bytes per token).
//
// In: config.json with its quantization notes, from the embedded catalog, a
// directory or the Hugging Face cache, always through an fs.FS. Out: a Model,
// immutable after return. Models are found by name: those of the catalog also by
// what mirrors and quantized uploads call them (names.go, catalog/names.txt). It
// knows no device, no layout and no engine. Start with model.go, then family.go,
// then any one family's file.
package model
