package optimize

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// Fields that several messages name.
const (
	batchRange         field.Name = "batch_range"
	decodeDevices      field.Name = "decode_devices_per_instance"
	inputLength        field.Name = "input_length"
	lengthDistribution field.Name = "length_distribution"
	mtpTokens          field.Name = "num_mtp_tokens"
	outputLength       field.Name = "output_length"
	pdRatio            field.Name = "pd_ratio"
	prefillDevices     field.Name = "prefill_devices_per_instance"
)

// check reports everything wrong with a request that does not need a device, without
// a model (nil) what does not need one either.
func (r *Request) check(m *model.Model) error {
	var fits error
	if m != nil {
		fits = errors.Join(session.CheckImages(m, r.ImageBatch, r.ImageHeight, r.ImageWidth), r.checkPositions(m))
	}
	return errors.Join(
		r.checkCounts(),
		r.checkShares(),
		r.checkBatchRange(),
		r.checkMode(),
		r.checkSpace(),
		r.checkSpeculation(),
		r.checkLengths(),
		fits,
		r.checkEvaluation(),
		(&deployment.Deployment{Formats: r.Formats}).CheckFormats(),
	)
}

// checkCounts reports whole numbers out of range.
func (r *Request) checkCounts() error {
	return errors.Join(
		field.Between("num_devices", r.NumDevices, 1, session.MaxTokens),
		field.Between("output_length", r.Output, 1, session.MaxTokens),
		field.Between("jobs", cmp.Or(r.Jobs, session.DefaultJobs), 1, session.MaxTokens),
		field.Between("mxfp4_group_size", r.Formats.MXFP4Group, 1, session.MaxTokens),
		session.Optional("input_length", r.Input),
		session.Optional("max_batched_tokens", r.Budget),
		session.Optional("prefill_devices_per_instance", r.PrefillDevices),
		session.Optional("decode_devices_per_instance", r.DecodeDevices),
	)
}

// checkShares reports numbers out of range that need not be whole.
func (r *Request) checkShares() error {
	return errors.Join(
		session.HitRate(r.PrefixHitRate),
		session.NotNegative("reserved_memory_gb", *cmp.Or(r.ReservedGiB, new(float64))),
		session.NotNegative("price", r.Price),
		session.NotNegative("serving_cost", r.ServingCost.Ms()),
		session.CheckLimits(r.Limits),
		session.Acceptance(r.AcceptanceRates),
	)
}

func (r *Request) checkBatchRange() error {
	switch n := r.BatchRange; {
	case len(n) > 2:
		return field.Errorf("%s must be [max] or [min max], got %d values: %s", batchRange, len(n), words(n))
	case slices.ContainsFunc(n, func(x int) bool { return x < 1 || x > session.MaxTokens }):
		return field.Errorf("%s must be between 1 and %d, got %s", batchRange, session.MaxTokens, words(n))
	case len(n) == 2 && n[0] > n[1]:
		return field.Errorf("%s must be [max] or [min max], got a min of %d above a max of %d", batchRange, n[0], n[1])
	}
	return nil
}

// checkEvaluation reports what cannot be simulated.
func (r *Request) checkEvaluation() error {
	const evaluate field.Name = "evaluate"
	if !(r.LengthLow > 0 && r.LengthLow <= 1) {
		return field.Errorf("%s must be above 0 and at most 1, got %g", field.Name("length_ratio_low"), r.LengthLow)
	}
	if err := session.Confidence(r.Confidence); err != nil {
		return err
	}
	switch {
	case r.Evaluate == ByFormulas || r.Evaluate == "":
		return nil
	case r.Evaluate != BySimulation:
		return field.OneOf(evaluate, r.Evaluate, ByFormulas, BySimulation)
	case r.Disagg || r.PDRatio:
		return field.Errorf("%s %s is for aggregated deployments only, not for %s or %s", evaluate, string(BySimulation), field.Name("disagg"), pdRatio)
	case r.Draft.Method != "":
		return field.Errorf("%s %s does not support draft models: omit %s", evaluate, string(BySimulation), field.Name("speculative_method"))
	case r.ImageHeight > 0:
		return field.Errorf("%s %s does not support images: omit %s", evaluate, string(BySimulation), field.Name("image_height"))
	case r.PrefixHitRate > 0:
		return field.Errorf("%s %s does not support a fixed hit rate: omit %s", evaluate, string(BySimulation), field.Name("prefix_cache_hit_rate"))
	}
	return nil
}

// checkMode reports modes that exclude one another or lack something.
func (r *Request) checkMode() error {
	switch {
	case r.PDRatio && r.Disagg:
		return field.Errorf("%s cannot be used together with %s", pdRatio, field.Name("disagg"))
	case r.PDRatio && (r.PrefillDevices == 0 || r.DecodeDevices == 0):
		return field.Errorf("%s needs both %s and %s", pdRatio, prefillDevices, decodeDevices)
	case !r.PDRatio && (r.PrefillDevices != 0 || r.DecodeDevices != 0):
		return field.Errorf("%s and %s need %s", prefillDevices, decodeDevices, pdRatio)
	case (r.Disagg || r.PDRatio) && r.Limits.Latency > 0:
		return field.Errorf("%s is of whole requests: with %s or %s give %s and %s", field.Name("request_latency"), field.Name("disagg"), pdRatio,
			field.Name("ttft_limit"), field.Name("tpot_limit"))
	case r.Disagg && r.Limits.TTFT == 0 && r.Limits.TPOT == 0:
		return field.Errorf("%s needs %s (for prefill), %s (for decode) or both", field.Name("disagg"), field.Name("ttft_limit"), field.Name("tpot_limit"))
	}
	return nil
}

