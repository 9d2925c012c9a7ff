package lint

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// add adds a finding of a rule with its usual severity, about a setting or something else that files say.
func (x *inspection) add(code, key, what, better string) *Finding {
	f := Finding{Code: code, Severity: RuleOf(code).Severity, Where: x.name(key), What: what, Better: better}
	x.out.Findings = append(x.out.Findings, f)
	return &x.out.Findings[len(x.out.Findings)-1]
}

// at puts a finding where the files set something for workers with a role.
func (x *inspection) at(f *Finding, role deployment.Role, key string) {
	for i := range x.found.Launches {
		l := &x.found.Launches[i]
		if place, ok := l.At(key); ok && l.Role == role {
			f.File, f.Line, f.Where, f.At = place.File, place.Line, cmp.Or(flagAt(place), f.Where), place
			return
		}
	}
	if len(x.found.Launches) > 0 && f.File == "" {
		f.File, f.Line = x.found.Launches[0].File, x.found.Launches[0].Line
	}
}

// first puts a finding where the first command that has a flag or a setting names it, and leaves open what is found there.
func (x *inspection) first(f *Finding, key string) {
	for i := range x.found.Launches {
		if place, ok := x.found.Launches[i].At(key); ok {
			f.File, f.Line = place.File, place.Line
			return
		}
	}
	x.at(f, "", "")
}

// within puts a finding where the files set something for workers with a role, whatever is written there.
func (x *inspection) within(f *Finding, role deployment.Role, key string) {
	where := f.Where
	x.at(f, role, key)
	f.Where = where
}

// flagAt is the flag as it is written, "" for a model without a flag.
func flagAt(p launch.Place) string {
	if strings.HasPrefix(p.Flag, "-") {
		return p.Flag
	}
	return ""
}

// once adds a finding that may be there already.
func (x *inspection) once(f Finding) {
	same := func(o Finding) bool {
		return o.Code == f.Code && o.File == f.File && o.Line == f.Line && o.Where == f.Where && o.What == f.What
	}
	if !slices.ContainsFunc(x.out.Findings, same) {
		x.out.Findings = append(x.out.Findings, f)
	}
}

// sort puts the worst findings first and counts the errors.
func (x *inspection) sort() {
	order := []Severity{SevereError, SevereWarning, SevereHint}
	sort.SliceStable(x.out.Findings, func(i, j int) bool {
		return slices.Index(order, x.out.Findings[i].Severity) < slices.Index(order, x.out.Findings[j].Severity)
	})
	for i := range x.out.Findings {
		if x.out.Findings[i].Severity == SevereError {
			x.out.Errors++
		}
	}
}

// name is the engine's own name of a setting.
func (x *inspection) name(key string) string { return launch.Name(x.engine, x.out.Version, key) }

// engineWord is the engine's own name of a request field.
func (x *inspection) engineWord(n field.Name) string {
	key := "layout." + strings.TrimSuffix(string(n), "_size")
	if name := x.name(key); name != key {
		return name
	}
	return string(n)
}

// setting puts the engine's name into a message that begins with the assignment of a setting.
func (x *inspection) setting(text string) string {
	rest, ok := strings.CutPrefix(text, `engine setting "`)
	assignment, rest, found := strings.Cut(rest, `": `)
	if !ok || !found {
		return text
	}
	key, _, _ := strings.Cut(assignment, "=")
	return x.name(key) + " " + rest
}

// flagIn is the first flag or key of a message.
func flagIn(text string) string {
	for word := range strings.FieldsSeq(text) {
		if strings.HasPrefix(word, "--") || strings.Contains(word, "_size") {
			return strings.TrimRight(word, ",.;:")
		}
	}
	return ""
}

