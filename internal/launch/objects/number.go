package objects

import (
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
)

// Count is the whole number at the end of some keys, or what it is without.
func Count(n *yaml.Node, without int, keys ...string) int {
	if c := strictyaml.Child(n, keys...); c != nil && c.Kind == yaml.ScalarNode {
		if k, err := strconv.Atoi(c.Value); err == nil {
			return k
		}
	}
	return without
}
