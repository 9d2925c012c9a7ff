package launch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Values are the settings that the engines of a pool are started with. Every target
// writes these and nothing else.
type Values struct {
	Role    deployment.Role
	Engine  string // the program; Port is its port to these devices
	Version string
	Model   string
	// Checkpoint is a conversion of the model that the engine makes while loading:
	// "fp8"; "" is none.
	Checkpoint string
	// Slim is how ModelSlim, Ascend's tool, must have quantized the checkpoint; "" where it need not.
	Slim   string
	Stored units.Bytes // of the model on disk

	// Layout is complete; Experts says whether the model has any.
	Layout  parallel.Layout
	Experts bool

	Batch          int // most sequences on a rank
	TokenBudget    int
	MemoryShare    float64
	MaxLength      int    // of a request: prompt and output
	KV             string // format of the cache: "fp8", or "auto" for the model's own
	ChunkedPrefill bool
	PrefixCaching  bool
	Graphs         []int // batch sizes to capture, ascending; none = no graphs
	OwnGraphs      bool  // the engine chooses them, up to a limit of its own or one among Extras
	NarrowReduce   bool  // large all-reduces are sent in few bits
	MTP            int   // draft tokens of a step
	// Drafter drafts them; "" is the model's own MTP modules. Head is the EAGLE-3 head that does.
	Drafter draft.Method
	Head    string
	// HostGiB is host memory for KV blocks that the devices of a worker evict.
	HostGiB float64
	// Extras are other settings of the plan that the engine has a name for, as "key=value" in
	// the order of the engine's settings.
	Extras []string
	// ModelOnly are settings of the plan that only affect the prediction: the engine has no
	// name for them.
	ModelOnly []string

	Device  *device.Profile
	Devices int // of a worker
	Workers int // in all copies
	Nodes   int // of a worker
	PerNode int // devices of a worker on each of its nodes

	profile *engine.Profile
	written native // the values in the engine's own terms, once check has accepted them
}

// Port is the engine itself: a port of the program, or the program's own name.
func (v *Values) Port() string { return v.profile.Name }

// Values derives the settings of the engines of each pool.
func (p *Plan) Values() ([]Values, error) {
	if p.Resolved == nil || len(p.Resolved.Pools) != len(p.Deployment.Pools) {
		return nil, errors.New("a plan needs its deployment resolved")
	}
	var out []Values
	var errs []error
	for i := range p.Resolved.Pools {
		v, err := p.pool(i)
		if err != nil && p.Resolved.Disaggregated() {
			err = fmt.Errorf("%s workers: %w", v.Role, err)
		}
		out, errs = append(out, v), append(errs, err)
	}
	return out, errors.Join(errs...)
}

// reducesNarrow reports whether a pool has all-reduces that are sent in few bits.
func reducesNarrow(s *deployment.Served) bool {
	return s.Spec.Layout.TP > 1 && s.Spec.ReducedAllReduce[0].Share > 0
}

// pool derives the values of a pool.
func (p *Plan) pool(i int) (Values, error) {
	s, asked := &p.Resolved.Pools[i], &p.Deployment.Pools[i]
	e := s.Engine
	if e == nil {
		return Values{Role: s.Role}, errors.New("files need an engine; the deployment has none")
	}
	v := Values{
		Role: s.Role, Engine: e.Server(), Version: cmp.Or(p.Deployment.Engine.Version, engine.Upto(e.Name, e.Known)),
		Stored: stored(p.Resolved.Model), Device: s.Device,
		Layout: s.Spec.Layout, Experts: p.Resolved.Model.HasExperts(),
		Batch: e.MaxSequences, TokenBudget: e.TokenBudget, MemoryShare: e.MemoryShare,
		MaxLength: cmp.Or(e.MaxContext, p.length()), KV: kvWord(s.Spec.Quant.KV),
		ChunkedPrefill: e.ChunkedPrefill, PrefixCaching: e.PrefixCaching, MTP: s.Spec.MTP, NarrowReduce: reducesNarrow(s),
		Workers: s.Replicas * p.Units(), HostGiB: p.Deployment.Host.GiB, profile: e,
	}
	load := p.Load(i)
	v.Model, v.Checkpoint, v.Slim = load.Model, load.Formats.Checkpoint, slimmed(s)
	v.drafts(s, p.Resolved.Model)
	if i < len(p.Batch) && p.Batch[i] > 0 {
		v.Batch = p.Batch[i]
	}
	if v.wholePrompts() && e.MaxContext == 0 {
		v.MaxLength = max(p.longest(), min(v.MaxLength, v.TokenBudget))
	}
	switch g := &e.Graph; {
	case g.MaxBatch == 0:
	case g.EagerPrefill: // larger graphs are never replayed
		v.Graphs = engine.GraphSizes(min(g.MaxBatch, v.Batch))
	case g.Given && (v.Option("graph.max_batch") == "" || v.MTP > 0): // the flag counts drafted tokens
		v.Graphs = engine.GraphSizes(g.MaxBatch)
	default:
		v.OwnGraphs = true
	}
	v.split()
	v.Extras, v.ModelOnly = v.extras(slices.Concat(p.assumed(s.Role), p.Deployment.Engine.Settings, asked.Settings))
	v.Devices = v.Layout.Devices
	if most := p.reach(); most > 0 && p.longest() > most {
		return v, fmt.Errorf("requests of %d tokens are longer than the maximum of %d of %s", p.longest(), most, p.Resolved.Model.Name())
	}
	return v, errors.Join(v.place(s.Device.Node), v.check(max(p.Prompt, p.Input)))
}