// flags reports flags that the release does not know, and manifests that request another
// number of devices than the engine uses.
func (x *inspection) flags() {
	problems := x.found.Problems
	for i := range x.found.Launches {
		problems = append(problems, x.found.Launches[i].Lacks(x.out.Version)...)
	}
	for _, p := range problems {
		f := Finding{Code: codeOf(p.Kind), Severity: SevereError, File: p.File, Line: p.Line, Where: p.Flag, What: p.Text, Better: p.Nearest, Rename: p.Nearest}
		switch {
		case p.Named:
			f.Rename = ""
		case p.Gone && p.Nearest == "":
			f.Better, f.Remove = "without it", true
		}
		if p.Kind == launch.LackedFlag && !strings.HasPrefix(p.Flag, "-") {
			f.Code = "PL005"
		}
		if p.Unsure {
			f.Severity = SevereWarning
		}
		f.At = launch.Place{File: p.File, Line: p.Line, Flag: p.Flag, Words: p.Words}
		if p.Kind == launch.LostQuotes {
			f.At.Flag = strings.Trim(p.Nearest, "'")
		}
		x.once(f)
	}
	for i := range x.found.Launches {
		x.requested(&x.found.Launches[i])
	}
}

// drafts drops speculation by what is not known: MTP modules that the model lacks, heads and models that are in no catalog.
func (x *inspection) drafts() {
	m := x.stage.Model
	for i := range x.d.Pools {
		p := &x.d.Pools[i]
		what := ""
		switch {
		case p.MTP == 0, p.Drafter == draft.NGram, p.Drafter == "" && m.MTP.Layers > 0, p.Drafter == draft.EAGLE3 && draft.HeadOf(m) != nil:
			continue
		case p.Drafter == draft.EAGLE3:
			what = "no EAGLE-3 head of " + m.Name() + " is known; its drafts are not predicted"
		default:
			what = m.Name() + " has no MTP head; drafts of another model are not predicted"
		}
		x.at(x.add("PL037", "mtp.tokens", what, ""), p.Role, "mtp.tokens")
		p.MTP, p.Drafter = 0, ""
	}
	x.out.Deployment = x.d
}

// requested compares the devices a manifest requests with those of the layout, and the
// workers of a pool with each other: all are predicted as the first.
func (x *inspection) requested(l *launch.Launch) {
	own := l.Pool()
	place, _ := l.At("devices")
	f := Finding{File: l.File, Line: cmp.Or(place.Line, l.Line), Where: "devices", Better: fmt.Sprintf("%d devices", own.Layout.Devices), At: place}
	switch n := own.Layout.Devices; {
	case l.Requested == 0 || l.Requested == n || l.OpenLayout():
	case l.Requested < n:
		f.Code, f.Severity, f.What = "PL020", SevereError, fmt.Sprintf("requests %d devices, but the engine needs %d", l.Requested, n)
	default:
		f.Code, f.Severity, f.What = "PL021", SevereWarning, fmt.Sprintf("requests %d devices, but the engine uses %d: the others are idle", l.Requested, n)
	}
	if f.Severity != "" {
		x.once(f)
	}
	i := slices.IndexFunc(x.found.Launches, func(o launch.Launch) bool { return o.Role == l.Role && o.Engine == l.Engine && o.Model() == l.Model() })
	first := x.found.Launches[i].Pool()
	if first.Layout != own.Layout || !slices.Equal(first.Settings, own.Settings) {
		what := fmt.Sprintf("%s workers have different settings; the prediction uses those of the first for all", l.Role)
		x.once(Finding{Code: "PL014", Severity: SevereWarning, File: l.File, Line: l.Line, Where: "workers", What: what})
	}
}

// settings reports settings that conflict with the model, the requests or each other.
func (x *inspection) settings() {
	for i := range x.resolved.Pools {
		p := &x.resolved.Pools[i]
		x.length(p)
		x.dtype(p)
		x.budget(p)
		if p.Role != deployment.Prefill {
			x.graphs(p)
		}
	}
	x.cache()
}

// given reports whether the files set something.
func (x *inspection) given(p *deployment.Served, key string) bool {
	for i := range x.d.Pools {
		if x.d.Pools[i].Role == p.Role {
			return slices.ContainsFunc(x.d.Pools[i].Settings, func(s string) bool { return strings.HasPrefix(s, key+"=") })
		}
	}
	return false
}

