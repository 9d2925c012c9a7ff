package nvidia

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Bounds of numbers, to catch a value that belongs to another key.
const (
	maxTokens  = 1_000_000_000
	maxDevices = 1_000_000
	maxScale   = 1000
	maxMs      = 1e9
)

// fill reads all values into the block.
func (b *blockReader) fill() {
	b.identity()
	b.patching()
	b.workloadOf()
	b.draftsOf()
	b.engineOf()
	switch b.mode {
	case experiment.Disaggregated:
		b.workerOf(0, "prefill_")
		b.workerOf(1, "decode_")
		b.replicaOf()
	default:
		b.workerOf(0, "agg_")
	}
	for _, key := range slices.Sorted(maps.Keys(keys().Refused)) {
		only := keys().Refused[key]
		if g := b.take(key); g != nil && !sameValue(g.node, only[0]) {
			b.Add(g.node.Line, g.at, "must be %s: %s are not modelled in experiments", only[0], only[1])
		}
	}
}

// take marks a value as used; nil if it is not set.
func (b *blockReader) take(key string) *given {
	g := b.given[key]
	if g != nil {
		g.used = true
	}
	return g
}

// identity reads model, engine and devices.
func (b *blockReader) identity() {
	b.generation = New
	mode := b.word("serving_mode", []string{string(experiment.Aggregated), string(experiment.Disaggregated)})
	b.mode = experiment.ServingMode(mode)
	for _, role := range []string{"", "agg_", "prefill_", "decode_"} {
		b.side(role)
	}
	if b.old || isOldName(b.Model) {
		b.generation = Old
	}
	b.TotalGPUs = b.integer("total_gpus", 1, maxDevices)
	for _, need := range []struct {
		key  string
		lack bool
	}{
		{"serving_mode", b.given["serving_mode"] == nil},
		{"model_path", b.Model == "" && !b.either("model_path")},
		{"system_name", b.System == "" && !b.either("system_name")},
		{"total_gpus", b.given["total_gpus"] == nil},
	} {
		if need.lack {
			b.Add(b.line, b.at, "%s is missing", need.key)
		}
	}
}

// either reports whether a key, or that of a role, is set, even if wrong.
func (b *blockReader) either(key string) bool {
	return b.given[key] != nil || b.given["prefill_"+key] != nil
}

// side reads the model, engine and system of a role, which override those of the experiment.
// Only the system may differ between roles.
func (b *blockReader) side(role string) {
	if b.mode == experiment.Aggregated && (role == "prefill_" || role == "decode_") {
		return
	}
	for _, x := range []struct {
		key string
		to  *string
	}{
		{"model_path", &b.Model}, {"backend_name", &b.Backend}, {"backend_version", &b.BackendVersion}, {"system_name", &b.System},
	} {
		to := x.to
		if x.key == "system_name" && role == "decode_" {
			to = &b.DecodeSystem
		}
		key := role + x.key
		word := b.text(key)
		switch {
		case word == "":
		case *to == "" || role != "decode_" || x.key == "system_name":
			*to = word
		case *to != word:
			b.complain(key, "prefill and decode workers must have the same %s, got %s and %s", x.key, *to, word)
		}
	}
}

// patching reads presets of precision and checks what "mode: replace" needs.
func (b *blockReader) patching() {
	if b.word("mode", []string{"patch", "replace"}) == "replace" {
		b.replaced = true
		b.complete()
	}
	if g := b.take("profiles"); g != nil {
		known := profiles()
		for _, n := range b.items(g.at, g.node) {
			p, ok := known[n.Value]
			if n.Kind != yaml.ScalarNode || !ok {
				words := slices.Sorted(maps.Keys(known))
				b.Add(n.Line, g.at, "must be among %s, got %s%s", strings.Join(words, ", "), b.KindOf(n), nearest.Hint(n.Value, words))
			}
			if !b.replaced {
				b.presets = p.over(b.presets)
			}
		}
		if b.replaced && len(g.node.Content) > 0 {
			b.notes = append(b.notes, b.name+": profiles have no effect with mode: replace")
		}
	}
	if preset := b.word("quant_preset", slices.Sorted(maps.Keys(profiles()))); preset != "" {
		b.presets = profiles()[preset].over(b.presets)
	}
	word := plain(b.word("use_specific_quant_mode", weightWords()))
	specific := precision{gemm: word, moe: word}
	if word == "w4afp8" { // a format of experts
		specific.gemm = ""
	}
	b.presets = specific.over(b.presets)
}

