// Package engine describes the serving engines: how each schedules prompts and
// tokens, its budgets and their defaults, its share of the memory, its KV blocks,
// and its host times.
//
// In: YAML profiles, embedded, one file for each engine with its version ranges.
// Out: a Profile, immutable after return. It knows no operator and no workload,
// and of a device only its memory and generation. Start with profile.go and
// settings.go, the table of all settings, used to read, replace and show values; catalog.go finds a profile by name and version, settle.go fits the
// defaults to a device, memory.go counts the KV tokens, host.go has the times of
// the host side.
package engine
