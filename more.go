package plimsoll

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// withMore is the JSON of a struct with the fields of an object besides; those of the object win.
func withMore(fields any, more json.RawMessage) ([]byte, error) {
	data, err := json.Marshal(fields)
	if err != nil || len(more) == 0 {
		return data, err
	}
	var all, others map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(more, &others); err != nil {
		return nil, err
	}
	maps.Copy(all, others)
	return json.Marshal(all)
}

// rest reads an object into a struct, and returns the fields that the struct does not have; nil without any.
func rest(data []byte, into any) (json.RawMessage, error) {
	if err := json.Unmarshal(data, into); err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(into).Elem()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		delete(all, name)
	}
	maps.DeleteFunc(all, func(_ string, v json.RawMessage) bool { return slices.Contains([]string{"{}", "null"}, string(v)) })
	if len(all) == 0 {
		return nil, nil
	}
	return json.Marshal(all)
}
