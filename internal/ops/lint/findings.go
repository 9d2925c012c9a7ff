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
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/formulas"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// add adds a finding.
func (x *inspection) add(s Severity, where, what, better string) {
	x.out.Findings = append(x.out.Findings, Finding{Severity: s, Where: where, What: what, Better: better})
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
func (x *inspection) name(key string) string { return launch.Name(x.stage.Engine, x.out.Version, key) }

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
		for _, p := range x.found.Launches[i].Lacks(x.out.Version) {
			if !slices.Contains(problems, p) {
				problems = append(problems, p)
			}
		}
	}
	for _, p := range problems {
		f := Finding{Severity: SevereError, File: p.File, Where: p.Flag, What: p.Text, Better: p.Nearest}
		if p.Unsure {
			f.Severity = SevereWarning
		}
		if !slices.Contains(x.out.Findings, f) {
			x.out.Findings = append(x.out.Findings, f)
		}
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
		switch {
		case p.MTP == 0, p.Drafter == draft.NGram, p.Drafter == "" && m.MTP.Layers > 0, p.Drafter == draft.EAGLE3 && draft.HeadOf(m) != nil:
			continue
		case p.Drafter == draft.EAGLE3:
			x.add(SevereWarning, x.name("mtp.tokens"), "no EAGLE-3 head of "+m.Name()+" is known; its drafts are not predicted", "")
		default:
			x.add(SevereWarning, x.name("mtp.tokens"), m.Name()+" has no MTP head; drafts of another model are not predicted", "")
		}
		p.MTP, p.Drafter = 0, ""
	}
	x.out.Deployment = x.d
}

// requested compares the devices a manifest requests with those of the layout, and the
// workers of a pool with each other: all are predicted as the first.
func (x *inspection) requested(l *launch.Launch) {
	own := l.Pool()
	f := Finding{File: l.File, Where: "devices", Better: fmt.Sprintf("%d devices", own.Layout.Devices)}
	switch n := own.Layout.Devices; {
	case l.Requested == 0 || l.Requested == n:
	case l.Requested < n:
		f.Severity, f.What = SevereError, fmt.Sprintf("requests %d devices, but the engine needs %d", l.Requested, n)
	default:
		f.Severity, f.What = SevereWarning, fmt.Sprintf("requests %d devices, but the engine uses %d: the others are idle", l.Requested, n)
	}
	if f.Severity != "" && !slices.Contains(x.out.Findings, f) {
		x.out.Findings = append(x.out.Findings, f)
	}
	i := slices.IndexFunc(x.found.Launches, func(o launch.Launch) bool { return o.Role == l.Role })
	first := x.found.Launches[i].Pool()
	if first.Layout != own.Layout || !slices.Equal(first.Settings, own.Settings) {
		f = Finding{SevereWarning, l.File, "workers", fmt.Sprintf("%s workers have different settings; all are predicted as the first", l.Role), ""}
		if !slices.Contains(x.out.Findings, f) {
			x.out.Findings = append(x.out.Findings, f)
		}
	}
}

