package cli

import (
	"github.com/spf13/pflag"

	"plimsoll/internal/app"
	"plimsoll/internal/nargs"
)

// modellingFlags say how a step is modelled.
type modellingFlags struct {
	compile, eager bool
	compilation    []string
	pricing        string
}

// define adds the flags to a section.
func (f *modellingFlags) define(fs *pflag.FlagSet, to *app.Modelling) {
	fs.BoolVar(&f.compile, "compile", false, "fuse operators as a graph compiler does (default where prices are calibrated)")
	fs.BoolVar(&f.eager, "no-compile", false, "price every operator by itself (default where prices follow from peaks)")
	nargs.ListVar(fs, &f.compilation, "compilation-config", nargs.ZeroOrMore, nargs.OneOf(compilationTokens()...),
		"further passes: "+join(compilationTokens()))
	nargs.Var(fs, &to.Policy, "policy", nargs.OneOf("tensorcast", "physical"),
		"tensorcast repeats Ascend's model (default there), physical does not")
	nargs.Var(fs, &f.pricing, "pricing", nargs.OneOf("auto", string(app.Roofline), string(app.Calibrated)),
		"prices of operators: roofline by the profile's peaks, calibrated by fits to measured kernels (default roofline with policy tensorcast, else calibrated where there are fits)")
}

// complete reads what was given into a request.
func (f *modellingFlags) complete(fs *pflag.FlagSet, to *app.Modelling) error {
	if f.pricing != "auto" {
		to.Pricing = app.Pricing(f.pricing)
	}
	switch given := fs.Changed; {
	case given("compile") && given("no-compile"):
		return usagef("--compile and --no-compile exclude one another")
	case given("compile"):
		to.Compile = new(f.compile)
	case given("no-compile"):
		to.Compile = new(!f.eager)
	}
	return nil
}
