// Package draft describes the drafting methods: a model's own MTP modules, a published EAGLE-3 head, or n-gram look-up in
// the text.
//
// In: drafts.yaml, embedded, with a source for every figure. Out: acceptance rates by position, and the heads as models of
// one layer. It knows no device and no engine. Start with draft.go.
package draft
