package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/dtype"
	"plimsoll/internal/nearest"
	"plimsoll/internal/units"
)

// setting is a value that can be replaced by its key.
type setting struct {
	key string
	set func(p *Profile, value string) error
}

// Keys lists what With can replace: the keys that Facts has, those of nested ones
// behind a dot.
func Keys() []string {
	var keys []string
	for _, s := range settings() {
		keys = append(keys, s.key)
	}
	return keys
}

// With returns the profile with values replaced, each given as "key=value":
// "token_budget=4096", "host.per_step_us=800". A host's time is replaced for every
// generation. A value replaced here is kept by On.
func (p *Profile) With(assignments ...string) (*Profile, error) {
	q := *p
	q.Tiers, q.Hosts = slices.Clone(p.Tiers), maps.Clone(p.Hosts)
	var errs []error
	for _, a := range assignments {
		if err := q.assign(a); err != nil {
			errs = append(errs, fmt.Errorf("engine setting %q: %w", a, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := q.check(); err != nil {
		return nil, fmt.Errorf("engine %s: %w", q.Name, err)
	}
	return &q, nil
}

func (p *Profile) assign(assignment string) error {
	key, value, ok := strings.Cut(assignment, "=")
	if !ok {
		return errors.New("want key=value")
	}
	key = strings.ReplaceAll(strings.TrimSpace(key), "-", "_")
	for _, s := range settings() {
		if s.key == key {
			return s.set(p, strings.TrimSpace(value))
		}
	}
	if near, ok := nearest.Match(key, Keys()); ok {
		return fmt.Errorf("unknown key; nearest: %s", near)
	}
	return fmt.Errorf("unknown key; the keys are %s", strings.Join(Keys(), ", "))
}

// settings are the values that With replaces.
func settings() []setting {
	return append(append(scheduling(), memory()...), host()...)
}

func scheduling() []setting {
	return []setting{
		{"policy", word(func(p *Profile, s string) { p.Policy = Policy(s) })},
		{"chunked_prefill", boolean(func(p *Profile) *bool { return &p.ChunkedPrefill })},
		{"token_budget", whole(func(p *Profile, n int) {
			p.TokenBudget = n
			p.eachTier(func(t *Tier) { t.TokenBudget = 0 })
		})},
		{"max_sequences", whole(func(p *Profile, n int) {
			p.MaxSequences = n
			p.eachTier(func(t *Tier) { t.MaxSequences = 0 })
		})},
		{"graph.max_batch", whole(func(p *Profile, n int) {
			p.Graph.MaxBatch = n
			p.eachTier(func(t *Tier) { t.GraphBatch, t.WideGraphBatch = 0, 0 })
		})},
		{"graph.eager_prefill", boolean(func(p *Profile) *bool { return &p.Graph.EagerPrefill })},
		{"graph.kernel_kib", number(func(p *Profile, x float64) { p.Graph.Kernel = units.Bytes(x) * units.KiB })},
		{"prefix_caching", boolean(func(p *Profile) *bool { return &p.PrefixCaching })},
		{"batch_wait.steps", whole(func(p *Profile, n int) { p.BatchWait.Steps = n })},
		{"batch_wait.ratio", number(func(p *Profile, x float64) { p.BatchWait.Ratio = x })},
		{"receive_interval", whole(func(p *Profile, n int) { p.ReceiveInterval = n })},
		{"held_tokens", whole(func(p *Profile, n int) { p.HeldTokens = n })},
		{"attention_dp.splits_budget", boolean(func(p *Profile) *bool { return &p.AttentionDP.SplitsBudget })},
		{"mtp.tokens", whole(func(p *Profile, n int) { p.MTP.Tokens = n })},
		{"mtp.overlapped", boolean(func(p *Profile) *bool { return &p.MTP.Overlapped })},
	}
}

func memory() []setting {
	return []setting{
		{"memory_share", number(func(p *Profile, x float64) { p.MemoryShare, p.ShareRule = x, nil })},
		{"memory_share_of", word(func(p *Profile, s string) { p.MemoryShareOf = ShareOf(s) })},
		{"workspace_gib", number(func(p *Profile, x float64) { p.Workspace = units.Bytes(x) * units.GiB })},
		{"communication_gib", number(func(p *Profile, x float64) { p.Communication = units.Bytes(x) * units.GiB })},
		{"peer_gib", number(func(p *Profile, x float64) { p.PerPeer = units.Bytes(x) * units.GiB })},
		{"logits_copies", number(func(p *Profile, x float64) { p.LogitsCopies = x })},
		{"max_context", whole(func(p *Profile, n int) { p.MaxContext = n })},
		{"index_rows", whole(func(p *Profile, n int) { p.IndexRows = n })},
		{"window_share", number(func(p *Profile, x float64) { p.WindowShare = x })},
		{"state_ratio", number(func(p *Profile, x float64) { p.StateRatio = x })},
		{"block_tokens", whole(func(p *Profile, n int) { p.BlockTokens = n })},
		{"kv_format", func(p *Profile, value string) error {
			f, ok := dtype.Parse(value)
			if !ok && value != auto {
				return fmt.Errorf("want %s, bf16, fp8 or another format", auto)
			}
			p.KVFormat = f
			return nil
		}},
		{"reserve", number(func(p *Profile, x float64) { p.Reserve = x })},
	}
}

func host() []setting {
	all := []setting{{"host.exposed", number(func(p *Profile, x float64) { p.Exposed = x })}}
	for _, term := range []struct {
		key string
		at  func(t *Terms) *units.Seconds
	}{
		{"per_step", func(t *Terms) *units.Seconds { return &t.PerStep }},
		{"per_sequence", func(t *Terms) *units.Seconds { return &t.PerSequence }},
		{"per_prefill_step", func(t *Terms) *units.Seconds { return &t.PerPrefillStep }},
		{"per_layer", func(t *Terms) *units.Seconds { return &t.PerLayer }},
		{"launch_floor.dense", func(t *Terms) *units.Seconds { return &t.Floor.Dense }},
		{"launch_floor.moe", func(t *Terms) *units.Seconds { return &t.Floor.MoE }},
		{"launch_floor.latent", func(t *Terms) *units.Seconds { return &t.Floor.Latent }},
		{"launch_floor.linear", func(t *Terms) *units.Seconds { return &t.Floor.Linear }},
		{"api_fixed", func(t *Terms) *units.Seconds { return &t.APIFixed }},
		{"api_per_token", func(t *Terms) *units.Seconds { return &t.APIPerToken }},
		{"first", func(t *Terms) *units.Seconds { return &t.First }},
	} {
		all = append(all, setting{"host." + term.key + "_us", number(func(p *Profile, x float64) {
			for generation, t := range p.Hosts {
				*term.at(&t) = units.Seconds(x) * units.Microsecond
				p.Hosts[generation] = t
			}
		})})
	}
	return all
}

func (p *Profile) eachTier(change func(*Tier)) {
	for i := range p.Tiers {
		change(&p.Tiers[i])
	}
}

func whole(set func(*Profile, int)) func(*Profile, string) error {
	return func(p *Profile, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil {
			return errors.New("want a whole number")
		}
		set(p, n)
		return nil
	}
}

func number(set func(*Profile, float64)) func(*Profile, string) error {
	return func(p *Profile, value string) error {
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || x-x != 0 { // NaN and the infinities
			return errors.New("want a number")
		}
		set(p, x)
		return nil
	}
}

func boolean(at func(*Profile) *bool) func(*Profile, string) error {
	return func(p *Profile, value string) error {
		b, err := strconv.ParseBool(value)
		if err != nil {
			return errors.New("want true or false")
		}
		*at(p) = b
		return nil
	}
}

func word(set func(*Profile, string)) func(*Profile, string) error {
	return func(p *Profile, value string) error {
		set(p, value)
		return nil
	}
}
