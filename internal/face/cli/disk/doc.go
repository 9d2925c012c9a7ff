// Package disk writes files and folders whole: after a failure, a kill or a power cut a target has its old content or its
// new one, and the next run clears what is left.
//
// In: names, and what they are to hold. Out: files, folders and locks. It knows nothing of commands, and does not choose words for
// people: what a file system refuses is a [Fault] with the reason alone. What it does to a file system is the interface
// [System]; tests put one in its place that fails or stops at any step.
//
// A write happens in a workspace beside the target, a folder .NAME.plimsoll-…, whose lock is held as long as its process lives.
// Start at [Disk.Write] for a file and at tree.go for folders; workspace.go says what becomes of the workspaces of killed runs.
package disk
