// Package dtype describes number formats and quantization schemes: the bytes of
// an element with its scales, and the arithmetic peak of a format.
//
// In: names from checkpoints and flags. Out: small comparable values. It knows
// neither models nor devices. Start with Format, then Scheme.
package dtype
