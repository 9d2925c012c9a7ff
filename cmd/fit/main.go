// Fit makes the data that Plimsoll's predictions rest on from measurements: multipliers of deployments and their errors,
// constants of operator forms, surfaces of kernels, constants of power. It is for developers, and no part of a release:
//
//	go run ./cmd/fit
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/plimsoll-project/plimsoll/internal/fit/command"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

func main() {
	p := command.Program{
		Session: &session.Session{
			Dir:  os.DirFS,
			Open: func(name string) (io.ReadCloser, error) { return os.Open(name) },
		},
		Create: func(name string) (io.WriteCloser, error) { return os.Create(name) },
		Stdout: os.Stdout, Stderr: os.Stderr, Workers: runtime.NumCPU(),
	}
	if err := p.Run(context.Background(), os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "fit:", err)
		os.Exit(1)
	}
}
