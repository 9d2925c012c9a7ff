// Package engine describes the serving engines: how each schedules prompts and
// tokens, its budgets and their defaults, its share of the memory, its KV blocks,
// and its host times.
//
// In: YAML profiles, embedded, one file for each engine with its version ranges.
// Out: a Profile, immutable after return. It knows no operator and no workload,
// and of a device only its memory and generation.
//
// # Where to start reading
//
//   - profile.go: an engine in one range of versions
//   - settings.go: the table of all settings, used to read, replace and show values
//   - catalog.go: a profile by name and version
//
// Then settle.go fits the defaults to a device, memory.go counts the KV tokens, host.go has the times of the host side, kernels.go and
// latent.go fast and slow kernels; launch.go has the engines' names of settings, releases.go, between.go, reworked.go and successor.go what
// releases have and lack; preset.go settings of published deployments; runs.go where an engine runs.
//
// # What can be added
//
// An engine is a file in profiles and a line in catalog.go; a setting is a field of [Profile] and a line in settings.go (docs/extending.md).
package engine
