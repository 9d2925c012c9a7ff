// Package job runs long requests in the background: a job continues when its client disconnects, reports progress, returns the answer
// so far, and keeps the answer for a while.
//
// In: a request of package operation and the name of a client. Out: the state of a job by its id, which derives from the
// request: identical requests share a job, and every server of the same version gives it the same id. The number of jobs, their
// time and their memory are limited. It knows no protocol. Start at [New].
package job
