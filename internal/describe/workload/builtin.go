package workload

import _ "embed" // builtin.yaml

//go:embed builtin.yaml
var builtin []byte

// Builtin returns a default distribution for mixed lengths: 35 bins up to 140000 tokens,
// with a mean of 4230.
func Builtin() *Distribution {
	d, err := ReadDistribution(builtin, "builtin.yaml")
	if err != nil {
		panic("workload: the embedded distribution: " + err.Error())
	}
	return d
}
