package operation

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// ListRequest asks for entries of a catalog.
type ListRequest struct {
	// Query is words that an entry must contain, in any case and order; "" = all.
	Query string `json:"q,omitempty"`
	// Limit is the maximum number of entries; 0 = 50 models, or all of another catalog.
	Limit int `json:"limit,omitempty" minimum:"0" maximum:"1000000"`
	// Offset is the number of entries to pass over.
	Offset int `json:"offset,omitempty" minimum:"0" maximum:"1000000"`
}

// Models is a list of models.
type Models struct {
	Models []Model `json:"models"`
	Total  int     `json:"total"` // that match
	// Next is the offset of the entries that follow; left out after the last.
	Next int `json:"next_offset,omitempty"`
}

// Model is a model of the catalog, with the properties that matter for a request.
type Model struct {
	ID      string `json:"id"`
	Family  string `json:"family"`
	AliasOf string `json:"alias_of,omitempty"` // the id that another name stands for

	Parameters int64 `json:"parameters"`
	Active     int64 `json:"active_parameters"`
	Context    int   `json:"max_position"`
	// Experts says that it is a mixture of experts, Vision that requests may have images, MTP
	// that it has MTP modules.
	Experts bool `json:"experts"`
	Vision  bool `json:"vision"`
	MTP     bool `json:"mtp"`
}

// Devices is a list of device profiles, which requests call systems.
type Devices struct {
	Devices []device.Facts `json:"devices"`
	Total   int            `json:"total"` // that match
	// Next is the offset of the entries that follow; left out after the last.
	Next int `json:"next_offset,omitempty"`
}

// Engines is a list of serving engines, and of known uses with their lengths.
type Engines struct {
	Engines []Engine `json:"engines"`
	Presets []Preset `json:"presets"`
}

// Engine is a serving engine.
type Engine struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Versions are the releases at which its defaults changed, the newest first; Known is the
	// newest release with measured results.
	Versions []string `json:"versions"`
	Known    string   `json:"known,omitempty"`
	// Vendors are the vendors of devices on which plans consider it.
	Vendors []string `json:"vendors"`
	// Presets are settings of published deployments, each with its source.
	Presets []EnginePreset `json:"engine_presets"`
}

// EnginePreset is settings of published deployments of an engine.
type EnginePreset struct {
	Name   string `json:"name"`
	Source string `json:"source"`
}

// Preset is the lengths of a known use, and the latency limits that are usual for it.
type Preset struct {
	Name   string `json:"name"`
	Input  int    `json:"mean_isl"`
	Output int    `json:"mean_osl"`
	Prefix int    `json:"prefix"` // tokens of the input found in the prefix cache
	Source string `json:"source"`
	// Session is set where the requests come in sessions.
	Session *workload.Session `json:"session,omitempty"`
	// Limits are those of a plan without limits.
	Limits       workload.Limits `json:"usual_limits"`
	LimitsSource string          `json:"usual_limits_source"`
}

// someModels is the default number of models in a list.
const someModels = 50

func lists() []Operation {
	out := []Operation{
		define("models", "Models", "List the models of the catalog, or search it by words of the id or family.", listModels, nil),
		define("devices", "Devices", "List the device profiles (systems): memory, peaks, links, list price.", listDevices, nil),
		define("engines", "Engines", "List the serving engines with their versions, and the presets of workloads.", listEngines, nil),
	}
	for i := range out {
		out[i].Light = true
	}
	return out
}

