package app

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/device"
	"plimsoll/internal/model"
	"plimsoll/internal/search"
	"plimsoll/internal/units"
)

// check reports everything wrong with a request that does not need a device.
func (r *OptimizeRequest) check(m *model.Model) error {
	return errors.Join(
		r.checkCounts(),
		r.checkShares(),
		r.checkBatchRange(),
		r.checkMode(),
		r.checkSpace(),
		r.checkSpeculation(),
		r.checkLengths(),
		r.checkImages(m),
	)
}

// checkCounts reports whole numbers out of range.
func (r *OptimizeRequest) checkCounts() error {
	return errors.Join(
		between("num-devices", r.NumDevices, 1, maxTokens),
		between("output-length", r.Output, 1, maxTokens),
		between("jobs", r.Jobs, 1, maxTokens),
		between("mxfp4-group-size", r.MXFP4Group, 1, maxTokens),
		optional("input-length", r.Input),
		optional("max-batched-tokens", r.Budget),
		optional("prefill-devices-per-instance", r.PrefillDevices),
		optional("decode-devices-per-instance", r.DecodeDevices),
	)
}

// optional checks a count that may be left out.
func optional(flag string, v int) error {
	if v == 0 {
		return nil
	}
	return between(flag, v, 1, maxTokens)
}

// checkShares reports numbers out of range that need not be whole.
func (r *OptimizeRequest) checkShares() error {
	errs := []error{
		hitRate(r.PrefixHitRate),
		notNegative("reserved-memory-gb", r.ReservedGiB),
		notNegative("serving-cost", r.ServingCost.Ms()),
		limit("ttft-limit", r.TTFTLimit),
		limit("tpot-limit", r.TPOTLimit),
		acceptance(r.AcceptanceRates),
	}
	return errors.Join(errs...)
}

// acceptance checks the chances of drafted tokens to be kept.
func acceptance(rates []float64) error {
	var errs []error
	for _, rate := range rates {
		if !(rate >= 0 && rate <= 1) {
			errs = append(errs, fmt.Errorf("--mtp-acceptance-rates must be between 0 and 1, got %g", rate))
		}
	}
	return errors.Join(errs...)
}

// hitRate checks the share of a prompt that is cached: some of it must be left
// to compute.
func hitRate(x float64) error {
	if !(x >= 0 && x < 1) {
		return fmt.Errorf("--prefix-cache-hit-rate must be at least 0 and below 1, got %g", x)
	}
	return nil
}

// notNegative checks a finite amount.
func notNegative(flag string, x float64) error {
	if !(x >= 0) || math.IsInf(x, 0) {
		return fmt.Errorf("--%s must be finite and not negative, got %g", flag, x)
	}
	return nil
}

// limit checks a latency that may be left out or infinite.
func limit(flag string, s units.Seconds) error {
	if !(s >= 0) {
		return fmt.Errorf("--%s must be positive, got %g", flag, s.Ms())
	}
	return nil
}

func (r *OptimizeRequest) checkBatchRange() error {
	switch n := r.BatchRange; {
	case len(n) > 2:
		return fmt.Errorf("--batch-range takes [max] or [min max], got %d values: %s", len(n), words(n))
	case slices.ContainsFunc(n, func(x int) bool { return x < 1 || x > maxTokens }):
		return fmt.Errorf("--batch-range must be between 1 and %d, got %s", maxTokens, words(n))
	case len(n) == 2 && n[0] > n[1]:
		return fmt.Errorf("--batch-range takes [max] or [min max], got a min of %d above a max of %d", n[0], n[1])
	}
	return nil
}

// checkMode reports modes that exclude one another or lack something.
func (r *OptimizeRequest) checkMode() error {
	switch {
	case r.PDRatio && r.Disagg:
		return errors.New("--enable-optimize-prefill-decode-ratio cannot be used together with --disagg")
	case r.PDRatio && (r.PrefillDevices == 0 || r.DecodeDevices == 0):
		return errors.New("--enable-optimize-prefill-decode-ratio needs both --prefill-devices-per-instance and --decode-devices-per-instance")
	case !r.PDRatio && (r.PrefillDevices != 0 || r.DecodeDevices != 0):
		return errors.New("--prefill-devices-per-instance and --decode-devices-per-instance need --enable-optimize-prefill-decode-ratio")
	case r.Disagg && r.TTFTLimit == 0 && r.TPOTLimit == 0:
		return errors.New("--disagg needs --ttft-limit (for prefill), --tpot-limit (for decode) or both")
	}
	return nil
}

