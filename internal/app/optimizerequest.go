package app

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"plimsoll/internal/device"
	"plimsoll/internal/dtype"
	"plimsoll/internal/graph"
	"plimsoll/internal/model"
	"plimsoll/internal/search"
	"plimsoll/internal/serving"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// OptimizeRequest asks for the deployments that carry the most load.
type OptimizeRequest struct {
	Model      string
	Devices    []string
	DeviceFile string
	NumDevices int
	Policy     string

	Input        int
	Distribution *workload.Distribution
	Output       int

	Disagg                        bool
	PDRatio                       bool
	PrefillDevices, DecodeDevices int

	TTFTLimit, TPOTLimit units.Seconds // 0 = none
	Budget               int           // tokens of a step and DP rank; 0 = from the prompt length
	PrefixHitRate        float64
	ServingCost          units.Seconds
	BatchRange           []int
	ReservedGiB          float64
	Accounting           serving.Accounting

	Space           search.Space
	AcceptanceRates []float64
	Draft           Draft

	LinearAction    dtype.Action
	NonExpertAction dtype.Action
	AttentionAction dtype.Action
	MXFP4Group      int

	Compile          bool
	SequenceParallel bool
	MatMulAllReduce  bool
	DispatchCombine  bool
	EmbeddingTP      graph.EmbeddingTP
	SharedExpertTP   bool

	ImageHeight, ImageWidth, ImageBatch int

	Jobs int
	// Progress, if not nil, is told after each candidate.
	Progress func(device string, mode search.Mode, done, of int) `json:"-"`
}

// Draft is speculation by a draft model that proposes a block of tokens.
type Draft struct {
	Method   string // "dflash" or "dspark", "" = none
	Block    int    // tokens verified in a step
	Accepted float64
	Layers   int
}

// graph is the part of a draft that costs time.
func (d Draft) graph() graph.Draft {
	if d.Method == "" {
		return graph.Draft{}
	}
	return graph.Draft{Layers: d.Layers, Block: d.Block}
}

// label is the draft as it stands behind a layout.
func (d Draft) label() string {
	name := map[string]string{"dflash": "DFlash", "dspark": "DSpark"}[d.Method]
	return fmt.Sprintf(" | %s=%d/acc=%s", name, d.Block, strconv.FormatFloat(d.Accepted, 'g', -1, 64))
}

// check reports everything wrong with a request that does not need a device.
func (r *OptimizeRequest) check(m *model.Model) error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	r.checkNumbers(bad)
	r.checkMode(bad)
	r.checkSpace(bad)
	if (r.Input > 0) == (r.Distribution != nil) {
		if r.Input > 0 {
			bad("give either --input-length or --length-distribution, not both")
		} else {
			bad("give --input-length or --length-distribution")
		}
	}
	if (r.ImageHeight > 0) != (r.ImageWidth > 0) {
		bad("--image-height and --image-width go together")
	}
	if r.ImageHeight > 0 && m.Vision == nil {
		bad("--image-height: %s has no vision tower", m.ID)
	}
	if slices.ContainsFunc(r.Space.MTP, func(n int) bool { return n > 0 }) && r.Draft.Method != "" {
		bad("--speculative-method %s and --num-mtp-tokens exclude one another", r.Draft.Method)
	}
	return errors.Join(errs...)
}

// checkNumbers reports numbers out of range.
func (r *OptimizeRequest) checkNumbers(bad func(string, ...any)) {
	positive := func(flag string, n int) {
		if n < 1 || n > maxTokens {
			bad("--%s must be between 1 and %d, got %d", flag, maxTokens, n)
		}
	}
	positive("num-devices", r.NumDevices)
	positive("output-length", r.Output)
	positive("jobs", r.Jobs)
	positive("mxfp4-group-size", r.MXFP4Group)
	if r.Input < 0 || r.Input > maxTokens {
		bad("--input-length must be between 1 and %d, got %d", maxTokens, r.Input)
	}
	if r.Budget < 0 || r.Budget > maxTokens {
		bad("--max-batched-tokens must be between 1 and %d, got %d", maxTokens, r.Budget)
	}
	if !(r.PrefixHitRate >= 0 && r.PrefixHitRate < 1) {
		bad("--prefix-cache-hit-rate must be at least 0 and below 1, got %g", r.PrefixHitRate)
	}
	if r.ReservedGiB < 0 || math.IsNaN(r.ReservedGiB) || math.IsInf(r.ReservedGiB, 0) {
		bad("--reserved-memory-gb must not be negative, got %g", r.ReservedGiB)
	}
	if r.ServingCost < 0 || math.IsNaN(float64(r.ServingCost)) || math.IsInf(float64(r.ServingCost), 0) {
		bad("--serving-cost must not be negative, got %g", r.ServingCost.Ms())
	}
	if r.ImageHeight < 0 || r.ImageWidth < 0 || r.ImageBatch < 0 {
		bad("--image-height, --image-width and --image-batch-size must be positive")
	}
	for _, rate := range r.AcceptanceRates {
		if !(rate >= 0 && rate <= 1) {
			bad("--mtp-acceptance-rates must be between 0 and 1, got %g", rate)
		}
	}
	switch n := r.BatchRange; {
	case len(n) > 2:
		bad("--batch-range takes [max] or [min max], got %d values", len(n))
	case slices.ContainsFunc(n, func(x int) bool { return x < 1 || x > maxTokens }):
		bad("--batch-range values must be between 1 and %d, got %v", maxTokens, n)
	case len(n) == 2 && n[0] > n[1]:
		bad("--batch-range: min %d is more than max %d", n[0], n[1])
	}
}

