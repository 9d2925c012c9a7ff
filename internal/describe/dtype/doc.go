// Package dtype knows number formats and quantization schemes: how many bytes
// an element takes with its scales, and which arithmetic peak a format uses.
//
// In: names from checkpoints and flags. Out: small comparable values. It knows
// neither models nor devices. Start with Format, then Scheme.
package dtype
