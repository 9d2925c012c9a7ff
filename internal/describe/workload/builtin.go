package workload

import (
	"bytes"
	_ "embed" // builtin.yaml

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
)

//go:embed builtin.yaml
var builtin []byte

// Embedded is the data of this package as they are in the program, for checks of an installation.
func Embedded() embedded.Files { return embedded.Files{"builtin.yaml": builtin} }

// Builtin returns a default distribution for mixed lengths: 35 bins up to 140000 tokens,
// with a mean of 4230.
func Builtin() *Distribution {
	d, err := ReadDistribution(bytes.NewReader(builtin), "builtin.yaml")
	if err != nil {
		panic("workload: the embedded distribution: " + err.Error())
	}
	d.File = BuiltinFile
	return d
}
