package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/draw/table"
)

// Engines prints the engines, a line for each range of versions.
func Engines(w io.Writer, all []*engine.Profile) {
	t := table.New("engine", "versions", "policy", ">token budget", ">max sequences", ">memory share", "of", ">block", "host work", "aliases", "presets")
	for _, p := range all {
		host := "serial"
		if p.Exposed < 1 {
			host = "overlapped"
		}
		t.Row(
			p.Name, p.Versions, p.Policy, p.TokenBudget, p.MaxSequences,
			p.MemoryShare, p.MemoryShareOf, p.BlockTokens, host, strings.Join(p.Aliases, ", "), strings.Join(presetNames(p), ", "),
		)
	}
	put(w, t, "")
}

// Engine prints every default of one engine.
func Engine(w io.Writer, p *engine.Profile) {
	line, some := facts(w)
	line("Engine", "%s (%s)", p.Name, p.Title)
	line("Versions", "%s", p.Versions)
	some(len(p.Aliases) > 0, "Aliases", "%s", strings.Join(p.Aliases, ", "))
	line("Source", "%s", p.Source)
	fmt.Fprintln(w)

	t := table.New("setting", "default", "engine option", "meaning")
	for _, s := range p.Settings() {
		t.Row(s.Key, s.Value, cmp.Or(s.Option, "–"), s.Meaning)
	}
	put(w, t, "")
	fmt.Fprintln(w)
	engineTiers(w, p)
	engineHost(w, p)
	enginePresets(w, p)
}

// presetNames lists the presets of an engine.
func presetNames(p *engine.Profile) []string {
	var out []string
	for _, s := range engine.Presets(p.Name) {
		out = append(out, s.Name)
	}
	return out
}

// enginePresets prints the settings of published deployments.
func enginePresets(w io.Writer, p *engine.Profile) {
	for _, s := range engine.Presets(p.Name) {
		fmt.Fprintf(w, "\nPreset %s, source: %s\n", s.Name, s.Source)
		if s.Extends != "" {
			fmt.Fprintf(w, "Extends %s with:\n", s.Extends)
		}
		switch s.Assumed {
		case engine.Disaggregated:
			fmt.Fprintln(w, "Assumed for settings missing in measured rows of disaggregated deployments.")
		case engine.Aggregated:
			fmt.Fprintln(w, "Assumed for measured rows of aggregated deployments without settings.")
		}
		t := table.New("workers", "settings", "other published values")
		for i := range s.Rules {
			r := &s.Rules[i]
			var set, others []string
			set = append(set, r.Set...)
			for _, a := range r.Least {
				set = append(set, strings.Replace(a, "=", "≥", 1))
			}
			for _, key := range slices.Sorted(maps.Keys(r.Others)) {
				others = append(others, key+"="+strings.Join(r.Others[key], " or "))
			}
			t.Row(ruleName(r), strings.Join(set, " "), strings.Join(others, ", "))
		}
		put(w, t, "")
	}
}

// ruleName names the workers that a rule applies to.
func ruleName(r *engine.Rule) string {
	parts := []string{map[string]string{"": "any", "both": "aggregated"}[r.Role]}
	if parts[0] == "" {
		parts[0] = r.Role
	}
	if len(r.Generations) > 0 {
		parts = append(parts, strings.Join(r.Generations, " "))
	}
	if r.Narrow {
		parts = append(parts, "8-bit or 4-bit weights")
	}
	if r.Ranks > 0 {
		parts = append(parts, fmt.Sprintf("%d or more data-parallel ranks", r.Ranks))
	}
	if r.Since != "" {
		parts = append(parts, "since "+r.Since)
	}
	return strings.Join(parts, ", ")
}

// engineRules prints how the engine's kernels differ from the measured ones.
func engineRules(w io.Writer, p *engine.Profile) {
	if r := p.LatentRule; r != nil {
		fmt.Fprintf(w, "On %s, latent attention takes %g times as long in decode and %g times in prefill, except with %s heads per rank.\n\n",
			strings.Join(r.Generations, " and "), r.Decode, r.Prefill, strings.Join(r.Heads, " or "))
	}
	if r := p.SparseRule; r != nil {
		what := "prefill"
		if r.Decode {
			what = "prefill and decode"
		}
		fmt.Fprintf(w, "On %s, sparse latent attention pads the heads of a rank to a multiple of %d in %s.\n\n", strings.Join(r.Generations, " and "), r.Heads, what)
	}
	if r := p.ReduceRule; r != nil {
		fmt.Fprintf(w, "On %s, all-reduce of large tensors takes %g of the time on 2 devices (from %s), %g on 4 (%s) and %g on 8 (%s).\n\n",
			strings.Join(r.Generations, " and "), r.Two.Share, r.Two.Least, r.Four.Share, r.Four.Least, r.Eight.Share, r.Eight.Least)
	}
	if len(p.SharedAttention) > 0 {
		fmt.Fprintf(w, "On %s, decodes in steps with prompts read the KV cache once per query head.\n\n", strings.Join(p.SharedAttention, " and "))
	}
	if len(p.UnsplitAttention) > 0 {
		fmt.Fprintf(w, "On %s, one compute unit reads all keys of a request if the head dimension is %d.\n\n",
			strings.Join(p.UnsplitAttention, " and "), p.UnsplitHeads(p.UnsplitAttention[0]))
	}
	if len(p.WidenedExperts) > 0 {
		fmt.Fprintf(w, "On %s, gpt-oss's expert kernels dequantize the weights of a tile before multiplying.\n\n", strings.Join(p.WidenedExperts, " and "))
	}
	if len(p.SharedFusion) > 0 {
		fmt.Fprintf(w, "On %s, the shared expert of models with 256 experts is fused with the routed experts.\n\n", strings.Join(p.SharedFusion, " and "))
	}
}

