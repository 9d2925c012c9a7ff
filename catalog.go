package plimsoll

import (
	"plimsoll/internal/device"
	"plimsoll/internal/engine"
	"plimsoll/internal/model"
)

// Model is a model of the catalog.
type Model struct {
	ID      string
	Family  string
	AliasOf string // the ID of the model this is another name of, then the rest is zero
	// Parameters are all, Active those that one token uses.
	Parameters, Active int64
	KVBytes            float64 // of cache per token, in the checkpoint's format
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

// System is a device and the machines it stands in.
type System struct {
	Name       string
	Vendor     string
	Generation string
	Memory     int64   // bytes of one device
	Bandwidth  float64 // of that memory, bytes per second
	Node       int     // devices of a node
	Devices    int     // the most that its links join
	USDPerHour float64 // list price of one device, 0 is unknown
}

// Systems lists the built-in device profiles.
func Systems() []System {
	var all []System
	for _, name := range device.Names() {
		p := must(device.Lookup(name))
		all = append(all, System{
			Name: p.Name, Vendor: string(p.Vendor), Generation: p.Generation, Memory: int64(p.Memory), Bandwidth: float64(p.Bandwidth),
			Node: p.Node, Devices: p.Ranks(), USDPerHour: p.Price.USDPerHour,
		})
	}
	return all
}

// Engines lists the engines. One that changed its defaults is there once for each
// range of versions that has its own, newest first; Version is then the first of
// the range.
func Engines() []Engine {
	var all []Engine
	for _, name := range engine.Names() {
		for _, p := range must(engine.Versions(name)) {
			all = append(all, Engine{Name: p.Name, Version: p.Versions.Since})
		}
	}
	return all
}

// must passes on what is embedded: tests read all of it.
func must[T any](x T, err error) T {
	if err != nil {
		panic("plimsoll: what is embedded cannot be read: " + err.Error())
	}
	return x
}