// complete reports what a "config" that replaces the defaults leaves open. Values of the
// experiment itself count, except for workers and replicas.
func (b *blockReader) complete() {
	need := keys().Required.All
	roles, parts := []string{"agg_"}, map[string]string{"agg_": "worker_config"}
	if b.mode == experiment.Disaggregated {
		roles, parts = []string{"prefill_", "decode_"}, map[string]string{"prefill_": "prefill_worker_config", "decode_": "decode_worker_config"}
		need = slices.Concat(need, keys().Required.Disagg)
	}
	var missing []string
	for _, key := range need {
		latency := strings.Replace(key, "_correction_scale", "_latency_correction", 1) // stands for it
		if b.given[key] == nil && b.given[latency] == nil {
			missing = append(missing, key)
		}
	}
	for _, role := range roles {
		for _, list := range slices.Sorted(maps.Keys(sizes())) {
			if list != "cp_list" && b.given[role+sizes()[list]+"_candidates"] == nil {
				missing = append(missing, parts[role]+"."+list)
			}
		}
	}
	if missing != nil {
		b.complain("mode", "replace takes no defaults; missing: %s", strings.Join(missing, ", "))
	}
}

// workloadOf reads the workload and the limits.
func (b *blockReader) workloadOf() {
	b.Input = b.integer("isl", 1, maxTokens)
	b.Output = b.integer("osl", 1, maxTokens)
	b.Prefix = b.integer("prefix", 0, maxTokens)
	b.TTFT = b.limit("ttft")
	b.TPOT = b.limit("tpot")
	b.RequestLatency = b.limit("request_latency")
	if g := b.given["percentile"]; g != nil && g.node.Kind == yaml.ScalarNode && strings.HasPrefix(g.node.Value, "p") {
		g.node = &yaml.Node{Kind: yaml.ScalarNode, Value: g.node.Value[1:], Line: g.node.Line} // p95
	}
	b.Percentile = b.number("percentile", 100)
	b.Confidence = b.number("confidence", 1)
}

// draftsOf reads speculative decoding.
func (b *blockReader) draftsOf() {
	if b.given["nextn"] != nil {
		b.NextN = new(b.integer("nextn", 0, deployment.MaxMTP))
	}
	if b.given["nextn_accepted"] != nil {
		b.NextNAccepted = new(b.number("nextn_accepted", deployment.MaxMTP))
	}
	b.rates = b.numbers("nextn_accept_rates")
	b.kept = b.numbers("nextn_kept_rates")
}

// engineOf reads settings of the engine.
func (b *blockReader) engineOf() {
	// the tool writes false for "not set"
	b.Settings = engineSettings(b.number("free_gpu_memory_fraction", 1), b.integer("max_seq_len", 1, maxTokens), b.boolean("enable_chunked_prefill"))
	if g := b.take("engine_settings"); g != nil {
		for _, n := range b.items(g.at, g.node) {
			if n.Kind != yaml.ScalarNode || !strings.Contains(n.Value, "=") {
				b.Add(n.Line, g.at, "must be a list of KEY=VALUE, got %s", b.KindOf(n))
			}
			b.Settings = append(b.Settings, n.Value)
		}
	}
}

// engineSettings are the tool's engine options as settings of this program; zero is not set.
func engineSettings(memoryShare float64, maxContext int, chunked bool) []string {
	var out []string
	if memoryShare > 0 {
		out = append(out, "memory_share="+strconv.FormatFloat(memoryShare, 'g', -1, 64))
	}
	if maxContext > 0 {
		out = append(out, "max_context="+strconv.Itoa(maxContext))
	}
	if chunked {
		out = append(out, "chunked_prefill=true")
	}
	return out
}

// workerOf reads the workers of a role. Precision without a role is that of all.
func (b *blockReader) workerOf(i int, role string) {
	w := &b.workers[i]
	for _, l := range listsOf(&w.WorkerSpace) {
		*l.sizes = b.integers(role + l.flat + "_candidates")
	}
	if cp := b.given[role+"cp_candidates"]; cp != nil {
		if sizes := b.integers(role + "cp_candidates"); len(sizes) != 1 || sizes[0] != 1 {
			cp.used = false // context parallelism is not searched
		}
	}
	formats := func(prefix string) precision {
		return precision{
			plain(b.word(prefix+"gemm_quant_mode", weightWords())), plain(b.word(prefix+"moe_quant_mode", weightWords())),
			plainCache(b.word(prefix+"kvcache_quant_mode", cacheWords())),
		}
	}
	w.precision = formats(role).over(formats("")).over(b.presets)
	w.wide = b.boolean("enable_wideep")
	w.wide = b.boolean(role+"enable_wideep") || w.wide
	w.MaxBatch = b.integer(role+"max_batch_size", 1, maxDevices)
	w.Scale = b.scale(role)
}

// scale is the factor on the throughput of a role. Factors on latency are turned into
// one.
func (b *blockReader) scale(role string) float64 {
	scale := b.number(role+"correction_scale", maxScale)
	if x := b.number(role+"latency_correction", maxScale); x > 0 {
		scale = cmp.Or(scale, 1) / x
		b.notes = append(b.notes, b.name+": "+role+"latency_correction "+strconv.FormatFloat(x, 'g', -1, 64)+
			" is applied as a factor "+strconv.FormatFloat(1/x, 'g', 3, 64)+" on throughput; predicted latencies do not change")
	}
	if role == "agg_" {
		return scale
	}
	if x := b.number("rate_match_"+role+"degradation", maxScale); x > 0 {
		scale = cmp.Or(scale, 1) * x
	}
	return scale
}

