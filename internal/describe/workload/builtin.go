package workload

import _ "embed" // builtin.yaml

//go:embed builtin.yaml
var builtin []byte

// Builtin returns the distribution to use where a load is of mixed lengths and
// no more is known: 35 bins up to 140000 tokens, 4230 in the mean.
func Builtin() *Distribution {
	d, err := ReadDistribution(builtin, "builtin.yaml")
	if err != nil {
		panic("workload: the embedded distribution: " + err.Error())
	}
	return d
}
