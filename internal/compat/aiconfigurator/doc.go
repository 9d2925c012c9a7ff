// Package aiconfigurator reads the experiment files of AIConfigurator and the flags of its command "default", of both
// generations, and writes experiments.
//
// In: the text of a YAML file, or [Flags]. Out: experiments as [ops.Experiment], with notes on assumptions, changes and keys
// without effect, or all mistakes at once. It knows the keys, names, defaults and format names; it does not know how an
// experiment is run or reported, and reads no files. Start at [Read], then block.go, which has an experiment
// before its defaults are filled in.
package aiconfigurator
