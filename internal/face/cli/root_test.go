package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The table's names are those the command has, and a command is the same whether it is made alone or with the others.
func TestCommandTable(t *testing.T) {
	env, _, _ := testEnv(t, nil, nil)
	all := commands(env)
	for i, c := range commandTable() {
		names := append([]string{all[i].Name()}, all[i].Aliases...)
		if d := cmp.Diff(names, c.names); d != "" {
			t.Errorf("%s: names of the command and of the table (-command +table):\n%s", all[i].Name(), d)
		}
		for _, name := range c.names {
			env.Args = []string{name, "--help"}
			if alone := commands(env); len(alone) != 1 || alone[0].Use != all[i].Use {
				t.Errorf("%s: want the one command %q, got %d", name, all[i].Use, len(alone))
			}
		}
	}
	for _, args := range [][]string{nil, {"--help"}, {"help", "step"}, {"stp"}, {"--cpuprofile", "f", "step"}, {"__complete", "step", ""}} {
		env.Args = args
		if got := commands(env); len(got) != len(all) {
			t.Errorf("%v: want all %d commands, got %d", args, len(all), len(got))
		}
	}
}
