// Package plan compares systems, engines and serving modes by simulation, and says what the
// best deployment carries, what it costs and what would change the answer.
//
// In: a [Request], which [Check] completes. Out: a [Response]. Package experiment searches one system, engine and
// mode. Start at [Run] in search.go;
// response.go defines the record behind JSON and reports, words.go its sentences, record.go reads and compares records.
package plan
