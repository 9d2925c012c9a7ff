// Package launch writes the files that run a predicted deployment, and reads such
// files, its own or anyone's, back into a deployment.
//
// In: a Plan, a resolved deployment with the lengths, batches and copies of a row.
// Out: Files as values, in a fixed order; writing them is the caller's business. The
// way back takes commands, scripts and manifests and gives a deployment with
// everything that the engine is not told left open. What an engine is told is
// derived in one place (values.go, told.go), and the names of its flags are the
// engine's options (internal/describe/engine), so a script, a Compose file and a manifest of
// one plan cannot differ. It does not know how a prediction is made, and it runs
// nothing. Start with plan.go and values.go; command.go turns values into a command
// line and back, and each target has a file: plain.go, compose.go, kubernetes.go,
// dynamo.go, llmd.go, bench.go, mindie.go. read.go is the way back.
package launch
