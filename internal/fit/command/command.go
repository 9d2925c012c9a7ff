package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// Program is what the program reads and writes.
type Program struct {
	Session *session.Session
	// Create makes a file.
	Create func(name string) (io.WriteCloser, error)
	// Stdout takes tables, Stderr help and notes.
	Stdout, Stderr io.Writer
	// Workers is the default number of parallel workers.
	Workers int
}

const usage = `usage: fit COMMAND [FLAGS] [ROWS.csv ...]

  deployments  multipliers and intervals, from scratch, from measured rows (calibration/shipped.yaml)
  extend       groups that a calibration lacks, such as an engine on a device generation without rows
  kernels      constants of operator forms, from kernel tables (cost/calibrated/coefficients.yaml)
  surfaces     deviation of kernels from the forms, from kernel tables (cost/table/surfaces.bin)
  power        watts and joules, from rows with an energy (cost/power/coefficients.yaml)
  page         Markdown tables of errors, with the fit, without it and beside another program
  outside      how far intervals must widen for sources outside the fit

"fit COMMAND -h" lists the flags.
`

// command is one of them: flags in, what runs out.
type command func(p *Program, fs *flag.FlagSet) func(ctx context.Context, files []string) error

// Run runs a command line.
func (p *Program) Run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		fmt.Fprint(p.Stderr, usage)
		return errors.New("no COMMAND given")
	}
	of, ok := map[string]command{
		"deployments": deploymentsCommand, "extend": extendCommand, "kernels": kernelsCommand, "surfaces": surfacesCommand,
		"power": powerCommand, "page": pageCommand, "outside": outsideCommand,
	}[args[0]]
	if !ok {
		fmt.Fprint(p.Stderr, usage)
		return fmt.Errorf("unknown command %q", args[0])
	}
	fs := flag.NewFlagSet("fit "+args[0], flag.ContinueOnError)
	fs.SetOutput(p.Stderr)
	run := of(p, fs)
	if err := fs.Parse(args[1:]); err != nil {
		return err
	}
	return run(ctx, fs.Args())
}

// note tells what does not belong to the answer.
func (p *Program) note(format string, args ...any) {
	fmt.Fprintf(p.Stderr, "note: "+format+"\n", args...)
}

// save writes a fit to a file, if one is named.
func (p *Program) save(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	f, err := p.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// words is a flag with a list, separated by commas.
func words(fs *flag.FlagSet, name, usage string) func() []string {
	text := fs.String(name, "", usage)
	return func() []string {
		if *text == "" {
			return nil
		}
		return strings.Split(*text, ",")
	}
}

// rowsOf refuses a command line without rows.
func rowsOf(files []string) error {
	if len(files) == 0 {
		return errors.New("no ROWS.csv given")
	}
	return nil
}
