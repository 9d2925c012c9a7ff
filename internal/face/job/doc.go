// Package job keeps long questions: a job goes on when its client leaves, reports its progress, shows the answer as far as it is
// known, and keeps the answer for a while.
//
// In: a question of package operation and the name of a client. Out: the state of a job by its id, which is that of its
// question: equal questions are one job, and every server of the same version gives it the same id. The number of jobs, their
// time and their memory are bounded. It knows no protocol. Start at [New].
package job
