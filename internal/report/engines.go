package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/table"

	"plimsoll/internal/engine"
	"plimsoll/internal/units"
)

// Engines prints the engines, a line for each range of versions.
func Engines(w io.Writer, all []engine.Facts) {
	t := table.New(4, 5, 6, 8)
	t.AppendHeader(table.Row{"engine", "versions", "policy", "budget", "sequences", "memory", "of", "block", "host work", "also"})
	for i := range all {
		f := &all[i]
		t.AppendRow(table.Row{
			f.Name,
			engine.Range{Since: f.Since, Until: f.Until},
			f.Policy, f.TokenBudget, f.MaxSequences,
			f.MemoryShare, f.MemoryShareOf, f.BlockTokens, overlap(f), strings.Join(f.Aliases, ", "),
		})
	}
	fmt.Fprintln(w, t.Render())
}

// Engine prints every default of one engine.
func Engine(w io.Writer, f *engine.Facts) {
	line := func(name, format string, a ...any) {
		fmt.Fprintf(w, "%-18s%s\n", name, fmt.Sprintf(format, a...))
	}
	line("Engine", "%s (%s)", f.Name, f.Title)
	line("Versions", "%s", engine.Range{Since: f.Since, Until: f.Until})
	if len(f.Aliases) > 0 {
		line("Also", "%s", strings.Join(f.Aliases, ", "))
	}
	line("Source", "%s", f.Source)
	fmt.Fprintln(w)

	t := table.New()
	t.AppendHeader(table.Row{"setting", "default", "the engine's name", "meaning"})
	for _, s := range engineSettings(f) {
		option := f.Options[s.key]
		if option == "" {
			option = "–"
		}
		t.AppendRow(table.Row{s.key, s.value, option, s.meaning})
	}
	fmt.Fprintln(w, t.Render())
	fmt.Fprintln(w)
	engineTiers(w, f)
	engineHost(w, f)
}

// engineSetting is one line of an engine's table.
type engineSetting struct{ key, value, meaning string }

func engineSettings(f *engine.Facts) []engineSetting {
	return []engineSetting{
		{"policy", string(f.Policy), policyMeaning(f.Policy)},
		{"chunked_prefill", yesNo(f.ChunkedPrefill), "prompts are cut to the token budget"},
		{"token_budget", strconv.Itoa(f.TokenBudget), "new tokens in a step"},
		{"max_sequences", strconv.Itoa(f.MaxSequences), "sequences that run together"},
		{"memory_share", share(f.MemoryShare), shareMeaning(f)},
		{"memory_share_of", string(f.MemoryShareOf), "total, static or free"},
		{"workspace_gib", share(f.WorkspaceGiB), "context, libraries, graphs"},
		{"communication_gib", share(f.CommunicationGiB), "workspace that further devices add"},
		{"peer_gib", share(f.PeerGiB), "… and each of the devices to that"},
		{"logits_copies", share(f.LogitsCopies), "float32 logits of max_sequences in the trial step"},
		{"max_context", orModel(f.MaxContext), "longest sequence; some workspaces have room for it"},
		{"index_rows", strconv.Itoa(f.IndexRows), "such sequences whose selector keys are gathered (sparse attention)"},
		{"state_ratio", share(f.StateRatio), "memory for recurrent states, for each byte of the KV cache"},
		{"window_share", share(f.WindowShare), "share of a sliding-window layer's cache beyond the window"},
		{"block_tokens", strconv.Itoa(f.BlockTokens), "tokens in a KV block"},
		{"kv_format", f.KVFormat, "auto is what the checkpoint asks for"},
		{"reserve", share(f.Reserve), "share of the remaining output for which room must be free"},
		{"prefix_caching", yesNo(f.PrefixCaching), "finished prompts are kept for others that begin the same"},
		{"graph.max_batch", strconv.Itoa(f.Graph.MaxBatch), "largest decode batch that replays a captured graph"},
		{"graph.eager_prefill", yesNo(f.Graph.EagerPrefill), "prompts are launched kernel by kernel"},
		{"graph.kernel_kib", share(f.Graph.KernelKiB), "memory of a captured kernel, for each batch size captured"},
		{"batch_wait.steps", strconv.Itoa(f.BatchWait.Steps), "steps that prompts wait for others"},
		{"batch_wait.ratio", share(f.BatchWait.Ratio), "… while they fill less of the token budget"},
		{"receive_interval", strconv.Itoa(f.ReceiveInterval), "decode steps between looks at new requests"},
		{"held_tokens", strconv.Itoa(f.HeldTokens), "tokens before the first is seen, where prompts are computed apart"},
		{"attention_dp.splits_budget", yesNo(f.AttentionDP.SplitsBudget), "the token budget is divided by the ranks"},
		{"mtp.tokens", strconv.Itoa(f.MTP.Tokens), "tokens drafted in a step"},
		{"mtp.overlapped", yesNo(f.MTP.Overlapped), "host work is hidden while drafting too"},
		{"host.exposed", share(f.Host.Exposed), "share of the work per step and sequence that the GPU waits for"},
	}
}

// orModel is a length that 0 leaves to the model.
func orModel(n int) string {
	if n == 0 {
		return "model's"
	}
	return strconv.Itoa(n)
}

