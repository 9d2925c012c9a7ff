package optimize

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/ask"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Form is a request as it is typed in the words of the Ascend guide.
type Form struct {
	// Distribution of prompts, by its file.
	Distribution *workload.Distribution

	request Request
	length  length
	budget  budget
	draft   typedDraft
	// multistream is a compiler pass of the guide that searches do not have.
	multistream bool
	table       *ask.Table
}

// length is a prompt length, or the file of a distribution.
type length struct {
	tokens int
	file   string
}

// budget is the tokens of a step: a number, or as many as the prompts suggest.
type budget struct {
	tokens int
	auto   bool
}

// typedDraft is a draft model in the words of the guide.
type typedDraft struct {
	Method   string
	Tokens   int     `minimum:"0" maximum:"1024"` // 0 = 7
	Accepted float64 `minimum:"0"`
	Layers   int     `minimum:"0" maximum:"1024"` // 0 = 6
}

// The guide's draft model: a block of eight tokens, six layers, five accepted.
const (
	defaultBlock    = 8
	defaultLayers   = 6
	defaultAccepted = 5
)

// NewForm is a form with the defaults of the command line.
func NewForm() *Form {
	f := &Form{}
	f.table = ask.New(&f.request, &f.draft)
	f.askQuestion(f.table)
	f.askModel(f.table)
	f.askDraft(f.table)
	f.askService(f.table)
	f.askEvaluation(f.table)
	f.askRest(f.table)
	return f
}

func (f *Form) askQuestion(t *ask.Table) {
	r := &f.request
	t.Argument(&r.Model)
	t.In("Options")
	ask.One(t, &f.length, "input-length", lengthType(), "prompt `length` in tokens, or a file of lengths")
	ask.One(t, &f.Distribution, "length-distribution", session.LengthFile(),
		"distribution of prompt lengths: a `file` (YAML bins, CSV or trace); without a value the built-in one").Optional(workload.BuiltinFile)
	ask.One(t, &r.Output, "output-length", ask.Whole, "output length in tokens")
	ask.List(t, &r.AcceptanceRates, "mtp-acceptance-rates", ask.Number, "acceptance rate of each draft token (default by model; 0.9 0.6 0.4 0.2 on Ascend)")
	t.In("General options")
	r.Devices, r.NumDevices, r.Jobs = []string{step.DefaultDevice}, 1, session.DefaultJobs
	ask.List(t, &r.Devices, "device", ask.Text, "device profiles (plimsoll devices lists them); several are compared").Always()
	session.AskDeviceFile(t, &r.DeviceFile)
	session.AskPerfData(t, &r.PerfData)
	ask.One(t, &r.NumDevices, "num-devices", ask.Whole, "devices per profile").Always()
	ask.Maybe(t, &r.ReservedGiB, "reserved-memory-gb", ask.Number, "memory reserved on each device, in GiB (default 10 on Ascend, otherwise the engine's)")
}

func (f *Form) askModel(t *ask.Table) {
	r, s := &f.request, &f.request.Space
	t.In("Model & quantization options")
	session.AskFamily(t, &r.AsFamily)
	session.AskModelling(t, &r.Modelling, ask.Mark{Word: "enable_multistream", On: &f.multistream})
	ask.List(t, &s.MTP, "num-mtp-tokens", ask.Whole, "draft tokens per step (MTP); several values are searched")
	session.AskFormats(t, &r.Formats)
	session.AskExpertFormats(t, &r.Formats)
	ask.AnyList(t, &s.TP, "tp-sizes", ask.Whole, "TP sizes to search; without values every power of two")
	ask.AnyList(t, &s.EP, "ep-sizes", ask.Whole, "EP sizes to search")
	ask.AnyList(t, &s.MoEDP, "moe-dp-sizes", ask.Whole, "MoE-DP sizes to search")
	ask.AnyList(t, &s.PP, "pp-sizes", ask.Whole, "PP sizes to search")
	ask.AnyList(t, &s.DCP, "dcp-sizes", ask.Whole, "decode context parallelism (DCP) sizes to search")
	session.AskSharding(t, &r.Modelling)
}