// checkMode reports modes that exclude one another or lack something.
func (r *OptimizeRequest) checkMode(bad func(string, ...any)) {
	counts := r.PrefillDevices > 0 || r.DecodeDevices > 0
	switch {
	case r.PDRatio && r.Disagg:
		bad("--enable-optimize-prefill-decode-ratio cannot be used together with --disagg")
	case r.PDRatio && (r.PrefillDevices < 1 || r.DecodeDevices < 1):
		bad("--enable-optimize-prefill-decode-ratio needs both --prefill-devices-per-instance and --decode-devices-per-instance")
	case counts && !r.PDRatio:
		bad("--prefill-devices-per-instance and --decode-devices-per-instance need --enable-optimize-prefill-decode-ratio")
	case r.Disagg && r.TTFTLimit == 0 && r.TPOTLimit == 0:
		bad("--disagg needs --ttft-limit (prefill), --tpot-limit (decode) or both")
	}
}

// checkSpace reports sizes no phase has devices for, and searches without a
// legal combination.
func (r *OptimizeRequest) checkSpace(bad func(string, ...any)) {
	most := r.NumDevices
	if r.PDRatio {
		most = max(r.PrefillDevices, r.DecodeDevices)
	}
	for _, d := range []struct {
		flag  string
		sizes []int
	}{
		{"tp-sizes", r.Space.TP}, {"ep-sizes", r.Space.EP}, {"moe-dp-sizes", r.Space.MoEDP},
		{"dcp-sizes", r.Space.DCP}, {"pp-sizes", r.Space.PP},
	} {
		for _, n := range d.sizes {
			if n < 1 || n > most {
				bad("--%s: %d is not between 1 and the %d devices", d.flag, n, most)
			}
		}
	}
	for _, n := range r.Space.MTP {
		if n < 0 || n > maxMTP {
			bad("--num-mtp-tokens must be between 0 and %d, got %d", maxMTP, n)
		}
		if n > len(r.AcceptanceRates)+1 {
			bad("--num-mtp-tokens %d needs as many --mtp-acceptance-rates, got %d", n, len(r.AcceptanceRates))
		}
	}
}

// devices finds the profiles and checks that they can hold the devices asked
// for.
func (w *World) devices(r *OptimizeRequest) ([]*device.Profile, error) {
	var out []*device.Profile
	var errs []error
	most := r.NumDevices
	if r.PDRatio {
		most = max(r.PrefillDevices, r.DecodeDevices)
	}
	add := func(p *device.Profile, err error) {
		switch {
		case err != nil:
			errs = append(errs, err)
		case p.Ranks() < most:
			errs = append(errs, fmt.Errorf("%s connects %d devices, fewer than the %d asked for", p.Name, p.Ranks(), most))
		case !slices.ContainsFunc(out, func(o *device.Profile) bool { return o.Name == p.Name }):
			out = append(out, p)
		}
	}
	if r.DeviceFile != "" {
		add(w.Device("", r.DeviceFile))
	}
	for _, name := range r.Devices {
		if name == "" {
			errs = append(errs, errors.New("--device: an empty name"))
			continue
		}
		add(w.Device(name, ""))
	}
	return out, badInput(errors.Join(errs...))
}

func errNoCombination(devices int) error {
	return fmt.Errorf("no combination of the sizes given divides %d devices", devices)
}
