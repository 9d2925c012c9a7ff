// Package launch turns a deployment into the flags and settings of its engines, and
// reads launch commands, scripts and manifests back into a deployment.
//
// In: a Plan, which is a resolved deployment with the lengths, batches and copies of a
// row of a search. Out: Values, what the engines of each pool are started with, and
// their command lines. All engine settings are derived here, and the names of flags are
// the engine's options (internal/describe/engine), so the files of two targets cannot
// differ. Reading accepts any launch files and gives a deployment that leaves open what they
// do not set. Text becomes part of a shell command only as a Word, which quotes
// it. The package does not know how a prediction is made, writes no files
// (internal/launch/files does) and runs nothing.
//
// # Where to start reading
//
//   - plan.go: what is to be started
//   - values.go: every setting of its engines, derived in one place
//   - read.go: launch files back into a deployment
//
// Out: command.go and shell.go make command lines, site.go has what depends on the user's cluster, hostcache.go caches on the host. In:
// script.go, conditions.go, extent.go and budget.go follow shell scripts, manifest.go objects of Kubernetes, readconfig.go config files;
// parse.go, call.go and settle.go read a command; release.go compares it with a release. native.go and param.go have the engines' own
// terms, both ways, note.go what a file says about itself.
//
// # What can be added
//
// A setting of engines: an option in the profiles of internal/describe/engine, a field of native in native.go, and a line in param.go. The round-trip
// test writes and reads random plans.
package launch