// dimension is the sizes of one kind of parallelism and their flag.
type dimension struct {
	flag  string
	sizes []int
}

func dimensions(s search.Space) []dimension {
	return []dimension{
		{"tp-sizes", s.TP},
		{"ep-sizes", s.EP},
		{"moe-dp-sizes", s.MoEDP},
		{"dcp-sizes", s.DCP},
		{"pp-sizes", s.PP},
	}
}

// checkSpace reports sizes no phase has devices for.
func (r *OptimizeRequest) checkSpace() error {
	var errs []error
	flag, most := r.largest()
	for _, d := range dimensions(r.Space) {
		for _, n := range d.sizes {
			if most > 0 && (n < 1 || n > most) {
				errs = append(errs, fmt.Errorf("--%s must be between 1 and --%s %d, got %d", d.flag, flag, most, n))
			}
		}
	}
	return errors.Join(errs...)
}

// errNoCombination is a search without a legal layout.
func errNoCombination(asked search.Space, devices int) error {
	resolved := dimensions(asked.Resolve(devices))
	var given []string
	for i, d := range dimensions(asked) {
		if d.sizes != nil {
			given = append(given, fmt.Sprintf("--%s %s", d.flag, words(resolved[i].sizes)))
		}
	}
	return fmt.Errorf("no combination of %s divides %d devices: TP·PP and EP·MoE-DP·PP must divide them, and DCP must divide TP",
		strings.Join(given, ", "), devices)
}

// checkSpeculation reports speculated tokens that lack something or exclude
// others.
func (r *OptimizeRequest) checkSpeculation() error {
	var errs []error
	for _, n := range r.Space.MTP {
		err := between("num-mtp-tokens", n, 0, maxMTP)
		if rates := len(r.AcceptanceRates); err == nil && n > rates+1 {
			err = fmt.Errorf("--num-mtp-tokens %d needs at least %d --mtp-acceptance-rates, got %d", n, n-1, rates)
		}
		if err == nil && n > 0 && r.Draft.Method != "" {
			err = fmt.Errorf("--num-mtp-tokens %d and --speculative-method %s exclude one another", n, r.Draft.Method)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (r *OptimizeRequest) checkLengths() error {
	switch {
	case r.Input != 0 && r.Distribution != nil:
		return errors.New("give either --input-length or --length-distribution, not both")
	case r.Input == 0 && r.Distribution == nil:
		return errors.New("give --input-length or --length-distribution")
	}
	return nil
}

func (r *OptimizeRequest) checkImages(m *model.Model) error {
	if r.ImageBatch == 0 {
		return checkImage(m, r.ImageHeight, r.ImageWidth)
	}
	switch {
	case m.Vision == nil:
		return noVision("image-batch-size", m)
	case r.ImageHeight == 0 && r.ImageWidth == 0:
		return errors.New("--image-batch-size needs --image-height and --image-width")
	}
	return errors.Join(between("image-batch-size", r.ImageBatch, 1, maxTokens), checkImage(m, r.ImageHeight, r.ImageWidth))
}

// devices finds the profiles and checks that they can hold the devices asked
// for.
func (w *World) devices(r *OptimizeRequest) ([]*device.Profile, error) {
	var out []*device.Profile
	var errs []error
	flag, most := r.largest()
	add := func(p *device.Profile, err error) {
		switch {
		case err != nil:
			errs = append(errs, err)
		case p.Ranks() < most:
			errs = append(errs, fmt.Errorf("--%s %d is more than the %d that %s can connect", flag, most, p.Ranks(), p.Name))
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

// words prints numbers as they stand in a command line.
func words(numbers []int) string { return strings.Trim(fmt.Sprint(numbers), "[]") }
