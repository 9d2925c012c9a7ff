// Package model turns a Hugging Face config.json into a Model: which layers
// there are, how their attention and feed-forward parts are shaped, what the
// checkpoint stores, and the facts that follow (parameters, KV bytes per token).
//
// In: config.json with its quantization notes, from the embedded catalog, a
// directory or the Hugging Face cache, always through an fs.FS. Out: a Model,
// immutable after return. Models are found by name: those of the catalog also by
// what mirrors and quantized uploads call them (names.go, catalog/names.txt). It
// knows no device, no layout and no engine.
//
// # Where to start reading
//
//   - model.go: what a Model is; params.go counts its weights, facts.go has what is printed
//   - parse.go: from config.json to a Model; family.go finds the family, families.json lists them
//   - decoder.go: the form that most configs share
//
// Then any one family's file (llama.go, deepseek.go, gemma.go …, with hybrid.go and mixtures.go for fields that several have), wrapper.go
// and vision.go for models with images, quant.go and quantparts.go for number formats, names.go and catalog.go for finding a model.
//
// # What can be added
//
// A family of the common form is a line in families.json; another form is a parser in a file of its own and its name in families.go; a new
// kind of layer begins in model.go (docs/extending.md).
package model
