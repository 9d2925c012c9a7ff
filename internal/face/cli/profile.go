package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/pflag"
)

// profiles are the hidden flags that measure the program itself.
type profiles struct {
	cpuFile, memFile string

	cpu     bytes.Buffer
	started bool
}

// flags defines the flags.
func (p *profiles) flags(fs *pflag.FlagSet) {
	outputVar(fs, &p.cpuFile, aFile, "cpuprofile", "write a CPU profile to `FILE`")
	outputVar(fs, &p.memFile, aFile, "memprofile", "write a profile of allocations to `FILE`")
	for _, name := range []string{"cpuprofile", "memprofile"} {
		fs.Lookup(name).Hidden = true
	}
}

// start starts the CPU profile, if requested.
func (p *profiles) start() error {
	p.started = true
	if p.cpuFile == "" {
		return nil
	}
	if err := pprof.StartCPUProfile(&p.cpu); err != nil {
		return fmt.Errorf("starting the CPU profile: %w", err)
	}
	return nil
}

// finish writes the files.
func (p *profiles) finish(env *Env) error {
	if !p.started {
		return nil
	}
	var errs []error
	if p.cpuFile != "" {
		pprof.StopCPUProfile()
		errs = append(errs, env.create("cpuprofile", p.cpuFile, func(w io.Writer) error {
			_, err := p.cpu.WriteTo(w)
			return err
		}))
	}
	if p.memFile != "" {
		runtime.GC() // for an exact picture of the memory in use
		errs = append(errs, env.create("memprofile", p.memFile, func(w io.Writer) error {
			return pprof.Lookup("allocs").WriteTo(w, 0)
		}))
	}
	return errors.Join(errs...)
}