// slimmed is how ModelSlim must have quantized the checkpoint of a pool on Ascend's devices, "" where it need not.
func slimmed(s *deployment.Served) string {
	if a := s.Spec.Quant.Attention; s.Device.Vendor == device.Ascend && a.Quantized() {
		return string(a.Action)
	}
	return ""
}

// Load is what a pool loads.
func (p *Plan) Load(i int) Load {
	out := Load{p.Deployment.Model, p.Deployment.Formats}
	if own := p.Deployment.Pools[i].Formats; own != (deployment.Formats{}) {
		out.Formats = own
	}
	if p.Loads != nil {
		out = p.Loads[i]
	}
	out.Model = cmp.Or(p.Site.ModelPath, out.Model)
	return out
}

// stored is the size of a checkpoint: the weights, and MTP modules in the format of most of them.
func stored(m *model.Model) units.Bytes {
	most := m.Quant.Dense
	if m.HasExperts() {
		most = m.Quant.Experts
	}
	return m.WeightBytes(m.Quant) + most.WeightBytes(m.Parameters().MTP, 1)
}

// assumed are the settings that a preset gives workers with a role.
func (p *Plan) assumed(role deployment.Role) []string {
	var out []string
	for _, a := range p.Resolved.Assumed {
		if a.Role == role && a.Value != "" {
			out = append(out, a.Key+"="+a.Value)
		}
	}
	return out
}

// length is the longest request to serve: prompt, output, and room for a chat template, up
// to the maximum of the model. Without that room a server refuses the predicted requests.
func (p *Plan) length() int {
	all := p.longest()
	if most := p.reach(); most > 0 {
		return max(all, min(all+ChatTemplate, most))
	}
	return all + ChatTemplate
}

// ChatTemplate is room for the tokens that a chat template adds to a prompt.
const ChatTemplate = 256

// longest is the most tokens of a request.
func (p *Plan) longest() int { return max(p.Longest, p.Input+p.Output) }

// reach is the longest sequence of the model, 0 if its config does not give it.
func (p *Plan) reach() int {
	m := p.Resolved.Model
	return max(m.MaxPosition, m.ScaledPosition)
}

// kvWord is the format of a KV cache as Values name it.
func kvWord(f dtype.Format) string {
	if f == dtype.FP8 || f == dtype.INT8 {
		return f.String()
	}
	return "auto"
}

// split turns data-parallel ranks that share nothing into workers, for engines whose servers
// have one rank.
func (v *Values) split() {
	l := &v.Layout
	alone := !v.Experts || l.MoEDP == l.DP
	if l.DP == 1 || !alone || v.Engine != TRTLLM {
		return
	}
	v.Workers *= l.DP
	v.HostGiB /= float64(l.DP)
	l.Devices /= l.DP
	l.DP, l.MoEDP = 1, 1
}

// place finds the nodes of a worker.
func (v *Values) place(node int) error {
	node = max(1, node)
	v.Nodes = (v.Devices + node - 1) / node
	v.PerNode = v.Devices / v.Nodes
	if v.PerNode*v.Nodes != v.Devices {
		return fmt.Errorf("%d devices cannot be spread evenly over %d nodes of %d", v.Devices, v.Nodes, node)
	}
	return nil
}

// drafts takes what drafts the tokens of a pool.
func (v *Values) drafts(s *deployment.Served, m *model.Model) {
	if v.MTP > 0 {
		v.Drafter = s.Spec.Drafter.Method
	}
	if h := draft.HeadOf(m); h != nil && v.Drafter == draft.EAGLE3 {
		v.Head = h.Name
	}
}