// say renders a setting with the engine's own flag.
func (x *inspection) say(p *deployment.Served, key string, n int) string {
	return launch.Say(p, x.out.Version, key, strconv.Itoa(n))
}

// length compares the maximum length with the model, the requests and, if the engine checks it, the cache.
func (x *inspection) length(p *deployment.Served) {
	const key = "max_context"
	m, all, most := x.stage.Model, x.r.Input+x.r.Output, p.Engine.MaxContext
	reach := m.Context()
	longer := func(l launch.Launch) bool { return l.Longer() }
	if slices.ContainsFunc(x.found.Launches, longer) {
		reach = max(reach, most)
	}
	switch {
	case most > reach:
		x.set(x.add("PL024", key, fmt.Sprintf("%d tokens exceed the %d positions of %s", most, reach, m.Name()), ""), p, key, reach)
	case all > reach:
		x.at(x.add("PL024", key, fmt.Sprintf("requests of %d + %d tokens exceed the %d positions of %s", x.r.Input, x.r.Output, reach, m.Name()), ""), p.Role, key)
	case most > 0 && most < all:
		x.set(x.add("PL025", key, fmt.Sprintf("requests of %d + %d tokens exceed %d and are rejected", x.r.Input, x.r.Output, most), ""), p, key, all)
	}
	c := x.out.Capacity
	longest := cmp.Or(min(most, reach), m.MaxPosition)
	if most == 0 && x.given(p, key) {
		longest = 0 // vLLM's "auto": what the cache holds
	}
	if p.Engine.Server() == launch.VLLM && p.Role != deployment.Prefill && c.Memory.Tokens < longest {
		// vLLM checks this at start (v1/core/kv_cache_utils.py, check_enough_kv_cache_memory).
		what := fmt.Sprintf("the KV cache holds %d tokens, less than one request of %d: vLLM refuses to start", c.Memory.Tokens, longest)
		x.set(x.add("PL026", key, what, ""), p, key, max(1, c.Memory.Tokens))
	}
}

// dtype reports a format of 16-bit parts that the device does not compute in: the one that is given, or the checkpoint's where the release
// does not choose another by itself.
func (x *inspection) dtype(p *deployment.Served) {
	const key = "dtype"
	if !engine.HalfOnly(p.Device) {
		return
	}
	for i := range x.found.Launches {
		l := &x.found.Launches[i]
		word := l.DType()
		own := word == "" || word == "auto"
		refused := own && x.stage.Model.DType == dtype.BF16 && engine.AsksForHalf(p.Engine.Server(), x.out.Version)
		if l.Role != p.Role && !x.half || word != "bfloat16" && !refused {
			continue
		}
		f := x.add("PL029", key, p.Device.Name+" has no arithmetic in bf16", launch.Say(p, x.out.Version, key, engine.Half))
		if x.within(f, l.Role, key); word != "" {
			f.Words = []string{engine.Half}
		}
		return
	}
}

// budget compares the token budget with what must fit into a step.
func (x *inspection) budget(p *deployment.Served) {
	const key = "token_budget"
	e := p.Engine
	if p.Role != deployment.Decode && !e.ChunkedPrefill && e.TokenBudget < x.r.Input {
		x.set(x.add("PL031", key, fmt.Sprintf("a step takes %d tokens and prompts of %d are not split: they never run", e.TokenBudget, x.r.Input), ""), p, key, x.r.Input)
	}
	if need := e.MaxSequences * (1 + p.Spec.MTP); p.Role != deployment.Prefill && e.Server() != launch.SGLang && e.TokenBudget < need {
		x.set(x.add("PL030", key, fmt.Sprintf("%d tokens per step are less than a decode step of %d sequences needs, %d", e.TokenBudget, e.MaxSequences, need), ""), p, key, need)
	}
}