func policyMeaning(p engine.Policy) string {
	switch p {
	case engine.DecodeFirst:
		return "running sequences, then prompts"
	case engine.PrefillFirst:
		return "waiting prompts alone, decoding pauses"
	case engine.InFlight:
		return "running sequences with whole prompts"
	}
	return ""
}

func shareMeaning(f *engine.Facts) string {
	switch f.MemoryShareOf {
	case engine.OfTotal:
		return "of the memory, for all that the engine takes"
	case engine.OfStatic:
		return "of the memory, for weights and KV cache"
	case engine.OfFree:
		return "of what is free after loading, for the KV cache"
	}
	return ""
}

// engineTiers prints the defaults that depend on the device.
func engineTiers(w io.Writer, f *engine.Facts) {
	if len(f.Tiers) > 0 {
		t := table.New(2, 3, 4)
		t.AppendHeader(table.Row{"on devices", "token_budget", "max_sequences", "graph.max_batch"})
		for i := range f.Tiers {
			tier := &f.Tiers[i]
			graph := orDash(tier.GraphBatch)
			if tier.WideGraphBatch > 0 {
				graph += fmt.Sprintf(" (%d from 4 devices)", tier.WideGraphBatch)
			}
			t.AppendRow(table.Row{tierName(tier), orDash(tier.TokenBudget), orDash(tier.MaxSequences), graph})
		}
		fmt.Fprintln(w, t.Render())
		fmt.Fprintln(w)
	}
	if r := f.ShareRule; r != nil {
		fmt.Fprintf(w, "On a device, memory_share leaves %g MiB + %g for each token of the budget, %g for each of\n"+
			"graph.max_batch and %g for each device", r.Fixed, r.PerToken, r.PerGraph, r.PerDevice)
		if r.Least > 0 {
			fmt.Fprintf(w, ", and at least %g on more than %g GiB", r.Least, float64(units.Bytes(r.LeastAbove)*units.MiB/units.GiB))
		}
		fmt.Fprint(w, ".\n\n")
	}
}

func tierName(t *engine.TierFacts) string {
	var parts []string
	if t.BelowGiB > 0 {
		parts = append(parts, fmt.Sprintf("below %g GiB", t.BelowGiB))
	}
	if len(t.Generations) > 0 {
		parts = append(parts, strings.Join(t.Generations, ", "))
	}
	if len(parts) == 0 {
		parts = []string{"others"}
	}
	if t.SetAsideGiB > 0 {
		parts = append(parts, fmt.Sprintf("%g GiB set aside", t.SetAsideGiB))
	}
	return strings.Join(parts, ", ")
}

// engineHost prints the host's times, a column for each generation.
func engineHost(w io.Writer, f *engine.Facts) {
	generations := slices.Sorted(maps.Keys(f.Host.Times))
	// The default is for those not listed: last.
	generations = append(slices.DeleteFunc(generations, func(g string) bool { return g == engine.Generic }), engine.Generic)
	right := make([]int, len(generations))
	header := table.Row{"host time, µs"}
	for i, g := range generations {
		right[i] = i + 2
		header = append(header, g)
	}
	t := table.New(right...)
	t.AppendHeader(append(header, "overlaps the GPU"))
	hidden := "no"
	if f.Host.Overlapped {
		hidden = fmt.Sprintf("all but %g", f.Host.Exposed)
	}
	for _, row := range []struct {
		key     string
		overlap string
		of      func(t *engine.TermFacts) float64
	}{
		{"per_step", hidden, func(t *engine.TermFacts) float64 { return t.PerStep }},
		{"per_sequence", hidden, func(t *engine.TermFacts) float64 { return t.PerSequence }},
		{"per_prefill_step", "no", func(t *engine.TermFacts) float64 { return t.PerPrefillStep }},
		{"per_layer", "no", func(t *engine.TermFacts) float64 { return t.PerLayer }},
		{"launch_floor.dense", "bounds it", func(t *engine.TermFacts) float64 { return t.LaunchFloor.Dense }},
		{"launch_floor.moe", "bounds it", func(t *engine.TermFacts) float64 { return t.LaunchFloor.MoE }},
		{"launch_floor.latent", "bounds it", func(t *engine.TermFacts) float64 { return t.LaunchFloor.Latent }},
		{"launch_floor.linear", "bounds it", func(t *engine.TermFacts) float64 { return t.LaunchFloor.Linear }},
		{"api_fixed", "beside it", func(t *engine.TermFacts) float64 { return t.APIFixed }},
		{"api_per_token", "beside it", func(t *engine.TermFacts) float64 { return t.APIPerToken }},
		{"first", "beside it", func(t *engine.TermFacts) float64 { return t.First }},
	} {
		cells := table.Row{"host." + row.key + "_us"}
		for _, g := range generations {
			terms := f.Host.Times[g]
			cells = append(cells, share(row.of(&terms)))
		}
		t.AppendRow(append(cells, row.overlap))
	}
	fmt.Fprintln(w, t.Render())
}

func overlap(f *engine.Facts) string {
	if f.Host.Overlapped {
		return "overlapped"
	}
	return "in turn"
}

func yesNo(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

// share prints a number that is no count, without needless digits.
func share(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func orDash(n int) string {
	if n == 0 {
		return "–"
	}
	return strconv.Itoa(n)
}
