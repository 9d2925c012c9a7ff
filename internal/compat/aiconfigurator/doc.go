// Package aiconfigurator reads what users of AIConfigurator write: its experiment files and the flags of its command
// "default", of both generations, and writes experiments down again.
//
// In: the text of a YAML file, or [Flags]. Out: experiments as [app.Experiment], with notes on what was assumed, changed or
// has no effect, or all mistakes at once. It knows keys, names, defaults and what the words for precisions mean; it does not
// know how an experiment is run or reported, and reads no files. Start at [Read], then block.go, which has an experiment
// before its defaults are filled in.
package aiconfigurator
