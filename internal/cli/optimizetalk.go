package cli

import (
	"fmt"
	"sync"
	"time"

	"plimsoll/internal/app"
	"plimsoll/internal/report"
	"plimsoll/internal/search"
)

// talk is what a search says on standard error.
type talk struct {
	env     *Env
	level   int
	start   time.Time
	live    bool // stderr is a terminal
	mu      sync.Mutex
	printed bool
}

// The log levels of the vendor's tool.
const (
	levelDebug = iota
	levelInfo
	levelWarning
	levelError
)

func newTalk(env *Env, f *optimizeFlags) *talk {
	levels := map[string]int{"debug": levelDebug, "info": levelInfo, "warning": levelWarning, "error": levelError, "critical": levelError}
	level := levels[f.logLevel]
	if f.verbose {
		level = levelDebug
	}
	return &talk{env: env, level: level, start: env.Now(), live: env.IsTerminal(env.Stderr) && !f.quiet}
}

// warnSize warns of searches with very many combinations.
func (t *talk) warnSize(f *optimizeFlags) {
	n := f.NumDevices
	if f.PDRatio {
		n = max(f.PrefillDevices, f.DecodeDevices)
	}
	s := f.Space.Resolve(max(1, n))
	if f.warnCombinations > 0 && s.Size() > f.warnCombinations {
		t.env.Note(fmt.Sprintf("%d combinations to search (TP:%d x EP:%d x MOE-DP:%d x MTP:%d x DCP:%d x PP:%d)",
			s.Size(), len(s.TP), len(s.EP), len(s.MoEDP), len(s.MTP), len(s.DCP), len(s.PP)))
	}
}

// patience is how long a search may last before it shows its progress.
const patience = time.Second

// progress shows how far a long search is, on a terminal.
func (t *talk) progress(device string, mode search.Mode, done, of int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.live || t.env.Now().Sub(t.start) < patience {
		return
	}
	t.printed = true
	fmt.Fprintf(t.env.Stderr, "\r%s %s: %d of %d layouts", device, report.Phase(mode), done, of)
}

// done ends the line of progress and, on a terminal, says how long it took.
func (t *talk) done() {
	if t.printed {
		fmt.Fprintln(t.env.Stderr)
	}
	if t.level <= levelInfo {
		t.env.Note(fmt.Sprintf("searched in %.3f s", t.env.Now().Sub(t.start).Seconds()))
	}
}

// results says what became of each candidate: the feasible ones at level info,
// all at level debug.
func (t *talk) results(r *app.OptimizeResponse) {
	if t.level > levelInfo {
		return
	}
	for i := range r.Devices {
		d := &r.Devices[i]
		for k := range d.Passes {
			p := &d.Passes[k]
			for j := range p.Results {
				t.result(d, p, &p.Results[j])
			}
		}
	}
}

func (t *talk) result(d *app.DeviceResult, p *app.Pass, c *search.Result) {
	o := &c.Best
	switch {
	case c.OK:
		fmt.Fprintf(t.env.Stderr, "[INFO] %s %s %s: %.2f tokens/s, TTFT %.2f ms, TPOT %.2f ms, concurrency %d, batch %d, %.2f GiB left, bound by %s\n",
			d.Device.Name, report.Phase(p.Mode), c.Label, o.Throughput, o.TTFT.Ms(), o.TPOT.Ms(), o.Concurrency, o.Batch, o.Use.Available.GiB(), c.Binds)
	case t.level == levelDebug:
		fmt.Fprintf(t.env.Stderr, "[DEBUG] %s %s %s: %s\n", d.Device.Name, report.Phase(p.Mode), c.Label, c.Reason)
	}
}
