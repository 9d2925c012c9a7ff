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
	running bool
}

// flags defines the flags.
func (p *profiles) flags(fs *pflag.FlagSet) {
	fs.StringVar(&p.cpuFile, "cpuprofile", "", "write a CPU profile to `FILE`")
	fs.StringVar(&p.memFile, "memprofile", "", "write a profile of allocations to `FILE`")
	for _, name := range []string{"cpuprofile", "memprofile"} {
		fs.Lookup(name).Hidden = true
	}
}

// start starts the CPU profile, if requested.
func (p *profiles) start() error {
	if p.cpuFile == "" {
		return nil
	}
	if err := pprof.StartCPUProfile(&p.cpu); err != nil {
		return fmt.Errorf("starting the CPU profile: %w", err)
	}
	p.running = true
	return nil
}

// finish writes the files.
func (p *profiles) finish(env *Env) error {
	var errs []error
	if p.running {
		pprof.StopCPUProfile()
		errs = append(errs, env.CreateAtomic(p.cpuFile, func(w io.Writer) error {
			_, err := p.cpu.WriteTo(w)
			return err
		}))
	}
	if p.memFile != "" {
		runtime.GC() // for an exact picture of the memory in use
		errs = append(errs, env.CreateAtomic(p.memFile, func(w io.Writer) error {
			return pprof.Lookup("allocs").WriteTo(w, 0)
		}))
	}
	return errors.Join(errs...)
}