// has reports whether texts have every word of a query.
func has(query string, texts ...string) bool {
	all := strings.ToLower(strings.Join(texts, " "))
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// apart separates letters and digits by spaces: "llama70b" is "llama 70 b".
func apart(s string) string {
	var b strings.Builder
	last := ' '
	for _, c := range strings.ToLower(s) {
		letter, digit := unicode.IsLetter(c), unicode.IsDigit(c) || c == '.'
		if !letter && !digit {
			c = ' '
		} else if last != ' ' && unicode.IsLetter(last) != letter && (!digit || last != '.') {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
		last = c
	}
	return b.String()
}

// likeness is how well an id suits a query: whole words before parts of words, ids that say little else before others, and those of the makers of
// models before conversions and copies.
func likeness(query string, e *model.Entry) float64 {
	words, own := strings.Fields(apart(query)), strings.Fields(apart(path.Base(e.ID)))
	hits := 0
	for _, w := range words {
		if slices.Contains(own, w) {
			hits++
		}
	}
	out := float64(hits)/float64(len(words)) + float64(hits)/float64(len(own)+1)
	switch one, all := strings.Join(words, ""), strings.Join(own, ""); { // in one piece
	case strings.HasPrefix(all, one):
		out++
	case strings.Contains(all, one):
		out += 0.2
	}
	if slices.Contains([]string{"qwen", "meta-llama", "deepseek-ai", "openai", "mistralai", "google", "moonshotai", "zai-org", "microsoft", "minimaxai"}, strings.ToLower(path.Dir(e.ID))) {
		out += 0.25
	}
	if e.AliasOf != "" {
		out -= 0.1
	}
	return out
}

// popular is the place of a system that is often asked for; others follow in their order.
func popular(name string) int {
	order := []string{"h100_sxm", "h200_sxm", "b200_sxm", "gb200", "b300_sxm", "gb300", "mi300x", "mi355x", "a100_sxm", "l40s", "rtx_pro_6000_server", "h20"}
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}

// page is a part of a list, and the offset of the next part, 0 after the last.
func page[T any](all []T, r ListRequest, usual int) (part []T, next int, err error) {
	switch {
	case r.Limit < 0:
		return nil, 0, document.Wrong("limit must not be negative", "limit")
	case r.Offset < 0:
		return nil, 0, document.Wrong("offset must not be negative", "offset")
	}
	from := min(r.Offset, len(all))
	until := min(from+min(cmp.Or(r.Limit, usual), len(all)), len(all))
	if until < len(all) {
		next = until
	}
	return all[from:until], next, nil
}

func listModels(_ context.Context, _ *Env, r ListRequest) (*Models, error) {
	entries := slices.DeleteFunc(model.IDs(), func(e model.Entry) bool { return !has(apart(r.Query), e.ID, e.Family, apart(e.ID)) })
	if r.Query != "" {
		slices.SortStableFunc(entries, func(a, b model.Entry) int { return cmp.Compare(likeness(r.Query, &b), likeness(r.Query, &a)) })
	}
	out := &Models{Models: []Model{}, Total: len(entries)}
	entries, next, err := page(entries, r, someModels)
	if err != nil {
		return nil, err
	}
	out.Next = next
	for _, e := range entries {
		m, err := model.Lookup(e.ID)
		if err != nil {
			return nil, err
		}
		f := m.Facts()
		out.Models = append(out.Models, Model{
			ID: e.ID, Family: e.Family, AliasOf: e.AliasOf, Parameters: f.Parameters, Active: f.Active, Context: f.MaxPosition,
			Experts: m.HasExperts(), Vision: m.Vision != nil, MTP: f.MTPParameters > 0,
		})
	}
	return out, nil
}

func listDevices(_ context.Context, _ *Env, r ListRequest) (*Devices, error) {
	all := []device.Facts{}
	profiles := device.All()
	slices.SortStableFunc(profiles, func(a, b *device.Profile) int { return cmp.Compare(popular(a.Name), popular(b.Name)) })
	for _, p := range profiles {
		if has(r.Query, p.Name, string(p.Vendor), p.Generation, strings.Join(p.Aliases, " ")) {
			all = append(all, p.Facts())
		}
	}
	some, next, err := page(all, r, len(all))
	return &Devices{some, len(all), next}, err
}

func listEngines(context.Context, *Env, struct{}) (*Engines, error) {
	out := &Engines{Engines: []Engine{}, Presets: []Preset{}}
	for _, name := range engine.Names() {
		versions, err := engine.Versions(name)
		if err != nil {
			return nil, err
		}
		e := Engine{Name: name, Title: versions[0].Title, Known: versions[0].Known, Versions: []string{}, Vendors: []string{}, Presets: []EnginePreset{}}
		for _, p := range engine.Presets(name) {
			e.Presets = append(e.Presets, EnginePreset{p.Name, p.Source})
		}
		for _, p := range versions {
			if p.Versions.Since != "" {
				e.Versions = append(e.Versions, p.Versions.Since)
			}
		}
		for _, v := range []device.Vendor{device.NVIDIA, device.AMD, device.Ascend} {
			if slices.Contains(launch.Engines(v), name) {
				e.Vendors = append(e.Vendors, string(v))
			}
		}
		out.Engines = append(out.Engines, e)
	}
	for _, p := range workload.Presets() {
		out.Presets = append(out.Presets, Preset{p.Name, p.Input, p.Output, p.Prefix, p.Source, p.Session(), p.Usual.Limits, p.Usual.Source})
	}
	return out, nil
}
