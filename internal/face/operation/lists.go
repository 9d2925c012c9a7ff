package operation

import (
	"cmp"
	"context"
	"slices"
	"strings"

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
	Limit int `json:"limit,omitempty"`
	// Offset is the number of entries to pass over.
	Offset int `json:"offset,omitempty"`
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
	// Limits are those of a plan without limits.
	Limits       workload.Limits `json:"usual_limits"`
	LimitsSource string          `json:"usual_limits_source"`
}

// someModels is the default number of models in a list.
const someModels = 50

func lists() []Operation {
	out := []Operation{
		define("models", "Models", "List the models of the catalog, or search it by words of the id or family.", listModels),
		define("devices", "Devices", "List the device profiles (systems): memory, peaks, links, list price.", listDevices),
		define("engines", "Engines", "List the serving engines with their versions, and the presets of workloads.", listEngines),
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

func listModels(_ context.Context, _ *Kit, r ListRequest) (*Models, error) {
	entries := slices.DeleteFunc(model.IDs(), func(e model.Entry) bool { return !has(r.Query, e.ID, e.Family) })
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

func listDevices(_ context.Context, _ *Kit, r ListRequest) (*Devices, error) {
	all := []device.Facts{}
	for _, name := range device.Names() {
		p, err := device.Lookup(name)
		if err != nil {
			return nil, err
		}
		if has(r.Query, p.Name, string(p.Vendor), p.Generation, strings.Join(p.Aliases, " ")) {
			all = append(all, p.Facts())
		}
	}
	some, next, err := page(all, r, len(all))
	return &Devices{some, len(all), next}, err
}

func listEngines(context.Context, *Kit, struct{}) (*Engines, error) {
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
		out.Presets = append(out.Presets, Preset{p.Name, p.Input, p.Output, p.Prefix, p.Source, p.Usual.Limits, p.Usual.Source})
	}
	return out, nil
}
