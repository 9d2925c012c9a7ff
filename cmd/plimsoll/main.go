// Plimsoll finds how to serve a language model on given hardware.
package main

import (
	"os"

	"github.com/plimsoll-project/plimsoll/internal/face/cli"
)

// What the linker sets (-X main.version=v1.2.3) where the Go tool sees no repository: in packages and in releases.
var version, revision, date string //nolint:gochecknoglobals // the linker sets nothing else

func main() {
	cli.AbortOnFatal()
	env := cli.OSEnv()
	env.Build = cli.Build{Version: version, Revision: revision, Time: date}
	os.Exit(cli.Main(env))
}
