package cli

import (
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
)

// draftFlags are the vendor's flags of a draft model that change nothing here.
type draftFlags struct {
	config     string
	markovRank int
	markovHead string
}

func (d *draftFlags) define(into *pflag.FlagSet) {
	section(into, "Draft model options", func(fs *pflag.FlagSet) {
		fs.StringVar(&d.config, "draft-model-config-path", "", "accepted for compatibility: draft layers are modelled like the model's last layer")
		fs.IntVar(&d.markovRank, "dspark-markov-rank", 256, "accepted for compatibility: the Markov head is not modelled")
		d.markovHead = "vanilla"
		nargs.Var(fs, &d.markovHead, "dspark-markov-head", nargs.OneOf("vanilla", "gated", "rnn"), "accepted for compatibility: the Markov head is not modelled")
	})
}

// check reports flags of a draft model that is not asked for.
func (*draftFlags) check(fs *pflag.FlagSet, method string) error {
	if method == "" && fs.Changed("draft-model-config-path") {
		return usagef("--draft-model-config-path needs --speculative-method")
	}
	if n := firstGiven(fs, "dspark-markov-rank", "dspark-markov-head"); n != "" && method != "dspark" {
		return usagef("--%s needs --speculative-method dspark", n)
	}
	return nil
}

// profilingFlags are the vendor's second performance model, which needs tables
// measured on its own devices.
type profilingFlags struct {
	model, path string
}

func (p *profilingFlags) define(into *pflag.FlagSet) {
	section(into, "Performance model", func(fs *pflag.FlagSet) {
		p.model = "analytic"
		nargs.Var(fs, &p.model, "performance-model", nargs.OneOf("analytic", "profiling"), "analytic; profiling is not supported yet")
		fs.StringVar(&p.path, "profiling-database-path", "", "directory of profiling tables")
	})
}

func (p *profilingFlags) check() error {
	if p.model != "profiling" {
		return nil
	}
	if p.path == "" {
		return usagef("--performance-model profiling needs --profiling-database-path")
	}
	return usagef("--performance-model profiling is not supported yet: omit it for the analytic model")
}
