package engine

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
)

// Named is an engine's name for something in a range of versions.
type Named struct {
	Name     string
	Versions Range
}

// launchKeys are the options of a launch command other than settings; an engine's names for
// them are among its options too. A size is of the whole engine, as on its command line:
// launch knows how each engine interprets it.
func launchKeys() []string {
	return []string{
		"model", "served_name", "checkpoint",
		"dtype", // of 16-bit parts and activations
		"layout.tp", "layout.pp", "layout.dp", "layout.ep", "layout.moe_tp", "layout.moe_dp", "layout.dcp",
		"layout.attention_dp",  // data-parallel ranks of attention
		"layout.expert_switch", // experts are distributed over all ranks
		"attention_dp.switch",  // the data-parallel ranks share the experts
		"attention_dp.waits",   // their prompts wait for each other
		"graph.sizes", "graph.off",
		"prefill_limit", // prompt tokens of a step where prompts are not split
		"mtp.method", "mtp.width", "mtp.draft",
		"draft.model", "draft.tokens", // of drafts that are not the model's own
		"role", "transfer", "transfer_tokens", "overlap_off",
		"host_cache.switch", "host_cache.size", "host_cache.backend", // host memory for blocks that devices evict
		"nodes.count", "nodes.rank", "nodes.address", "nodes.port",
		"nodes.dp_local", "nodes.dp_start", "nodes.dp_address", "nodes.dp_port", "nodes.follows",
	}
}

// Option is the engine's own name of a setting, or of another launch option, in a release
// ("" is the newest); "" if that release has none.
func (p *Profile) Option(key, release string) string {
	for _, n := range p.named(key) {
		in := release == "" && n.Versions.Until == "" || release != "" && n.Versions.contains(release)
		if in && (Has(p.Server(), n.Name, release) && Has(p.Server()+keyList, n.Name, release)) {
			return n.Name
		}
	}
	return ""
}

// named are the names that a setting has had, newest first. Where the table of releases has them it says which release
// has which.
func (p *Profile) named(key string) []Named {
	if all, ok := p.Renamed[key]; ok {
		return all
	}
	if name := p.Options[key]; name != "" {
		return []Named{{Name: name}}
	}
	return nil
}

// current is the name in the newest release that has the profile, or of a range in
// the past in its first.
func (p *Profile) current(key string) string {
	if p.Versions.Until == "" {
		return p.Option(key, "")
	}
	return p.Option(key, p.Versions.Since)
}

// OptionNames are all names that a setting has had, newest first.
func (p *Profile) OptionNames(key string) []string {
	var out []string
	for _, n := range p.named(key) {
		out = append(out, n.Name)
	}
	return out
}

// readOption reads the name of a setting: a word, or a list of words, with the
// versions that have them where the table of releases does not say.
func (p *Profile) readOption(ps *strictyaml.Problems, path, key string, n *yaml.Node) {
	if err := p.knowsOption(key); err != nil {
		ps.Add(n.Line, path, "%s", err)
	}
	delete(p.Renamed, key)
	if n.Kind != yaml.SequenceNode {
		p.Options[key] = n.Value
		return
	}
	for i, item := range n.Content {
		named := Named{Name: item.Value}
		all := []setting{{"name", rule{}, "", &named.Name}, {"since", rule{}, "", &named.Versions.Since}, {"until", rule{}, "", &named.Versions.Until}}
		if item.Kind != yaml.ScalarNode {
			leaves(ps, "", item, func(word string, n *yaml.Node) {
				readSetting(ps, fmt.Sprintf("%s[%d].%s", path, i, word), n, all, word)
			})
		}
		p.Renamed[key] = append(p.Renamed[key], named)
	}
	if len(p.Renamed[key]) > 0 {
		p.Options[key] = p.Renamed[key][0].Name
	}
}

// knowsOption reports a key that is neither a setting nor said at launch.
func (p *Profile) knowsOption(key string) error {
	keys := launchKeys()
	if slices.Contains(keys, key) {
		return nil
	}
	_, err := byKey(p.settings(), key)
	if err == nil {
		return nil
	}
	if near, ok := nearest.Match(key, keys); ok && !strings.Contains(err.Error(), "nearest") {
		return fmt.Errorf("unknown key; nearest: %s", near)
	}
	return err
}
