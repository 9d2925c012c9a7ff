// Package plan compares systems, engines and serving modes by simulation, and says what the
// best deployment carries, what it costs and what would change the answer.
//
// In: a [Request], which [Check] completes. Out: a [Response]. How one system, engine and mode
// is searched is known to package experiment. Start at [Run] in search.go;
// response.go is the record that JSON and reports have, words.go its sentences, record.go reads and compares records.
package plan