// replicaOf reads the settings of replicas.
func (b *blockReader) replicaOf() {
	r := &b.replica
	if g := b.given["num_gpu_per_replica"]; g != nil {
		r.sizes = true
		if !isNull(g.node) {
			r.Devices = b.integers("num_gpu_per_replica")
		}
	}
	r.largest = b.given["max_gpu_per_replica"] != nil
	r.MaxDevices = b.integer("max_gpu_per_replica", 0, maxDevices)
	r.MaxPrefill = b.integer("max_prefill_workers", 1, maxDevices)
	r.MaxDecode = b.integer("max_decode_workers", 1, maxDevices)
}

// read reads a value; zero if it is not set.
func read[T any](b *blockReader, key string, of func(at string, n *yaml.Node) T) (x T) {
	if g := b.take(key); g != nil {
		x = of(g.at, g.node)
	}
	return x
}

// text reads a text.
func (b *blockReader) text(key string) string {
	return read(b, key, func(at string, n *yaml.Node) string {
		if n.Kind != yaml.ScalarNode || key == "model_path" && n.ShortTag() != "!!str" {
			b.Add(n.Line, at, "must be a text, got %s", b.KindOf(n))
			return ""
		}
		return n.Value
	})
}

// word reads one of some words.
func (b *blockReader) word(key string, allowed []string) string {
	word := b.text(key)
	if word == "" || slices.Contains(allowed, word) {
		return word
	}
	g := b.given[key]
	b.Add(g.node.Line, g.at, "must be one of %s, got %s%s", strings.Join(allowed, ", "), strictyaml.Show(word, ""), nearest.Hint(word, allowed))
	return ""
}

// boolean reads true or false.
func (b *blockReader) boolean(key string) (x bool) {
	g := b.take(key)
	if g != nil && (g.node.Kind != yaml.ScalarNode || g.node.ShortTag() != "!!bool" || g.node.Decode(&x) != nil) {
		b.Add(g.node.Line, g.at, "must be true or false, got %s", b.KindOf(g.node))
	}
	return x
}

// integer reads a whole number within bounds; 0 if it is not set.
func (b *blockReader) integer(key string, low, high int) int {
	return read(b, key, func(at string, n *yaml.Node) int { return b.whole(at, n, low, high) })
}

// whole reads a whole number within bounds.
func (b *blockReader) whole(at string, n *yaml.Node, low, high int) int {
	var x int
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || n.Decode(&x) != nil || x < low || x > high {
		b.Add(n.Line, at, "must be a whole number between %d and %d, got %s", low, high, b.KindOf(n))
		return 0
	}
	return x
}

// integers reads a list of sizes; nil if it is not set.
func (b *blockReader) integers(key string) []int {
	return read(b, key, func(at string, n *yaml.Node) (out []int) {
		for _, x := range b.items(at, n) {
			out = append(out, b.whole(at, x, 1, maxDevices))
		}
		return out
	})
}

// within reads a number that must be in a range, in which NaN is not.
func (b *blockReader) within(at string, n *yaml.Node, in func(float64) bool, format string, args ...any) float64 {
	x, ok := b.Number(at, n)
	if ok && !in(x) {
		b.Add(n.Line, at, "%s, got %s", fmt.Sprintf(format, args...), b.KindOf(n))
		return 0
	}
	return x
}

// number reads a number above 0 and up to high; 0 if it is not set. Only nextn_accepted may
// be 0.
func (b *blockReader) number(key string, high float64) float64 {
	in := func(x float64) bool { return x > 0 && x <= high || x == 0 && key == "nextn_accepted" }
	return read(b, key, func(at string, n *yaml.Node) float64 {
		return b.within(at, n, in, "must be above 0 and up to %g", high)
	})
}

// limit reads milliseconds, which may be infinite.
func (b *blockReader) limit(key string) float64 {
	in := func(x float64) bool { return x > 0 && x <= maxMs || math.IsInf(x, 1) }
	return read(b, key, func(at string, n *yaml.Node) float64 {
		return b.within(at, n, in, "must be a positive number of milliseconds, or .inf for no limit")
	})
}

// numbers reads a list of probabilities; nil if it is not set.
func (b *blockReader) numbers(key string) []float64 {
	in := func(x float64) bool { return x >= 0 && x <= 1 }
	return read(b, key, func(at string, n *yaml.Node) (out []float64) {
		for _, x := range b.items(at, n) {
			out = append(out, b.within(at, x, in, "must be between 0 and 1"))
		}
		return out
	})
}

// items are the elements of a list that has any. The tool's "profiles" may be empty.
func (r *reader) items(at string, list *yaml.Node) []*yaml.Node {
	if list.Kind != yaml.SequenceNode {
		r.Add(list.Line, at, "must be a list, got %s", r.KindOf(list))
		return nil
	}
	if len(list.Content) == 0 && !strings.HasSuffix(at, "profiles") && !strings.HasSuffix(at, "engine_settings") {
		r.Add(list.Line, at, "must have at least one element")
	}
	return list.Content
}
