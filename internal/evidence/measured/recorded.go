package measured

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
)

//go:embed cleaning.yaml
var cleaningFile []byte

// Embedded is the data of this package as they are in the program, for checks of an installation.
func Embedded() embedded.Files { return embedded.Files{"cleaning.yaml": cleaningFile} }

// rule is what a rule of the cleaning tells of a row it changed, and why.
type rule struct {
	Says   string `yaml:"says"`
	Reason string `yaml:"reason"`
}

// cleaning are the rules by which records are corrected; cleaning.yaml explains them.
type cleaning struct {
	Version    int `yaml:"version"`
	StrayLimit struct {
		rule                `yaml:",inline"`
		RequestsPerSequence int `yaml:"requests_per_sequence"`
	} `yaml:"stray_limit"`
	TensorParallelDecode struct {
		rule            `yaml:",inline"`
		RequestsPerRank int `yaml:"requests_per_rank"`
	} `yaml:"tensor_parallel_decode"`
	ExpertParallel struct {
		rule    `yaml:",inline"`
		Engines []string `yaml:"engines"`
	} `yaml:"expert_parallel"`
	ExpertsCountedTwice struct {
		rule   `yaml:",inline"`
		Source string `yaml:"source"` // what the row's begins with
	} `yaml:"experts_counted_twice"`
	Builds []struct {
		Engine  string `yaml:"engine"`
		Release string `yaml:"release"`
		System  string `yaml:"system"` // "" is any
		Source  string `yaml:"source"` // what the row's begins with
		Mark    string `yaml:"mark"`
		Reason  string `yaml:"reason"`
	} `yaml:"builds"`
}

//nolint:gochecknoglobals // read once, never changed
var rules = embedded.Once("measured: cleaning.yaml", cleaningFile, embedded.YAML[*cleaning])

// marked is the quality of a row with the marks of its build.
func (c *cleaning) marked(r *Row) string {
	out := r.Quality
	for _, b := range c.Builds {
		of := b.Engine == r.Engine && b.Release == r.Version && (b.System == "" || b.System == r.System) && strings.HasPrefix(r.Source, b.Source)
		if of && !strings.Contains(out, b.Mark) {
			out = strings.TrimSpace(out + " " + b.Mark)
		}
	}
	return out
}

// named are the tensor and the expert parallelism in a row's identifier.
var named = regexp.MustCompile(`_tp(\d+)(?:_0)?_ep(\d+)(?:_0)?_`)

// once corrects an aggregated row whose expert parallelism is counted twice.
func (c *cleaning) once(r *Row) {
	words := named.FindStringSubmatch(r.ID)
	if words == nil || !strings.HasPrefix(r.Source, c.ExpertsCountedTwice.Source) {
		return
	}
	tensor, _ := strconv.Atoi(words[1])
	expert, _ := strconv.Atoi(words[2])
	w := &r.Workers
	if expert < 2 || tensor%expert != 0 || w.MoETP != tensor || w.MoEEP != expert || w.TP*w.DP != tensor*expert {
		return
	}
	for _, ranks := range []*int{&w.TP, &w.DP} {
		if *ranks == tensor*expert {
			*ranks, w.MoETP = tensor, tensor/expert
			r.Corrected = c.ExpertsCountedTwice.Says
		}
	}
}

// asRun is the row as it must have run, and what was assumed for that. What a source
// says of the row's engine is kept as it is, except a limit that cannot be.
func (r *Row) asRun() (*Row, []string) {
	if r.Mode != disagg || r.Sides.Unknown {
		return r, nil
	}
	c := rules()
	out, ranks := *r, r.Decode.Count*r.Decode.DP
	var said []string
	if limit := r.onRank(r.MaxSequences, &r.Decode); limit > 0 && r.Concurrency > c.StrayLimit.RequestsPerSequence*limit*ranks {
		out.MaxSequences, out.GraphBatch, out.Sides.DecodeTokenBudget = 0, 0, 0
		said = append(said, c.StrayLimit.Says)
	}
	if r.givesSettings() {
		return &out, said
	}
	if r.Decode.DP > 1 && r.Concurrency <= c.TensorParallelDecode.RequestsPerRank*ranks {
		out.Decode.TP, out.Decode.DP = r.Decode.TP*r.Decode.DP, 1
		said = append(said, c.TensorParallelDecode.Says)
	}
	for _, w := range []*Workers{&out.Prefill, &out.Decode} {
		if slices.Contains(c.ExpertParallel.Engines, r.Engine) && w.DP > 1 && w.MoETP > 1 {
			w.MoEEP, w.MoETP = w.devices(), 1
			said = append(said, c.ExpertParallel.Says)
		}
	}
	return &out, said
}
