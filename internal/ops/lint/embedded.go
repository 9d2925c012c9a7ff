package lint

import "github.com/plimsoll-project/plimsoll/internal/basic/embedded"

// Embedded is the data of this package as they are in the program, for checks of an installation.
func Embedded() embedded.Files { return embedded.Files{"rules.yaml": rulesYAML} }
