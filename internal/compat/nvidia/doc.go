// Package nvidia reads the experiment files of AIConfigurator and the flags of its command "default", of both
// generations, and writes experiments.
//
// In: the text of a YAML file, or [Flags]. Out: experiments as [ops.Experiment], with notes on assumptions, changes and keys
// without effect, or all mistakes at once. It knows the keys, names, defaults and format names; it does not know how an
// experiment is run or reported, and reads no files.
//
// # Where to start reading
//
//   - read.go: a file, from [Read] on
//   - block.go: an experiment before its defaults are filled in, from a file or from flags.go
//   - fill.go: the defaults, and what each key becomes
//
// keys.go has the keys (keys.yaml), precision.go the number formats, defaults.go what the two generations of the tool differ in, estimate.go the command
// "estimate", write.go the way back. A key that the tool adds is a line in keys.yaml, a field of block, and its use in fill.go.
package nvidia
