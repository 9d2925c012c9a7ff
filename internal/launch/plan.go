package launch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Plan is what files are written for: a deployment and what a row of a search
// found for it.
type Plan struct {
	Deployment deployment.Deployment
	Resolved   *deployment.Resolved // of the Deployment
	// Input and Output are the lengths of a request in tokens, on average where they
	// differ; Longest is then the most tokens of a request, 0 = their sum.
	Input, Output int
	Longest       int
	Prefix        int // tokens that all prompts begin with
	// Concurrency is the number of requests that all copies serve at a time.
	Concurrency int
	// Batch is the most sequences on a rank, for each pool; 0 or none is the engine's
	// max_sequences.
	Batch []int
	// Copies is how often the whole deployment is repeated: units of x prefill and y
	// decode workers that share nothing. 0 is 1.
	Copies    int
	Predicted Predicted
	Site      Site
}

// Predicted is what the row promises, for the comments of files and the benchmark.
type Predicted struct {
	TTFT, TPOT units.Seconds
	Throughput float64 // output tokens per second of all copies
}

// Site is what depends on the user's cluster. Zero fields take defaults.
type Site struct {
	Name         string // of objects: "qwen3-32b"; "" is made of the model's
	Namespace    string // "" writes none: objects go where they are applied
	ServedName   string // "" is the model
	ModelPath    string // what the engine loads; "" is the model
	Image        string // "" is the engine's own of its version
	Port         int    // 0 is 8000
	CacheClaim   string // claim of the volume with the weights; "" is "model-cache"
	CacheStorage string // its size; "" is "500Gi"
	TokenSecret  string // secret with HF_TOKEN; "" is "hf-token-secret"
}

// File is a file to be written.
type File struct {
	Path string // with slashes, relative
	Mode uint32 // permission bits
	Data []byte
}

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
	LLMD       Target = "llm-d" // values of llm-d's model service chart
	Bench      Target = "bench" // load like the predicted one
)

// Targets lists the targets in the order they are written.
func Targets() []Target { return []Target{Dynamo, Plain, Compose, Kubernetes, LLMD, Bench} }

// ErrCannot is part of errors about a target that cannot run a plan, which other
// targets may.
var ErrCannot = errors.New("cannot be written")

// cannot is an error that says why a target cannot run a plan.
func cannot(t Target, format string, args ...any) error {
	return fmt.Errorf("%s files %w: %s", t, ErrCannot, fmt.Sprintf(format, args...))
}

// Write returns the files of some targets, all by default. The Dynamo files and the
// benchmark are at the top, as its users expect; others have a directory each.
// Of all targets, those that cannot run the plan are left out with a reason in
// skipped; a target that was asked for is an error.
func Write(p *Plan, targets ...Target) (files []File, skipped []error, err error) {
	values, err := p.Values()
	if err != nil {
		return nil, nil, err
	}
	w := &writer{Plan: p, pools: values, Site: p.site()}
	if err := w.supported(); err != nil {
		return nil, nil, err
	}
	asked := len(targets) > 0
	if !asked {
		targets = Targets()
	}
	for _, t := range targets {
		more, err := w.target(t)
		switch {
		case err != nil && !asked && errors.Is(err, ErrCannot):
			skipped = append(skipped, err)
		case err != nil:
			return nil, nil, err
		}
		files = append(files, more...)
	}
	return files, skipped, nil
}

// writer is a plan with its values derived.
type writer struct {
	*Plan

	pools []Values
	Site  Site
}

// Engines are those that there are files for on a vendor's devices. Others are run by
// ports of the engines with images and flags of their own.
func Engines(v device.Vendor) []string {
	switch v {
	case device.NVIDIA:
		return []string{trtllm, vllm, sglang}
	case device.AMD:
		return []string{vllm, sglang}
	case device.Ascend:
		return []string{mindie}
	default:
		return nil
	}
}

// supported reports engines that do not run on the devices.
func (w *writer) supported() error {
	for i := range w.pools {
		v := &w.pools[i]
		if !slices.Contains(Engines(v.Device.Vendor), v.Engine) {
			return fmt.Errorf("there are no files for %s on %s (%s): NVIDIA's devices run vllm, sglang and trtllm, AMD's vllm and sglang, Ascend's mindie",
				v.Engine, v.Device.Name, v.Device.Vendor)
		}
	}
	return nil
}

// target writes one target.
func (w *writer) target(t Target) ([]File, error) {
	switch t {
	case Plain:
		return w.plain()
	case Compose:
		return w.compose()
	case Kubernetes:
		return w.kubernetes()
	case Dynamo:
		return w.dynamo()
	case LLMD:
		return w.llmd()
	case Bench:
		return w.bench()
	}
	return nil, fmt.Errorf("unknown target %q; the targets are %v", t, Targets())
}

// site fills in the defaults.
func (p *Plan) site() Site {
	s := p.Site
	s.ServedName = cmp.Or(s.ServedName, p.Deployment.Model)
	s.ModelPath = cmp.Or(s.ModelPath, p.Deployment.Model)
	s.Name = cmp.Or(s.Name, objectName(p.Deployment.Model))
	s.Port = cmp.Or(s.Port, 8000)
	s.CacheClaim = cmp.Or(s.CacheClaim, "model-cache")
	s.CacheStorage = cmp.Or(s.CacheStorage, "500Gi")
	s.TokenSecret = cmp.Or(s.TokenSecret, "hf-token-secret")
	return s
}

// objectName is a model's name as Kubernetes names objects (RFC 1123: lower case,
// digits and hyphens, 63 at most; a suffix must fit too).
func objectName(model string) string {
	const longest = 40
	model = model[strings.LastIndexByte(model, '/')+1:]
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, model)
	name = strings.Trim(name[:min(len(name), longest)], "-")
	return cmp.Or(name, "model")
}

// copies is the number of units.
func (p *Plan) copies() int { return max(1, p.Copies) }

// disaggregated reports whether prefill and decode have workers of their own.
func (w *writer) disaggregated() bool { return len(w.pools) > 1 }

// mode is how AIConfigurator's users call it.
func (w *writer) mode() string {
	if w.disaggregated() {
		return "disagg"
	}
	return "agg"
}

// units is how many units that share nothing are written: the copies of a
// disaggregated deployment. Workers that do everything need no units: their copies
// are more workers.
func (w *writer) units() int {
	if w.disaggregated() {
		return w.copies()
	}
	return 1
}

// workers is how many workers of a pool a unit has.
func (w *writer) workers(v *Values) int { return v.Workers / w.units() }

// unitName names a unit's objects.
func (w *writer) unitName(unit int) string {
	if w.units() == 1 {
		return w.Site.Name
	}
	return fmt.Sprintf("%s-%d", w.Site.Name, unit)
}

// roleName is how files call the workers of a pool.
func roleName(r deployment.Role) string {
	if r == deployment.Both {
		return "agg"
	}
	return string(r)
}

// devices is the number of devices of everything.
func (w *writer) devices() int {
	n := 0
	for i := range w.pools {
		n += w.pools[i].Workers * w.pools[i].Devices
	}
	return n
}

// byPath puts files in order.
func byPath(files []File) []File {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}
