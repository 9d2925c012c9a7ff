package measured

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// usualDrafts is how many tokens a row drafts that does not say: three in most public
// launch scripts of models with MTP modules.
const usualDrafts = 3

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
	if !row.Speculative {
		return
	}
	if row.Drafted == 0 {
		p.assume(fmt.Sprintf("%d tokens are drafted per step", usualDrafts))
		for i := range d.Pools {
			d.Pools[i].MTP = usualDrafts
		}
	}
	if row.Acceptance < 0 {
		p.assume(fmt.Sprintf("acceptance rates of drafted tokens are %.2g", deployment.MeasuredAcceptance(parts.Model, cmp.Or(row.Drafted, usualDrafts))))
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
