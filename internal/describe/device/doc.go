// Package device describes the hardware: arithmetic peaks by number format, memory,
// efficiencies, fixed costs, the grid of links between devices, price and power.
//
// In: YAML profiles, embedded or a user's own. Out: a Profile, immutable after
// return. It knows no model and no operator.
//
// # Where to start reading
//
//   - profile.go: a device and its system
//   - fields.go: the fields of a file, with defaults and bounds; values.go and decimal.go read one value
//   - catalog.go: an embedded profile by name, and instance.go by a cloud's machine type
//
// Then parse.go and reader.go, which read a user's file with the line of every mistake, grid.go for links between devices, and facts.go for
// the displayed values. The profiles are in profiles/, one file each, and profile.schema.json describes them to editors. A new device is a
// file there and a line in catalog.go (docs/extending.md).
package device
