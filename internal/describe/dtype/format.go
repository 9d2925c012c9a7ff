package dtype

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

// Format is a number format of tensor elements.
type Format uint8

// The formats, widest first. Block-scaled formats (MXFP4, NVFP4) share the FP4
// arithmetic peak; all FP8 variants share one.
const (
	None Format = iota // no value: "as the default has it"
	F32
	BF16
	F16
	FP8
	INT8
	FP4
	INT4
	Formats // number of formats, for tables indexed by one
)

// names are the spellings used in profiles, JSON and tables.
//
//nolint:gochecknoglobals // a constant table
var names = [Formats]string{"", "f32", "bf16", "f16", "fp8", "int8", "fp4", "int4"}

// String returns the format's short name.
func (f Format) String() string {
	if f < Formats {
		return names[f]
	}
	return "?"
}

// Parse finds a format by its short name.
func Parse(name string) (Format, bool) {
	for f := F32; f < Formats; f++ {
		if names[f] == name {
			return f, true
		}
	}
	return None, false
}

// bytesOf is the storage of one element, without scales.
//
//nolint:gochecknoglobals // a constant table
var bytesOf = [Formats]float64{0, 4, 2, 2, 1, 1, 0.5, 0.5}

// Bytes is the storage of n elements, without scales.
func (f Format) Bytes(n float64) units.Bytes { return units.Bytes(n * bytesOf[f]) }

// Width is the storage of one element in bytes, without scales.
func (f Format) Width() float64 { return bytesOf[f] }