func (f *Form) askDraft(t *ask.Table) {
	t.In("Draft model options")
	ask.One(t, &f.draft.Method, "speculative-method", ask.OneOf("dflash", "dspark"), "speculative decoding with a draft model: dflash or dspark")
	ask.One(t, &f.draft.Tokens, "num-speculative-tokens", ask.Whole, "draft tokens per step (default 7)")
	f.draft.Accepted = defaultAccepted
	ask.One(t, &f.draft.Accepted, "acceptance-length", ask.Number, "mean number of accepted tokens per step")
	ask.One(t, &f.draft.Layers, "num-draft-layers", ask.Whole, "layers of the draft model (default 6)")
}

func (f *Form) askService(t *ask.Table) {
	r := &f.request
	t.In("Service options")
	ask.One(t, &r.Limits.TTFT, "ttft-limit", ask.Limit, "maximum TTFT in `ms` (default none)")
	ask.One(t, &r.Limits.Latency, "request-latency", ask.Limit, "maximum latency of a whole request in `ms` (default none)")
	ask.One(t, &r.Limits.TPOT, "tpot-limit", ask.Limit, "maximum TPOT in `ms` (default none)")
	ask.One(t, &f.budget, "max-batched-tokens", budgetType(), "maximum `tokens` per step and DP rank, or auto (4, 2 or 1 prompts)")
	ask.One(t, &r.PrefixHitRate, "prefix-cache-hit-rate", ask.Number, "share of a prompt found in the prefix cache, at least 0 and below 1")
	ask.List(t, &r.BatchRange, "batch-range", ask.Whole, "batch sizes per DP rank: max, or min max")
	ask.One(t, &r.ServingCost, "serving-cost", ask.Milliseconds, "`ms` added to each disaggregated phase")
	ask.Switch(t, &r.Disagg, "disagg", "search prefill (--ttft-limit) and decode (--tpot-limit) separately")
	ask.One(t, &r.Accounting, "accounting", ask.OneOf(formulas.Documented, formulas.Steady), "formulas for throughput: documented or steady")
	ask.One(t, &r.Jobs, "jobs", ask.Whole, "parallel workers").Short("j")
}

func (f *Form) askEvaluation(t *ask.Table) {
	r := &f.request
	t.In("Evaluation")
	ask.One(t, &r.Evaluate, "evaluate", ask.OneOf(ByFormulas, BySimulation), "simulation of whole deployments under an engine (default on GPUs), or the guide's formulas (default otherwise)")
	session.AskEngine(t, &r.Engine, "serving engine for simulation (default "+simulate.DefaultEngine+")")
	r.LengthLow, r.Confidence = 1, search.DefaultConfidence
	ask.One(t, &r.LengthLow, "length-ratio-low", ask.Number, "shortest simulated length as a share of the longest; lengths are uniform in between")
	ask.One(t, &r.Confidence, "confidence", ask.Number, "minimum probability of meeting the limits, for simulated rows")
}

func (f *Form) askRest(t *ask.Table) {
	r := &f.request
	t.In("PD ratio options")
	ask.Switch(t, &r.PDRatio, "enable-optimize-prefill-decode-ratio", "match prefill and decode instances")
	ask.One(t, &r.PrefillDevices, "prefill-devices-per-instance", ask.Whole, "devices per prefill instance")
	ask.One(t, &r.DecodeDevices, "decode-devices-per-instance", ask.Whole, "devices per decode instance")
	t.In("Multimodal options")
	session.AskImages(t, &r.ImageBatch, &r.ImageHeight, &r.ImageWidth)
	t.In("Output")
	session.AskCalibration(t, &r.Calibration, "80 % intervals")
	ask.One(t, &r.Price, "price", ask.Number, "price of a device per hour, in `USD` (default the profile's list price)")
	ask.Switch(t, &r.Explain, "explain", "explain the best row")
}

func lengthType() ask.Type[length] {
	return ask.Type[length]{
		Name: ask.Text.Name,
		Read: func(word string) (length, error) {
			switch n, err := strconv.Atoi(word); {
			case word == "":
				return length{}, errors.New("want a positive whole number or a file of lengths")
			case errors.Is(err, strconv.ErrRange):
				return length{}, errors.New("out of range")
			case err == nil && n < 1:
				return length{}, errors.New("must be positive")
			case err == nil:
				return length{tokens: n}, nil
			}
			return length{file: word}, nil
		},
		Write: func(l length) string {
			if l.tokens > 0 {
				return strconv.Itoa(l.tokens)
			}
			return l.file
		},
	}
}

