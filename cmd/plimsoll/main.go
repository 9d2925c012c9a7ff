// Plimsoll finds how to serve a language model on given hardware.
package main

import (
	"os"

	"plimsoll/internal/cli"
)

func main() { os.Exit(cli.Main(cli.OSEnv())) }
