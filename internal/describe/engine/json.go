package engine

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// MarshalJSON writes the profile with the keys and units of its file, without empty fields
// that are not settings.
func (p *Profile) MarshalJSON() ([]byte, error) { return json.Marshal(p.document()) }

// document is the profile as nested objects.
func (p *Profile) document() map[string]any {
	doc := map[string]any{}
	put(doc, "", filled(p.identity()))
	put(doc, "", append(p.settings(), setting{key: "host.overlapped", at: new(p.Exposed < 1)}))
	for generation, t := range p.Hosts {
		put(doc, "host.times_us."+generation+".", t.settings())
	}
	for _, x := range p.parts() {
		if x.at.Kind() == reflect.Slice {
			putList(doc, x.key, x.at.Len(), func(i int) []setting { return fieldsOf(x.at.Index(i), "") })
		} else if !x.at.IsNil() {
			put(doc, x.key+".", fieldsOf(x.at.Elem(), ""))
		}
	}
	if len(p.Options) > 0 {
		doc["options"] = p.names()
	}
	return doc
}

// WithPresets is a profile together with the presets of its engine.
type WithPresets struct{ *Profile }

// MarshalJSON writes the profile like its own, and the presets.
func (p WithPresets) MarshalJSON() ([]byte, error) {
	doc := p.document()
	if all := Presets(p.Name); len(all) > 0 {
		doc["presets"] = all
	}
	return json.Marshal(doc)
}

// names are the options as a file writes them.
func (p *Profile) names() map[string]any {
	out := map[string]any{}
	for key, name := range p.Options {
		out[key] = name
	}
	for key, all := range p.Renamed {
		var list []map[string]string
		for _, n := range all {
			entry := map[string]string{"name": n.Name}
			if n.Versions.Since != "" {
				entry["since"] = n.Versions.Since
			}
			if n.Versions.Until != "" {
				entry["until"] = n.Versions.Until
			}
			list = append(list, entry)
		}
		out[key] = list
	}
	return out
}

// filled leaves out settings that are zero.
func filled(all []setting) []setting {
	return slices.DeleteFunc(all, func(s setting) bool { return reflect.ValueOf(s.value()).IsZero() })
}

// putList adds a list of n objects with their settings, if any.
func putList(doc map[string]any, name string, n int, of func(int) []setting) {
	if n == 0 {
		return
	}
	list := make([]map[string]any, n)
	for i := range list {
		list[i] = map[string]any{}
		put(list[i], "", filled(of(i)))
	}
	doc[name] = list
}

// put adds settings to an object.
func put(object map[string]any, prefix string, all []setting) {
	for _, s := range all {
		at := object
		path := strings.Split(prefix+s.key, ".")
		for _, name := range path[:len(path)-1] {
			inner, ok := at[name].(map[string]any)
			if !ok {
				inner = map[string]any{}
				at[name] = inner
			}
			at = inner
		}
		at[path[len(path)-1]] = s.value()
	}
}