// graphs compares the captured batch sizes with the batch limit.
func (x *inspection) graphs(p *deployment.Served) {
	const key = "graph.max_batch"
	e := p.Engine
	where, better := x.graphWords(p, strconv.Itoa(e.MaxSequences))
	report := func(code string, severity Severity, format string, args ...any) {
		f := x.add(code, key, fmt.Sprintf(format, args...), better)
		f.Severity, f.Where = severity, where
		written := key
		if x.lists(p) {
			written = "graph.sizes"
		}
		x.within(f, p.Role, written)
		if code != "PL034" && f.At.Line > 0 {
			f.Words = x.graphSizes(p, written)
		}
	}
	reached := min(e.MaxSequences, x.out.Capacity.Held/x.out.Capacity.Ranks)
	switch most := e.Graph.MaxBatch; {
	case most == 0 && x.given(p, key):
		report("PL034", SevereWarning, "decode steps run without captured graphs: every step waits for the host")
	case most < reached && x.given(p, key):
		report("PL035", SevereWarning, "graphs are captured up to a batch of %d, below the limit of %d sequences: larger batches run without graphs", most, e.MaxSequences)
	case most > 0 && most < reached && x.given(p, "max_sequences"):
		report("PL035", SevereHint, "by default graphs are captured up to a batch of %d, below the limit of %d sequences: larger batches run without graphs", most, e.MaxSequences)
	case most > e.MaxSequences && e.Graph.EagerPrefill && x.given(p, key):
		report("PL036", SevereHint, "graphs are captured up to a batch of %d, above the limit of %d sequences: the largest use memory but never run", most, e.MaxSequences)
	}
}

// graphSizes are the values that let the flag of captured graphs reach the batch limit.
func (x *inspection) graphSizes(p *deployment.Served, key string) []string {
	by := 1
	if p.Engine.Server() == launch.VLLM {
		by = 1 + p.Spec.MTP // sizes count tokens
	}
	if key != "graph.sizes" {
		return []string{strconv.Itoa(p.Engine.MaxSequences * by)}
	}
	var out []string
	for _, n := range engine.GraphSizes(p.Engine.MaxSequences) {
		out = append(out, strconv.Itoa(n*by))
	}
	return out
}

// lists reports whether the files list the captured batches of a pool.
func (x *inspection) lists(p *deployment.Served) bool {
	return slices.ContainsFunc(x.found.Launches, func(l launch.Launch) bool { return l.Role == p.Role && l.Given("graph.sizes") })
}

// set puts a finding where a setting is, and says its better value.
func (x *inspection) set(f *Finding, p *deployment.Served, key string, n int) {
	f.Better = x.say(p, key, n)
	x.within(f, p.Role, key)
	if x.given(p, key) {
		f.Words = []string{launch.Value(p, key, strconv.Itoa(n))}
	}
}

// graphWords is the engine's name for captured batches and how to set their maximum: by a
// list if the files have one, since engines reject two limits that differ.
func (x *inspection) graphWords(p *deployment.Served, most string) (name, words string) {
	const list = "graph.sizes"
	if p.Engine.Graph.MaxBatch == 0 {
		name = launch.Say(p, x.out.Version, "graph.max_batch", "0")
		return name, "without " + name
	}
	if x.lists(p) {
		name = x.name(list)
		return name, name + " up to " + most
	}
	return x.name("graph.max_batch"), launch.Say(p, x.out.Version, "graph.max_batch", most)
}

