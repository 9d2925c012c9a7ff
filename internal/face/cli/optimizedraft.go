package cli

import (
	"errors"
	"math"

	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
)

// draftFlags describe speculation by a draft model.
type draftFlags struct {
	method     string
	tokens     int
	accepted   float64
	layers     int
	config     string
	markovRank int
	markovHead string
	set        *pflag.FlagSet
}

// The vendor's built-in draft model: a block of eight tokens, six layers, five
// accepted.
const (
	defaultBlock    = 8
	defaultLayers   = 6
	defaultAccepted = 5
)

func (d *draftFlags) define(into *pflag.FlagSet) {
	section(into, "Draft model options", func(fs *pflag.FlagSet) {
		nargs.Var(fs, &d.method, "speculative-method", nargs.OneOf("dflash", "dspark"), "speculative decoding with a draft model: dflash or dspark")
		fs.IntVar(&d.tokens, "num-speculative-tokens", 0, "draft tokens per step (default 7)")
		fs.Float64Var(&d.accepted, "acceptance-length", defaultAccepted, "mean number of accepted tokens per step")
		fs.IntVar(&d.layers, "num-draft-layers", 0, "layers of the draft model (default 6)")
		fs.StringVar(&d.config, "draft-model-config-path", "", "accepted for compatibility: draft layers are modelled like the model's last layer")
		fs.IntVar(&d.markovRank, "dspark-markov-rank", 256, "accepted for compatibility: the Markov head is not modelled")
		d.markovHead = "vanilla"
		nargs.Var(fs, &d.markovHead, "dspark-markov-head", nargs.OneOf("vanilla", "gated", "rnn"), "accepted for compatibility: the Markov head is not modelled")
	})
	d.set = into
}

// draft checks the flags and returns the draft they describe.
func (d *draftFlags) draft() (optimize.Draft, error) {
	if d.method == "" {
		if n := firstGiven(d.set, "num-speculative-tokens", "acceptance-length", "num-draft-layers", "draft-model-config-path"); n != "" {
			return optimize.Draft{}, usagef("--%s needs --speculative-method", n)
		}
	}
	if n := firstGiven(d.set, "dspark-markov-rank", "dspark-markov-head"); n != "" && d.method != "dspark" {
		return optimize.Draft{}, usagef("--%s needs --speculative-method dspark", n)
	}
	if d.method == "" {
		return optimize.Draft{}, nil
	}
	if err := d.check(); err != nil {
		return optimize.Draft{}, err
	}
	out := optimize.Draft{Method: d.method, Block: defaultBlock, Layers: defaultLayers}
	if d.tokens >= 1 {
		out.Block = d.tokens + 1
	}
	if d.layers > 0 {
		out.Layers = d.layers
	}
	most := float64(out.Block - 1)
	if d.method == "dspark" {
		most = float64(out.Block)
	}
	out.Accepted = math.Max(0, math.Min(d.accepted, most))
	return out, nil
}

// The most a draft may have: far beyond any published one.
const (
	maxSpeculated  = 1024
	maxDraftLayers = 1024
)

// check reports numbers out of range; zeros stand for the defaults, and the number
// of accepted tokens is clamped to that of draft tokens.
func (d *draftFlags) check() error {
	return errors.Join(
		usageIf(d.tokens < 0 || d.tokens > maxSpeculated, "--num-speculative-tokens must be between 0 and %d, got %d", maxSpeculated, d.tokens),
		usageIf(d.layers < 0 || d.layers > maxDraftLayers, "--num-draft-layers must be between 0 and %d, got %d", maxDraftLayers, d.layers),
		usageIf(!(d.accepted >= 0), "--acceptance-length must not be negative, got %g", d.accepted),
	)
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
