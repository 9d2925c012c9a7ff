package cli

import (
	"io"
	"strings"
)

// Leaves are the commands that have none below them, as one types them after the program's name.
func Leaves() []string {
	env := &Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}
	root := newRootCmd(env, commands(env), &profiles{})
	var out []string
	for _, c := range root.Commands() {
		if !c.HasSubCommands() {
			out = append(out, c.Name())
		}
		for _, below := range c.Commands() {
			out = append(out, c.Name()+" "+below.Name())
		}
	}
	return out
}
