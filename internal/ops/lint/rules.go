package lint

import (
	_ "embed"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// Rule is something that lint looks for.
type Rule struct {
	Code string `json:"code"`
	// Name is for SARIF, and Title for people.
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Severity Severity `json:"severity"` // of most findings
	// Fixed says that "lint --fix" can mend it.
	Fixed bool `json:"fixed"`
	// Why says what happens, and Mend what to do.
	Why  string `json:"why"`
	Mend string `json:"mend"`
	// Source is where it is written, for what is not a matter of the engine's flags.
	Source string `json:"source,omitempty"`
}

//go:embed rules.yaml
var rulesYAML []byte

// Embedded is the data of this package as they are in the program, for checks of an installation.
func Embedded() embedded.Files { return embedded.Files{"rules.yaml": rulesYAML} }

// Rules are the rules, by code.
func Rules() []Rule { return rules() }

//nolint:gochecknoglobals // read once, never changed
var rules = embedded.Once("lint: rules.yaml", rulesYAML, embedded.YAML[[]Rule])

// RuleOf is the rule with a code, nil if there is none.
func RuleOf(code string) *Rule {
	all := Rules()
	if i := slices.IndexFunc(all, func(r Rule) bool { return r.Code == code }); i >= 0 {
		return &all[i]
	}
	return nil
}

// codeOf is the code of a problem that reading found.
func codeOf(k launch.Kind) string {
	return map[launch.Kind]string{
		launch.UnknownFlag: "PL001", launch.LackedFlag: "PL002", launch.ForeignFlag: "PL003", launch.UnknownKey: "PL004", launch.BadValue: "PL006",
		launch.LostQuotes: "PL007", launch.MissingConfig: "PL010", launch.OpenVariable: "PL011", launch.WrongComment: "PL012", launch.SeveralDeployments: "PL013",
	}[k]
}
