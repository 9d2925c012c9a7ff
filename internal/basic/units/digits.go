package units

import (
	"math"
	"strconv"
)

// Digits is the number of significant digits of a number in a document or a table. The last bits depend on the processor (ARM fuses
// multiplications and additions, x86 has its own exponential function), about 1e-13 of a figure. Ten digits hide that, and no figure
// of a plan is more precise. Where two events of a simulation are due at the same time, the last bits decide which comes first, and
// figures may differ by about 0.01 %, less than their sampling error.
const Digits = 10

// Rounded is a number with so many digits, or more if they are before the point.
func Rounded(x float64) float64 {
	if math.Abs(x) >= 1e10 {
		return math.Round(x)
	}
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', Digits, 64), 64) // of its own text
	return x
}
