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
// (internal/launch/files does) and runs nothing. Start with plan.go and values.go;
// native.go and param.go have the engines' own terms, read.go reads launch files.
package launch