// cache compares the KV cache with the batch limit.
func (x *inspection) cache() {
	const key = "max_sequences"
	c, p := x.out.Capacity, x.resolved.Generates()
	all := x.r.Input + x.r.Output
	held, limit := c.Held/c.Ranks, p.Engine.MaxSequences
	switch {
	case held == 0:
		x.at(x.add("PL027", "memory_share", fmt.Sprintf("the KV cache holds %d tokens, less than one request of %d", c.Memory.Tokens, all), ""), p.Role, "memory_share")
	case held < limit && (p.Engine.Reserve >= 1 || x.planned(limit)): // what has room to its end alone starts, the others wait
	case held < limit && x.given(p, key):
		what := fmt.Sprintf("the KV cache holds %d requests of %d tokens, fewer than the batch limit of %d: running requests may be preempted", held, all, limit)
		x.set(x.add("PL032", key, what, ""), p, key, held)
	case held < limit:
		f := x.add("PL032", key, fmt.Sprintf("the default of %d sequences is more than the %d requests of %d tokens that the KV cache holds", limit, held, all), "")
		f.Severity = SevereHint
		x.set(f, p, key, held)
	case held >= farBelow*limit && x.given(p, key) && !x.r.Limits.Any() && x.r.Concurrency == 0 && x.found.Copies == 0: // files of a plan have its batch
		what := fmt.Sprintf("the KV cache holds %d requests of %d tokens, and only %d may run: others wait", held, all, limit)
		x.at(x.add("PL033", key, what, ""), p.Role, key)
	}
	if n := x.r.Concurrency; n > c.Safe && c.Safe > 0 {
		x.add("PL040", "concurrency", fmt.Sprintf("%d requests in flight are more than the %d that can run together: the others wait or are preempted", n, c.Safe), "")
	}
}

// planned reports that a batch limit above what the cache holds is a plan's: it was simulated with these requests, which are on average
// halfway through their output, share what their prompts begin with, and are in part with the workers for prefill.
func (x *inspection) planned(limit int) bool {
	f := x.found
	return f.Copies > 0 && x.r.Input == f.Input && x.r.Output == f.Output && limit == f.Batch
}

// farBelow is how many times the batch limit the cache holds before lint says so. It is a choice: engines' defaults are
// a few times what most caches hold, and a limit of a quarter was set by hand.
const farBelow = 4

// limits reports missed limits, and the concurrency that meets them.
func (x *inspection) limits(ctx context.Context) error {
	s := x.out.Prediction
	if met(s) {
		if s.Judged.Chance != nil && *s.Judged.Chance < calibration.LowChance {
			x.add("PL042", "limits", fmt.Sprintf("the means meet the limits with a probability of only %.0f %%", 100**s.Judged.Chance), "")
		}
		return nil
	}
	most, _, err := x.most(ctx, &x.d, s.Request.Concurrency)
	if err != nil {
		return err
	}
	better := "no concurrency meets them"
	if most > 0 {
		better = fmt.Sprintf("at most %d in flight: %s", most, x.say(x.resolved.Generates(), "max_sequences", max(1, most/x.out.Capacity.Ranks)))
	}
	for _, v := range []struct {
		what      string
		is, limit units.Seconds
	}{{"TTFT", s.Result.TTFT.Mean, x.r.Limits.TTFT}, {"TPOT", s.Result.TPOT.Mean, x.r.Limits.TPOT}} {
		if v.limit > 0 && v.is > v.limit {
			x.add("PL041", v.what+" limit", fmt.Sprintf("%s of %s exceeds the limit of %s at %d requests in flight", v.what, v.is, v.limit, s.Request.Concurrency), better)
		}
	}
	return nil
}

// met reports whether the means of a simulation are within its limits.
func met(s *simulate.Response) bool {
	j := search.Judge{Limits: s.Request.Limits.Finite()}
	return j.Misses(s.Result.Times(0), nil) == search.Fits
}

// most is the highest concurrency up to a bound at which a deployment meets the limits,
// 0 if there is none. Latency grows with concurrency except for small waves, so
// bisection finds it, or one near it.
func (x *inspection) most(ctx context.Context, d *deployment.Deployment, bound int) (int, *simulate.Response, error) {
	var best *simulate.Response
	low, high := 0, bound+1
	for try := bound; high-low > 1; try = (low + high) / 2 {
		q := x.request(d, try)
		s, err := simulate.On(ctx, x.world, x.stage, &q)
		if err != nil {
			return 0, nil, err
		}
		if met(s) {
			low, best = try, s
		} else {
			high = try
		}
	}
	return low, best, nil
}
