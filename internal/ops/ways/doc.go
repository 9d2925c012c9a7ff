// Package ways finds what would help where nothing fits or meets the limits: one thing is changed, in steps that grow, and the
// smallest step that helps is taken.
//
// In: steps of any kind, and a function that tries one. Out: the step to take. It also has the steps of what most searches
// may change: the number of devices and the system. It knows no requests: the operations make their steps of these. Start at [Take].
package ways
