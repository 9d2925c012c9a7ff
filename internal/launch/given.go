package launch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Given reports whether the command sets an option, by its key.
func (l *Launch) Given(key string) bool { return l.given[key] }

// Pool is the pool that the launch starts, with only the settings it sets.
func (l *Launch) Pool() deployment.Pool {
	t := &l.set
	layout, batch := t.layout(l.Engine)
	out := deployment.Pool{Role: l.Role, Layout: layout, MTP: t.MTP, Drafter: l.drafter()}
	set := func(key string, value any) { out.Settings = append(out.Settings, fmt.Sprintf("%s=%v", key, value)) }
	if l.given["max_context"] {
		set("max_context", t.MaxLength)
	}
	if l.given["max_sequences"] {
		set("max_sequences", batch)
	}
	l.budget(set)
	if l.given["memory_share"] {
		set("memory_share", words(&t.MemoryShare)[0])
	}
	if l.given["kv_format"] {
		set("kv_format", map[bool]string{true: "fp8", false: t.KV}[strings.HasPrefix(t.KV, "fp8")])
	}
	if l.given["prefix_caching"] || l.Engine == SGLang {
		set("prefix_caching", l.Engine == SGLang && !l.given["prefix_caching"] || t.PrefixCaching)
	}
	switch {
	case t.NoGraphs:
		set("graph.max_batch", 0)
	case len(t.Graphs) > 0:
		set("graph.max_batch", slices.Max(t.Graphs))
	}
	for _, s := range l.profile.Settings() {
		if text, ok := l.extras[s.Key]; ok {
			set(s.Key, text)
		}
	}
	return out
}

// budget sets the token budget and chunked prefill. One flag of SGLang sets both.
func (l *Launch) budget(set func(string, any)) {
	t := &l.set
	switch {
	case l.Engine == SGLang && t.TokenBudget < 0:
		if t.PrefillLimit > 0 {
			set("token_budget", t.PrefillLimit)
		}
		set("chunked_prefill", false)
		return
	case l.given["token_budget"]:
		set("token_budget", t.TokenBudget)
	}
	if l.given["chunked_prefill"] || l.Engine == SGLang && l.given["token_budget"] {
		set("chunked_prefill", l.Engine == SGLang || t.ChunkedPrefill)
	}
}

// At is where a command sets an option, by its key or its flag.
func (l *Launch) At(key string) (Place, bool) {
	p, ok := l.places[key]
	return p, ok
}

// Flag is a flag or a key of a config file, with its list in the table of releases.
type Flag struct{ List, Name string }

// Flags are the flags of the command, and the keys of its config file.
func (l *Launch) Flags() []Flag {
	var out []Flag
	for _, flag := range l.flags {
		out = append(out, Flag{l.Engine, strings.ReplaceAll(flag, "_", "-")})
	}
	for _, key := range l.keys {
		out = append(out, Flag{l.Engine + "-keys", key})
	}
	return out
}

// Flags are those of all commands.
func (f *Found) Flags() []Flag {
	var out []Flag
	for i := range f.Launches {
		out = append(out, f.Launches[i].Flags()...)
	}
	return out
}

// Model is what the command names as its model, "" if nothing.
func (l *Launch) Model() string { return l.set.Model }

// DType is the format of 16-bit parts that the command asks for, "" if none.
func (l *Launch) DType() string { return l.set.DType }

// OpenLayout reports a parallel size that is a variable without a value.
func (l *Launch) OpenLayout() bool {
	for _, key := range []string{"layout.tp", "layout.pp", "layout.dp", "layout.attention_dp"} {
		if _, written := l.places[key]; written && !l.given[key] {
			return true
		}
	}
	return false
}

// Written are the settings of the command as they are written.
func (l *Launch) Written() []string {
	out := []string{}
	for _, s := range l.Pool().Settings {
		key, value, _ := strings.Cut(s, "=")
		if at, ok := l.places[key]; ok {
			out = append(out, strings.TrimSpace(at.Flag+" "+strings.Join(at.Words, " ")))
		} else if _, known := l.places["graph.sizes"]; key == "graph.max_batch" && known {
			out = append(out, "graphs up to "+value)
		}
	}
	return out
}