// settings reports settings that conflict with the model, the requests or each other.
func (x *inspection) settings() {
	for i := range x.resolved.Pools {
		p := &x.resolved.Pools[i]
		x.length(p)
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
	switch {
	case most > reach:
		x.add(SevereError, x.name(key), fmt.Sprintf("%d tokens exceed the %d positions of %s", most, reach, m.Name()), x.say(p, key, reach))
	case all > reach:
		x.add(SevereError, x.name(key), fmt.Sprintf("requests of %d + %d tokens exceed the %d positions of %s", x.r.Input, x.r.Output, reach, m.Name()), "")
	case most > 0 && most < all:
		x.add(SevereError, x.name(key), fmt.Sprintf("requests of %d + %d tokens exceed %d and are rejected", x.r.Input, x.r.Output, most), x.say(p, key, all))
	}
	c := x.out.Capacity
	longest := cmp.Or(min(most, reach), m.MaxPosition)
	if most == 0 && x.given(p, key) {
		longest = 0 // vLLM's "auto": what the cache holds
	}
	if p.Engine.Name == "vllm" && p.Role != deployment.Prefill && c.Memory.Tokens < longest {
		// vLLM checks this at start (v1/core/kv_cache_utils.py, check_enough_kv_cache_memory).
		x.add(SevereError, x.name(key), fmt.Sprintf("the KV cache holds %d tokens, less than one request of %d: vLLM refuses to start", c.Memory.Tokens, longest),
			x.say(p, key, max(1, c.Memory.Tokens)))
	}
}

// budget compares the token budget with what must fit into a step.
func (x *inspection) budget(p *deployment.Served) {
	const key = "token_budget"
	e := p.Engine
	if p.Role != deployment.Decode && !e.ChunkedPrefill && e.TokenBudget < x.r.Input {
		x.add(SevereError, x.name(key), fmt.Sprintf("a step takes %d tokens and prompts of %d are not split: they never run", e.TokenBudget, x.r.Input), x.say(p, key, x.r.Input))
	}
	if need := e.MaxSequences * (1 + p.Spec.MTP); p.Role != deployment.Prefill && e.Name != "sglang" && e.TokenBudget < need {
		x.add(SevereError, x.name(key), fmt.Sprintf("%d tokens per step are less than a decode step of %d sequences needs, %d", e.TokenBudget, e.MaxSequences, need), x.say(p, key, need))
	}
}

// graphs compares the captured batch sizes with the batch limit.
func (x *inspection) graphs(p *deployment.Served) {
	const key = "graph.max_batch"
	e := p.Engine
	where, better := x.graphWords(p, strconv.Itoa(e.MaxSequences))
	switch most := e.Graph.MaxBatch; {
	case most == 0 && x.given(p, key):
		x.add(SevereWarning, where, "decode steps run without captured graphs: every step waits for the host", better)
	case most < e.MaxSequences && x.given(p, key):
		x.add(SevereWarning, where, fmt.Sprintf("graphs are captured up to a batch of %d, below the limit of %d sequences: larger batches run without graphs", most, e.MaxSequences), better)
	case most > 0 && most < min(e.MaxSequences, x.out.Capacity.Held/x.out.Capacity.Ranks) && x.given(p, "max_sequences"):
		x.add(SevereHint, where, fmt.Sprintf("by default graphs are captured up to a batch of %d, below the limit of %d sequences: larger batches run without graphs", most, e.MaxSequences), better)
	case most > e.MaxSequences && e.Graph.EagerPrefill && x.given(p, key):
		x.add(SevereHint, where, fmt.Sprintf("graphs are captured up to a batch of %d, above the limit of %d sequences: the largest use memory but never run", most, e.MaxSequences), better)
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
	if slices.ContainsFunc(x.found.Launches, func(l launch.Launch) bool { return l.Role == p.Role && l.Given(list) }) {
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
		x.add(SevereError, x.name("memory_share"), fmt.Sprintf("the KV cache holds %d tokens, less than one request of %d", c.Memory.Tokens, all), "")
	case held < limit && x.given(p, key):
		x.add(SevereWarning, x.name(key), fmt.Sprintf("the KV cache holds %d requests of %d tokens, fewer than the batch limit of %d: running requests may be preempted", held, all, limit), x.say(p, key, held))
	case held < limit:
		x.add(SevereHint, x.name(key), fmt.Sprintf("the default of %d sequences is more than the %d requests of %d tokens that the KV cache holds", limit, held, all), x.say(p, key, held))
	}
	if n := x.r.Concurrency; n > c.Safe && c.Safe > 0 {
		x.add(SevereWarning, "concurrency", fmt.Sprintf("%d requests in flight are more than the %d that can run together: the others wait or are preempted", n, c.Safe), "")
	}
}

// limits reports missed limits, and the concurrency that meets them.
func (x *inspection) limits(ctx context.Context) error {
	s := x.out.Prediction
	if met(s) {
		if s.Chance != nil && *s.Chance < calibration.LowChance {
			x.add(SevereHint, "limits", fmt.Sprintf("the means meet the limits with a probability of only %.0f %%", 100**s.Chance), "")
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
			x.add(SevereError, v.what+" limit", fmt.Sprintf("%s of %s exceeds the limit of %s at %d requests in flight", v.what, v.is, v.limit, s.Request.Concurrency), better)
		}
	}
	return nil
}

// met reports whether the means of a simulation are within its limits.
func met(s *simulate.Response) bool {
	j, r := search.Judge{Limits: s.Request.Limits.Finite()}, &s.Result
	return j.Verdict(&formulas.Outcome{TTFT: r.TTFT.Mean, TPOT: r.TPOT.Mean, Latency: r.Latency.Mean}, nil) == search.Fits
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
