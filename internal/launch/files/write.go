package files

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// The modes of files: scripts can be run.
const (
	plainFile  = 0o644
	scriptFile = 0o755
)

// Target is a way to run a deployment.
type Target string

// The targets.
const (
	Plain      Target = "plain"      // the engine's own commands
	Compose    Target = "compose"    // Docker Compose, one host
	Kubernetes Target = "kubernetes" // Deployments, or LeaderWorkerSets over several nodes
	Dynamo     Target = "dynamo"
	LLMD       Target = "llm-d"    // values of llm-d's charts
	KServe     Target = "kserve"   // an LLMInferenceService
	KEDA       Target = "keda"     // autoscaling of the Kubernetes objects
	Slurm      Target = "slurm"    // a batch job
	SkyPilot   Target = "skypilot" // a service
	Planner    Target = "planner"  // tables that Dynamo's planner reads before it has measured
	Bench      Target = "bench"    // load like the predicted one
)

// ErrCannot is part of errors about a target that cannot run a plan; other targets may.
var ErrCannot = errors.New("cannot be written")

// cannot is an error that says why a target cannot run a plan.
func cannot(t Target, format string, args ...any) error {
	return fmt.Errorf("%s files %w: %s", t, ErrCannot, fmt.Sprintf(format, args...))
}

// addOnError is about a target that adds to another and has nothing to add. It is reported only if
// the target was asked for.
type addOnError struct{ error }

// Unwrap is the reason.
func (e addOnError) Unwrap() error { return e.error }

// addOn is such an error.
func addOn(t Target, format string, args ...any) error {
	return addOnError{cannot(t, format, args...)}
}

// Write returns the files of some targets, all by default. The Dynamo files and the
// benchmark are at the top, as its users expect; others have a directory each.
// Targets that cannot run the plan are left out with a reason in skipped. If none
// of those requested can, the reason is the error.
func Write(p *launch.Plan, targets ...Target) (files []launch.File, skipped []error, err error) {
	if len(targets) > 0 {
		return write(p, targets, true)
	}
	return write(p, Targets(), false)
}

// Without returns the files of all targets but some, and but those that add to them.
func Without(p *launch.Plan, left ...Target) (files []launch.File, skipped []error, err error) {
	adds := map[Target]Target{KEDA: Kubernetes, Planner: Dynamo}
	gone := func(t Target) bool { return slices.Contains(left, t) || slices.Contains(left, adds[t]) }
	return write(p, slices.DeleteFunc(Targets(), gone), false)
}

// write writes targets, which are requested or are all that can run the plan.
func write(p *launch.Plan, targets []Target, requested bool) (files []launch.File, skipped []error, err error) {
	w, err := newWriter(p)
	if err != nil {
		return nil, nil, err
	}
	w.targets = targets
	for _, t := range targets {
		more, err := w.files(t)
		_, adds := errors.AsType[addOnError](err)
		switch {
		case adds && !requested:
		case errors.Is(err, ErrCannot):
			skipped = append(skipped, err)
		case err != nil:
			return nil, nil, err
		}
		files = append(files, more...)
	}
	if len(files) == 0 && requested {
		return nil, nil, errors.Join(skipped...)
	}
	return files, skipped, nil
}

// Set is files of a target that are read together.
type Set struct {
	Target Target
	Files  []launch.File
}

// Together are the sets of the targets in the order they were written: of Dynamo's files those that start processes on
// nodes, and the objects. Those that start no engine (the benchmark, autoscaling, tables, values for people) are left out.
func Together(all []launch.File) []Set {
	var out []Set
	var names []string
	for _, f := range all {
		name, base := path.Dir(f.Path), path.Base(f.Path)
		target := Target(name)
		switch {
		case strings.HasPrefix(base, "bench"), base == "k8s_bench.yaml", base == "generator_config.yaml", base == "hpa.yaml",
			strings.HasPrefix(name, string(Planner)), name == string(KEDA):
			continue
		case base == "k8s_deploy.yaml":
			name, target = f.Path, Dynamo
		case name == ".":
			target = Dynamo
		}
		i := slices.Index(names, name)
		if i < 0 {
			i, names, out = len(names), append(names, name), append(out, Set{Target: target})
		}
		out[i].Files = append(out[i].Files, f)
	}
	return out
}

// writer is a plan with its values derived.
type writer struct {
	*launch.Plan

	pools   []launch.Values
	Site    launch.Site
	name    string   // of objects: "qwen3-32b"
	targets []Target // that are written
	of      Target   // the one that is being written
	alike   int      // units that the files of this one are for too
	// host is a node's address in commands that are not in a script, nil in scripts, which set variables.
	host func(node int) string
}