// wholePrompts reports whether the engine refuses to start if its longest request
// does not fit a step (vllm/config/scheduler.py).
func (v *Values) wholePrompts() bool { return v.Engine == VLLM && !v.ChunkedPrefill }

// check reports values that the engine would refuse or could not serve.
func (v *Values) check(prompt int) error {
	var errs []error
	if v.KV == dtype.INT8.String() && v.Engine != MindIE {
		errs = append(errs, fmt.Errorf("%s has no KV cache in int8", v.Engine))
	}
	if need := v.Batch * (1 + v.MTP); v.TokenBudget < need && v.Role != deployment.Prefill && v.Engine != SGLang {
		errs = append(errs, fmt.Errorf("token_budget %d is less than the %d tokens of a decode step: %d sequences with %d drafts each", v.TokenBudget, need, v.Batch, v.MTP))
	}
	if v.Role != deployment.Decode && !v.ChunkedPrefill && v.TokenBudget < prompt {
		errs = append(errs, fmt.Errorf("token_budget %d is less than a prompt of %d tokens, and chunked_prefill is off", v.TokenBudget, prompt))
	}
	if v.wholePrompts() && v.TokenBudget < v.MaxLength {
		errs = append(errs, fmt.Errorf("token_budget %d is less than the longest request of %d tokens, and chunked_prefill is off", v.TokenBudget, v.MaxLength))
	}
	t, err := v.native()
	if err == nil {
		v.written, err = t, v.unnamed(&t)
	}
	return errors.Join(append(errs, err)...)
}

// unnamed reports a setting that the release has no name for, and another has. Graphs are then the engine's own, and what
// is off by default needs no name.
func (v *Values) unnamed(t *native) error {
	for _, p := range t.params(v.Engine) {
		names := v.profile.OptionNames(p.key)
		if v.Option(p.key) != "" || len(names) == 0 || strings.HasPrefix(p.key, "graph.") {
			continue
		}
		switch said := words(p.at); {
		case len(said) == 0, said[0] == "false", said[0] == "auto", said[0] == "1" && strings.HasPrefix(p.key, "layout."):
		default:
			return fmt.Errorf("%s %s has no %s; %s", v.Engine, v.Version, names[0], v.whichHave(names[0]))
		}
	}
	return nil
}

// whichHave says which releases have a flag or key that the values' has not.
func (v *Values) whichHave(name string) string {
	out := "another release has"
	for _, r := range slices.Concat(engine.Spans(v.Engine, name), engine.Spans(v.Engine+"-keys", name)) {
		if version.Compare(v.Version, r.Since) < 0 {
			return r.Since + " and later have it"
		}
		out = "releases before " + r.Until + " have it"
	}
	return out
}

// derived are settings that Values have fields for.
func derived() []string {
	return []string{"max_sequences", "token_budget", "memory_share", "max_context", "kv_format", "chunked_prefill", "prefix_caching", "graph.max_batch", "mtp.tokens"}
}

// extras divides the requested settings without a field here into those that the engine
// has a name for and others. SGLang's --schedule-conservativeness scales its reserve
// instead of setting it, so SGLang has no name for a reserve.
func (v *Values) extras(asked []string) (extras, modelOnly []string) {
	named := map[string]string{}
	for _, s := range v.profile.Settings() {
		if v.profile.Option(s.Key, v.Version) != "" && (s.Key != "reserve" || v.Engine != SGLang) {
			named[s.Key] = s.Value
		}
	}
	for _, a := range asked {
		key, value, _ := strings.Cut(a, "=")
		key = strings.ReplaceAll(strings.TrimSpace(key), "-", "_")
		settled, ok := named[key]
		switch {
		case slices.Contains(derived(), key) && (!v.OwnGraphs || key != "graph.max_batch"):
		case !ok:
			modelOnly = append(modelOnly, key+"="+strings.TrimSpace(value))
		case !slices.Contains(extras, key+"="+settled):
			extras = append(extras, key+"="+settled)
		}
	}
	// In the order of the engine's settings, as they are read.
	order := func(a string) int {
		key, _, _ := strings.Cut(a, "=")
		return slices.IndexFunc(v.profile.Settings(), func(s engine.Setting) bool { return s.Key == key })
	}
	slices.SortFunc(extras, func(a, b string) int { return order(a) - order(b) })
	return extras, modelOnly
}

// BlockTokens is the size of a block of the KV cache.
func (v *Values) BlockTokens() int { return v.profile.BlockTokens }
