// Package roofline costs operators from a profile's peaks: the larger of
// arithmetic and memory time, plus a launch; collectives by latency and
// bandwidth of the link they cross.
//
// The formulas are those of Ascend's TensorCast, and the golden tests compare
// with its numbers. Start with roofline.go; collectives are in comm.go.
package roofline