// The parts of a writer, by what they write.

func (w *writer) objects() objects     { return objects{w} }
func (w *writer) fabric() fabric       { return fabric{w.objects()} }
func (w *writer) pods() pods           { return pods{w.fabric()} }
func (w *writer) entrances() entrances { return entrances{w.pods()} }
func (w *writer) routers() routers     { return routers{w} }
func (w *writer) scripts() scripts     { return scripts{w.routers()} }
func (w *writer) divisions() divisions { return divisions{w} }

// newWriter derives the values, and refuses engines that do not run on the devices.
func newWriter(p *launch.Plan) (*writer, error) {
	values, err := p.Values()
	if err != nil {
		return nil, err
	}
	site, err := p.FilledSite()
	if err != nil {
		return nil, err
	}
	workers := 0
	for i := range values {
		v := &values[i]
		workers += v.Workers
		if v.Device.Vendor == device.AMD && v.Port() == "atom-"+v.Engine {
			return nil, fmt.Errorf("cannot generate files for the engine %s; its command line is that of %s, in ATOM's image (rocm/atom-dev:%s-latest) with AITER_QUICK_REDUCE_QUANTIZATION=INT4",
				v.Port(), v.Engine, v.Engine)
		}
		if !slices.Contains(launch.Engines(v.Device.Vendor), v.Port()) {
			return nil, fmt.Errorf("cannot generate files for %s on %s (%s): NVIDIA's devices run vllm, sglang and trtllm, AMD's vllm and sglang, Ascend's mindie, vllm-ascend and sglang-npu",
				v.Port(), v.Device.Name, v.Device.Vendor)
		}
	}
	return &writer{Plan: p, pools: values, Site: site, name: objectName(p.Deployment.Model)}, site.CheckPorts(workers)
}

// files writes one target.
func (w *writer) files(t Target) ([]launch.File, error) {
	if err := w.onAscend(t); err != nil {
		return nil, err
	}
	for _, a := range Abouts() {
		if a.Target == t {
			w.of = t
			return a.of(w).files()
		}
	}
	return nil, fmt.Errorf("unknown target %q; the targets are %v", t, Targets())
}

// onAscend says why a target cannot run on Ascend's devices. MindIE's own files say it themselves.
func (w *writer) onAscend(t Target) error {
	if w.pools[0].Device.Vendor != device.Ascend || w.engine() == launch.MindIE {
		return nil
	}
	switch t {
	case Dynamo, Planner, LLMD, KServe, KEDA, SkyPilot:
		return cannot(t, "no version of it is published for %s", w.pools[0].Port())
	case Plain, Compose, Kubernetes, Slurm, Bench:
	}
	if w.disaggregated() && t != Bench {
		return cannot(t, "prefill and decode workers of %s exchange caches by Mooncake, with the addresses and sizes of the cluster in each of them", w.pools[0].Port())
	}
	return nil
}

// engine is the engine of all pools.
func (w *writer) engine() string { return w.pools[0].Engine }

// disaggregated reports whether prefill and decode have workers of their own.
func (w *writer) disaggregated() bool { return len(w.pools) > 1 }

// mode is AIConfigurator's name for it.
func (w *writer) mode() string {
	if w.disaggregated() {
		return "disagg"
	}
	return "agg"
}

// units is the number of independent units: the copies of a disaggregated deployment. Copies
// of aggregated workers are simply more workers.
func (w *writer) units() int {
	if w.disaggregated() {
		return w.Units()
	}
	return 1
}

// workers is how many workers of a pool a unit has.
func (w *writer) workers(v *launch.Values) int { return v.Workers / w.units() }

// alone reports whether there is only one worker, which needs no router.
func (w *writer) alone() bool { return !w.disaggregated() && w.pools[0].Workers == 1 }

// unitName names a unit's objects.
func (w *writer) unitName(unit int) string {
	if w.units() == 1 {
		return w.name
	}
	return fmt.Sprintf("%s-%d", w.name, unit)
}

// roleName is the name of a role in files.
func roleName(r deployment.Role) string {
	if r == deployment.Both {
		return "agg"
	}
	return string(r)
}

// devices is the total number of devices.
func (w *writer) devices() int {
	n := 0
	for i := range w.pools {
		n += w.pools[i].Workers * w.pools[i].Devices
	}
	return n
}

// byPath puts files in order.
func byPath(files []launch.File) []launch.File {
	slices.SortFunc(files, func(a, b launch.File) int { return strings.Compare(a.Path, b.Path) })
	return files
}
