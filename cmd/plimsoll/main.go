// Plimsoll finds how to serve a language model on given hardware.
package main

import (
	"os"

	"github.com/plimsoll-project/plimsoll/internal/face/cli"
)

func main() { os.Exit(cli.Main(cli.OSEnv())) }