func budgetType() ask.Type[budget] {
	return ask.Type[budget]{
		Name: ask.Text.Name,
		Read: func(word string) (budget, error) {
			if strings.EqualFold(word, session.Auto) {
				return budget{auto: true}, nil
			}
			n, err := nargs.Int(word)
			if err != nil || n < 1 {
				return budget{}, errors.New("want a positive whole number, or auto")
			}
			return budget{tokens: n}, nil
		},
		Write: func(b budget) string {
			switch {
			case b.auto:
				return session.Auto
			case b.tokens == 0:
				return ""
			}
			return strconv.Itoa(b.tokens)
		},
	}
}

// Table is the fields of the form.
func (f *Form) Table() *ask.Table { return f.table }

// Multistream reports whether the guide's pass was typed that has no effect here.
func (f *Form) Multistream() bool { return f.multistream }

// Explain makes explanations the default.
func (f *Form) Explain() { f.request.Explain = true }

// Say fills the form with a request.
func (f *Form) Say(request *Request) {
	r, q := &f.request, *request
	q.complete()
	*r, r.Jobs = q, session.DefaultJobs // which no answer depends on
	if r.Devices == nil {
		r.Devices = []string{}
	}
	f.Distribution, f.length, f.budget = q.Distribution, length{tokens: q.Input}, budget{q.Budget, q.AutoBudget}
	if r.Engine.Name == simulate.DefaultEngine && r.Engine.Version == "" && r.Engine.Preset == "" && r.Engine.Settings == nil {
		r.Engine.Name = ""
	}
	if math.IsInf(float64(r.ServingCost), 1) {
		r.ServingCost = 0
	}
	if d := q.Draft; d.Method != "" {
		f.draft = typedDraft{d.Method, d.Block - 1, d.Accepted, d.Layers}
	}
}

// Ask is the request that was typed. The distribution of a file is not read here.
func (f *Form) Ask() (Request, error) {
	t, r := f.table, f.request
	r.Input, r.Distribution = f.length.tokens, f.Distribution
	if f.length.file != "" {
		r.Distribution = workload.Named(f.length.file)
	}
	if r.DeviceFile != "" && !t.Given("device") {
		r.Devices = nil
	}
	r.Budget, r.AutoBudget = f.budget.tokens, f.budget.auto
	errs := []error{t.Check()}
	if t.Given("input-length") && t.Given("length-distribution") {
		errs = append(errs, ask.Excludes(inputLength, lengthDistribution))
	}
	if !t.Given("output-length") {
		errs = append(errs, field.Errorf("%s is required", outputLength))
	}
	if r.Draft.Method = f.draft.Method; f.draft.Method == "" {
		if name := t.First("num-speculative-tokens", "acceptance-length", "num-draft-layers"); name != "" {
			errs = append(errs, ask.Needs(name, "speculative_method"))
		}
		return r, errors.Join(errs...)
	}
	r.Draft = f.draft.draft()
	return r, errors.Join(errs...)
}

// draft is the draft that was typed; at most as many tokens are accepted as are proposed.
func (d *typedDraft) draft() Draft {
	out := Draft{Method: d.Method, Block: defaultBlock, Layers: cmp.Or(d.Layers, defaultLayers)}
	if d.Tokens > 0 {
		out.Block = d.Tokens + 1
	}
	most := float64(out.Block - 1)
	if d.Method == "dspark" {
		most = float64(out.Block)
	}
	out.Accepted = max(0, min(d.Accepted, most))
	return out
}

// CommandLine asks for the request; "" where flags cannot.
func (r *Request) CommandLine() string {
	return ask.Line("plimsoll throughput-optimizer", func() ask.Form[Request] { return NewForm() }, compared, r)
}

// compared is a request as command lines compare it: with its defaults, and files by their names.
func compared(r Request) any {
	r.complete()
	name := session.LengthFile().Write(r.Distribution)
	r.Distribution = session.FileOf(r.Distribution)
	r.Formats.MXFP4Group = cmp.Or(r.Formats.MXFP4Group, graph.DefaultMXFP4Group)
	r.Traces = false // of files, which are asked for beside
	return struct {
		File    string
		Request Request
	}{name, r}
}
