package cli

import (
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
)

// flagOf is the flag of a request field.
func flagOf(name field.Name) string {
	switch name {
	case "image":
		return "--k8s-image"
	case "pd_ratio":
		return "--enable-optimize-prefill-decode-ratio"
	case "shared_expert_tp":
		return "--enable-shared-expert-tp"
	}
	return "--" + strings.ReplaceAll(string(name), "_", "-")
}
