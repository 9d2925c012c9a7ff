package cli

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// talk prints the messages of a search to standard error.
type talk struct {
	env      *Env
	level    int
	quiet    bool
	progress *progress
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
	if f.verbose && !f.set.Changed("log-level") {
		level = levelDebug
	}
	return &talk{env: env, level: level, quiet: f.quiet, progress: env.progress(f.quiet)}
}

// note prints a note, unless --quiet is set.
func (t *talk) note(format string, args ...any) {
	t.env.noteUnless(t.quiet, format, args...)
}

// warnSize warns of searches with very many combinations.
func (t *talk) warnSize(f *optimizeFlags) {
	n := f.NumDevices
	if f.PDRatio {
		n = max(f.PrefillDevices, f.DecodeDevices)
	}
	s := f.Space.Resolve(max(1, n))
	if f.warnCombinations > 0 && s.Size() > f.warnCombinations {
		t.note("%d combinations to search (TP:%d x EP:%d x MOE-DP:%d x MTP:%d x DCP:%d x PP:%d)",
			s.Size(), len(s.TP), len(s.EP), len(s.MoEDP), len(s.MTP), len(s.DCP), len(s.PP))
	}
}

// ignored notes flags that have no effect.
func (t *talk) ignored(f *optimizeFlags, r *optimize.Response) {
	for _, c := range []struct{ flag, why string }{
		{"draft-model-config-path", "draft layers are modelled like the model's last layer"},
		{"dspark-markov-rank", "the Markov head is not modelled"},
		{"dspark-markov-head", "the Markov head is not modelled"},
	} {
		if f.set.Changed(c.flag) {
			t.note("--%s has no effect: %s", c.flag, c.why)
		}
	}
	for _, flag := range unread(r) {
		if f.set.Changed(flag) {
			t.note("--%s has no effect on rows evaluated by %s", flag, r.Devices[0].Searches[0].Evaluation)
		}
	}
	if f.Multistream() {
		t.note("--compilation-config enable_multistream has no effect: the search runs every step on one stream")
	}
	if f.ServingCost > 0 && !f.Disagg && !f.PDRatio {
		t.note("--serving-cost has no effect: it applies to disaggregated phases only")
	}
	if need := f.PrefillDevices + f.DecodeDevices; f.PDRatio && f.set.Changed("num-devices") && f.NumDevices < need {
		t.note("--num-devices %d is too few for one instance of each phase (%d): the instances are not counted", f.NumDevices, need)
	}
}

// unread lists the flags that no evaluation of a search reads.
func unread(r *optimize.Response) []string {
	by := map[optimize.Evaluation]bool{}
	for i := range r.Devices {
		for k := range r.Devices[i].Searches {
			by[r.Devices[i].Searches[k].Evaluation] = true
		}
	}
	switch {
	case !by[optimize.BySimulation]:
		return []string{"engine", "engine-version", "engine-preset", "set", "length-ratio-low", "confidence"}
	case !by[optimize.ByFormulas]: // an engine has rules of its own
		return []string{"accounting"}
	}
	return nil
}

// done ends the progress line and prints how long the search took.
func (t *talk) done() {
	t.progress.done()
	if t.level <= levelInfo {
		t.note("searched in %.3f s", t.env.Now().Sub(t.progress.start).Seconds())
	}
}

// results logs the candidates: feasible ones at level info, all at level debug.
func (t *talk) results(r *optimize.Response) {
	if t.level > levelInfo {
		return
	}
	for i := range r.Devices {
		d := &r.Devices[i]
		for k := range d.Searches {
			p := &d.Searches[k]
			for j := range p.Candidates {
				t.result(d, p, &p.Candidates[j])
			}
		}
	}
}

func (t *talk) result(d *optimize.Device, p *optimize.Search, c *optimize.Candidate) {
	switch {
	case c.OK:
		row, latency := c.Best, ""
		if p.Mode != search.DecodeOnly {
			latency += fmt.Sprintf(", TTFT %.2f ms", row.Best.TTFT.Ms())
		}
		if p.Mode != search.PrefillOnly {
			latency += fmt.Sprintf(", TPOT %.2f ms", row.Best.TPOT.Ms())
		}
		fmt.Fprintf(t.env.Stderr, "[INFO] %s %s %s: %.2f tokens/s%s, concurrency %d, batch %d, %.2f GiB left, bound by %s\n",
			d.Name, p.Mode, c.Label, row.Best.Throughput, latency, row.Concurrency, row.Batch, row.Available.GiB(), row.Binds)
	case t.level == levelDebug:
		fmt.Fprintf(t.env.Stderr, "[DEBUG] %s %s %s: %s\n", d.Name, p.Mode, c.Label, c.Reason)
	}
}