// engineTiers prints the defaults that depend on the device.
func engineTiers(w io.Writer, p *engine.Profile) {
	if len(p.Tiers) > 0 {
		t := table.New("device", ">token_budget", ">max_sequences", ">graph.max_batch")
		for i := range p.Tiers {
			tier := &p.Tiers[i]
			graph := orDash(tier.GraphBatch)
			if tier.WideGraphBatch > 0 {
				graph += fmt.Sprintf(" (%d on 4 or more devices)", tier.WideGraphBatch)
			}
			t.Row(tierName(tier), orDash(tier.TokenBudget), orDash(tier.MaxSequences), graph)
		}
		put(w, t, "")
		fmt.Fprintln(w)
	}
	engineRules(w, p)
	for i := range p.Slow {
		k := &p.Slow[i]
		fmt.Fprintf(w, "On %s, dense products with %s weights take %g times as long, expert products %g times",
			strings.Join(k.Generations, " and "), k.Weights, max(1, k.Products), max(1, k.Experts))
		if len(k.Widths) > 0 {
			fmt.Fprintf(w, ", except in models of width %s", strings.Join(k.Widths, " or "))
		}
		fmt.Fprint(w, ".\n\n")
	}
	if r := p.ShareRule; r != nil {
		mib := func(b units.Bytes) float64 { return float64(b / units.MiB) }
		fmt.Fprintf(w, "On a device, memory_share leaves %g MiB free, plus %g per token of token_budget, %g per sequence of graph.max_batch\n"+
			"and %g per device of the replica", mib(r.Fixed), mib(r.PerToken), mib(r.PerGraph), mib(r.PerDevice))
		if r.PerRankGraph > 0 {
			fmt.Fprintf(w, ", and with data-parallel attention %g per sequence of graph.max_batch and rank, %g above %d sequences",
				mib(r.PerRankGraph), mib(r.PerRankGraph+r.PerRankLarge), r.LargeGraph)
		}
		if r.Least > 0 {
			fmt.Fprintf(w, "; at least %g MiB on devices above %g GiB", mib(r.Least), r.LeastAbove.GiB())
		}
		if r.Drafts > 0 {
			fmt.Fprintf(w, "; while drafting %g more", mib(r.Drafts))
		}
		fmt.Fprint(w, ".\n")
		if r.Vision > 0 {
			fmt.Fprintf(w, "A vision model gets %g of that share, corrected for the size of its vision tower.\n", r.Vision)
		}
		fmt.Fprintln(w)
	}
}

func tierName(t *engine.Tier) string {
	var parts []string
	if t.Below > 0 {
		parts = append(parts, fmt.Sprintf("below %g GiB", t.Below.GiB()))
	}
	if len(t.Generations) > 0 {
		parts = append(parts, strings.Join(t.Generations, ", "))
	}
	if len(parts) == 0 {
		parts = []string{"other"}
	}
	if t.SetAside > 0 {
		parts = append(parts, fmt.Sprintf("%g GiB left free", t.SetAside.GiB()))
	}
	return strings.Join(parts, ", ")
}

// engineHost prints the host times, a column for each generation.
func engineHost(w io.Writer, p *engine.Profile) {
	// The default for unlisted generations comes last.
	generations := slices.Sorted(maps.Keys(p.Hosts))
	generations = append(slices.DeleteFunc(generations, func(g string) bool { return g == engine.Generic }), engine.Generic)
	header := []string{"host time, µs"}
	var columns [][]engine.Setting
	for _, g := range generations {
		header, columns = append(header, ">"+g), append(columns, p.Hosts[g].Settings())
	}
	t := table.New(append(header, "meaning")...)
	for i, s := range columns[0] {
		var values []string
		for _, c := range columns {
			values = append(values, c[i].Value)
		}
		t.Row(s.Key, values, s.Meaning)
	}
	put(w, t, "")
}

func orDash(n int) string {
	if n == 0 {
		return "–"
	}
	return strconv.Itoa(n)
}