// dimension is the sizes of one kind of parallelism and their field.
type dimension struct {
	name  field.Name
	sizes []int
}

func dimensions(s search.Space) []dimension {
	return []dimension{
		{"tp_sizes", s.TP},
		{"ep_sizes", s.EP},
		{"moe_dp_sizes", s.MoEDP},
		{"dcp_sizes", s.DCP},
		{"pp_sizes", s.PP},
	}
}

// checkSpace reports sizes no phase has devices for.
func (r *Request) checkSpace() error {
	var errs []error
	name, most := r.largest()
	for _, d := range dimensions(r.Space) {
		for _, n := range d.sizes {
			if most > 0 && (n < 1 || n > most) {
				errs = append(errs, field.Errorf("%s must be between 1 and %s %d, got %d", d.name, name, most, n))
			}
		}
	}
	return errors.Join(errs...)
}

// errNoCombination is a search without a legal layout.
func errNoCombination(asked search.Space, devices int) error {
	resolved := dimensions(asked.Resolve(devices))
	var given []any
	format := ""
	for i, d := range dimensions(asked) {
		if d.sizes != nil {
			if format != "" {
				format += ", "
			}
			format += "%s %s"
			given = append(given, d.name, words(resolved[i].sizes))
		}
	}
	return field.Errorf("no combination of "+format+" fits %d devices: TP·PP and EP·MoE-DP·PP must divide them, and DCP must divide TP",
		append(given, devices)...)
}

// usualDrafts is how many acceptance rates the guide has by default.
const usualDrafts = 4

// checkSpeculation reports draft tokens that lack something or exclude
// others.
func (r *Request) checkSpeculation() error {
	var errs []error
	for _, n := range r.Space.MTP {
		err := field.Between(mtpTokens, n, 0, deployment.MaxMTP)
		rates := len(r.AcceptanceRates)
		if r.AcceptanceRates == nil {
			rates = usualDrafts
		}
		if err == nil && n > rates+1 {
			err = field.Errorf("%s %d needs at least %d %s, got %d", mtpTokens, n, n-1, field.Name("mtp_acceptance_rates"), rates)
		}
		if err == nil && n > 0 && r.Draft.Method != "" {
			err = field.Errorf("%s %d and %s %s exclude each other", mtpTokens, n, field.Name("speculative_method"), r.Draft.Method)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (r *Request) checkLengths() error {
	switch {
	case r.Input != 0 && r.Distribution != nil:
		return field.Errorf("give either %s or %s, not both", inputLength, lengthDistribution)
	case r.Input == 0 && r.Distribution == nil:
		return field.Errorf("give %s or %s", inputLength, lengthDistribution)
	}
	return nil
}

// devices finds the profiles and checks that they can hold the devices asked
// for.
func devices(w *session.Session, r *Request) ([]*device.Profile, error) {
	var out []*device.Profile
	var errs []error
	limit, most := r.largest()
	add := func(p *device.Profile, err error) {
		switch {
		case err != nil:
			errs = append(errs, err)
		case p.Ranks() < most && most <= session.MaxTokens: // more is reported as such
			errs = append(errs, deployment.CheckDevices(p, limit, most))
		case !slices.ContainsFunc(out, func(o *device.Profile) bool { return o.Name == p.Name }):
			out = append(out, p)
		}
	}
	if r.DeviceFile != "" {
		add(w.Device("", r.DeviceFile))
	}
	for _, name := range r.Devices {
		if name == "" {
			errs = append(errs, field.Errorf("%s: an empty name", field.Name("device")))
			continue
		}
		add(w.Device(name, ""))
	}
	return out, session.BadInput(errors.Join(errs...))
}

// words prints numbers with blanks between them.
func words(numbers []int) string { return strings.Trim(fmt.Sprint(numbers), "[]") }

// onLength are the notes on requests longer than the model was trained on.
func (r *Request) onLength(m *model.Model) []string {
	if r.Distribution != nil {
		return session.OnLength(m, session.Longest(r.Distribution)+r.Output)
	}
	return session.OnLength(m, r.Input+r.Output+r.imageTokens(m))
}

func (r *Request) imageTokens(m *model.Model) int {
	return session.ImageTokens(m, r.ImageBatch, r.ImageHeight, r.ImageWidth)
}

func (r *Request) checkPositions(m *model.Model) error {
	if r.Distribution != nil {
		return nil
	}
	return session.Within(m, session.Span{Name: inputLength, Tokens: r.Input}, session.Span{Name: outputLength, Tokens: r.Output}, r.imageTokens(m))
}
