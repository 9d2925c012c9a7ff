package measured

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// usualDrafts is how many tokens a row drafts that does not say: one is ATOM's default (model_engine/arg_utils.py) and what
// InferenceX's scripts give TensorRT-LLM with data-parallel attention, three what most public launch scripts give.
func (r *Row) usualDrafts(e *engine.Profile) int {
	w := r.pools()
	if e.Name == "atom" || e.Name == "trtllm" && w[len(w)-1].DP > 1 {
		return 1
	}
	return 3
}

// drafter is what drafts the tokens of a row: benchmarks call heads that stand in for MTP modules by their name.
func (r *Row) drafter(m *model.Model) draft.Method {
	if ways := draft.Ways(m); r.Drafter == "" && len(ways) > 0 {
		return ways[0]
	}
	return cmp.Or(r.Drafter, draft.MTP)
}

// settle adds to a deployment what the row says in its engine's own words, and notes
// what the engine does not know and what had to be assumed.
func (p *Prepared) settle(d *deployment.Deployment, parts deployment.Parts) {
	row, e := p.Row, parts.Engine
	for _, o := range row.Others {
		key := ownKey(e, o.Column)
		if key == "" {
			p.unused = append(p.unused, o.Column)
			continue
		}
		setting := key + "=" + o.Value
		if _, err := e.With(setting); err != nil {
			p.disagrees = append(p.disagrees, fmt.Sprintf("%s %s: %v", o.Column, o.Value, err))
			continue
		}
		d.Engine.Settings = append(d.Engine.Settings, setting)
	}
	for _, g := range row.givenSettings() {
		if len(e.Options) > 0 && !slices.ContainsFunc(g.keys, func(k string) bool { return len(e.OptionNames(k)) > 0 }) {
			p.disagrees = append(p.disagrees, fmt.Sprintf("%s: %s has no such setting", g.column, e.Name))
		}
	}
	if row.Speculative {
		p.drafts(d, parts)
	}
}

// drafts adds what drafts tokens, how many, and how often they are kept.
func (p *Prepared) drafts(d *deployment.Deployment, parts deployment.Parts) {
	row, e := p.Row, parts.Engine
	n, by := row.Drafted, row.drafter(parts.Model)
	if n == 0 {
		n = row.usualDrafts(e)
		p.assume(units.Counted(n, "token") + " drafted per step")
	}
	if row.Marked && row.TokenBudget > 0 && e.Name == "trtllm" {
		// Scripts add the drafts of a full batch to a prompt; without chunks a prompt would wait for ever otherwise.
		w := row.pools()
		room := row.TokenBudget + n*parallel.MaxPerRank(row.Concurrency, w[len(w)-1].DP)
		d.Engine.Settings = append(d.Engine.Settings, fmt.Sprintf("token_budget=%d", room))
		p.assume("the token budget has room for the drafts of a full batch")
	}
	for i := range d.Pools {
		d.Pools[i].MTP = n
		if by != draft.MTP {
			d.Pools[i].Drafter = by
		}
	}
	if row.Acceptance < 0 { // benchmarks send random words
		a := draft.Of(parts.Model, by, draft.Random)
		rates := a.Rates(n)
		for i := range d.Pools {
			d.Pools[i].AcceptanceRates = rates
		}
		p.assume(fmt.Sprintf("acceptance rates of drafted tokens are %.2g", rates))
	}
}

// givenSetting is a column with an engine setting, and the keys of it of which an
// engine has one.
type givenSetting struct {
	column string
	keys   []string
}

// givenSettings are those the row gives that not every engine has.
func (r *Row) givenSettings() []givenSetting {
	var out []givenSetting
	add := func(given bool, column string, keys ...string) {
		if given {
			out = append(out, givenSetting{column, keys})
		}
	}
	add(r.KV != "", "kv_cache_dtype", "kv_format")
	add(r.GraphBatch > 0, "cuda_graph_max_bs", "graph.max_batch", "graph.sizes")
	add(r.ReceiveEvery > 0, "recv_interval", "receive_interval")
	add(r.BatchWaitSteps > 0, "batch_wait_iters", "batch_wait.steps")
	add(r.Speculative, "spec_method", "mtp.tokens", "mtp.method")
	return out
}

// ownKey is the setting that an engine calls so, "" where it has none or its values
// are no numbers or words.
func ownKey(e *engine.Profile, column string) string {
	plain := func(name string) string {
		return strings.ToLower(strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_"))
	}
	if column == "adp_timeout_iters" { // as InferenceX abbreviates it
		column = "attention_dp_config.timeout_iters"
	}
	for _, key := range settingColumns() {
		if column == key || slices.ContainsFunc(e.OptionNames(key), func(name string) bool { return plain(name) == plain(column) }) {
			return key
		}
	}
	return ""
}

// settingColumns are the settings that a column may have by its own or the engine's name.
func settingColumns() []string {
	return []string{
		"token_budget", "max_sequences", "memory_share", "block_tokens", "max_context", "graph.max_batch", "receive_interval", "held_tokens",
		"window_share", "state_ratio", "batch_wait.steps", "batch_wait.ratio", "attention_dp.wait_steps",
	}
}
