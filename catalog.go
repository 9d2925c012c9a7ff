package plimsoll

import (
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// Model is a model of the catalog.
type Model struct {
	ID      string
	Family  string
	AliasOf string // the ID of the model this is another name of, then the rest is zero
	// Parameters is the total, Active the number used per token.
	Parameters, Active int64
	KVBytes            float64 // KV cache per token, in the checkpoint's format
}

// Models lists the catalog in the order of the ids.
func Models() []Model {
	var all []Model
	for _, e := range model.IDs() {
		m := Model{ID: e.ID, Family: e.Family, AliasOf: e.AliasOf}
		if e.AliasOf == "" {
			f := must(model.Lookup(e.ID)).Facts()
			m.Parameters, m.Active, m.KVBytes = f.Parameters, f.Active, float64(f.KV.Checkpoint)
		}
		all = append(all, m)
	}
	return all
}

// System is a device and its node.
type System struct {
	Name       string
	Vendor     string
	Generation string
	Memory     int64   // bytes of one device
	Bandwidth  float64 // of that memory, bytes per second
	Node       int     // devices of a node
	Devices    int     // maximum that its links connect
	USDPerHour float64 // list price of one device, 0 is unknown
}

// Systems lists the built-in device profiles.
func Systems() []System {
	var all []System
	for _, p := range device.All() {
		all = append(all, System{
			Name: p.Name, Vendor: string(p.Vendor), Generation: p.Generation, Memory: int64(p.Memory), Bandwidth: float64(p.Bandwidth),
			Node: p.Node, Devices: p.Ranks(), USDPerHour: p.Price.USDPerHour,
		})
	}
	return all
}

// Engines lists the engines. An engine whose defaults changed is listed once for each
// range of versions, newest first; Version is then the first of the range.
func Engines() []Engine {
	var all []Engine
	for _, name := range engine.Names() {
		for _, p := range must(engine.Versions(name)) {
			all = append(all, Engine{Name: p.Name, Version: p.Versions.Since})
		}
	}
	return all
}

// must returns embedded data, which tests read completely.
func must[T any](x T, err error) T {
	if err != nil {
		panic("plimsoll: reading embedded data: " + err.Error())
	}
	return x
}
