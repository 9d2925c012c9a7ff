// Package draft knows how tokens are drafted: by a model's own MTP modules, by a published EAGLE-3 head, or by looking them up in
// the text.
//
// In: drafts.yaml, embedded, with a source for every figure. Out: how often drafts are kept, by position, and the heads as models of
// one layer. It knows no device and no engine. Start with draft.go.
package draft
