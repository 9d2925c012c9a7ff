// Package device describes the hardware: arithmetic peaks by number format, memory,
// efficiencies, fixed costs, the grid of links between devices, price and power.
//
// In: YAML profiles, embedded or a user's own. Out: a Profile, immutable after
// return. It knows no model and no operator. Start with profile.go; catalog.go
// finds an embedded profile by name and instance.go by a cloud's machine type,
// parse.go reads a user's file with the line of every mistake, facts.go has the
// displayed values. The profiles are in profiles/, one file each, and profile.schema.json
// describes them to editors.
package device
