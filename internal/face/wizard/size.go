package wizard

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// perSecond ends a load: "20/s" is 20 requests per second, "1 5 2/s" are rates over equal parts of a day.
const perSecond = "/s"

// load is the rates of an answer that names a load instead of a number of devices, nil for a number.
func (a Answers) load() []float64 {
	list, ok := strings.CutSuffix(a.value(NumDevices), perSecond)
	if !ok {
		return nil
	}
	var out []float64
	for _, word := range split(list) {
		x, _ := strconv.ParseFloat(word, 64)
		out = append(out, x)
	}
	return out
}

// preset is the known use that the answers name instead of an input length, nil for none.
func (a Answers) preset() *workload.Preset {
	if p, ok := workload.LookupPreset(a.value(Input)); ok {
		return &p
	}
	return nil
}

// compares reports whether the request is a plan: one of all modes and engines, or one that only a plan can have.
func (k *Known) compares() bool {
	return k.Answers.is(Mode, Compare) || k.Answers.load() != nil || k.Answers.preset() != nil || k.Base != nil
}

// readSize reads a number of devices or a load.
func readSize(t *Text, value string) (string, error) {
	list, ok := strings.CutSuffix(strings.ToLower(strings.ReplaceAll(value, " "+perSecond, perSecond)), perSecond)
	if !ok {
		n, err := units.ReadCount(value)
		if err != nil || n < 1 || n != math.Trunc(n) || n > math.MaxInt32 {
			return "", fmt.Errorf(t.WantSize, value)
		}
		return strconv.Itoa(int(n)), nil
	}
	var out []string
	for _, word := range split(list) {
		x, err := units.ReadCount(word)
		if err != nil || !(x >= 0) || math.IsInf(x, 1) {
			return "", fmt.Errorf(t.WantSize, value)
		}
		out = append(out, number(x))
	}
	if len(out) == 0 || slices.Max(out) == "0" {
		return "", fmt.Errorf(t.WantSize, value)
	}
	return strings.Join(out, " ") + perSecond, nil
}

// ascend reports whether all devices of the answers follow the Ascend guide.
func (k *Known) ascend() bool {
	all := k.Profiles()
	return len(all) > 0 && !slices.ContainsFunc(all, func(p *device.Profile) bool { return !p.FollowsAscend() })
}

// usualFormats are the formats that are suggested for the devices of the answers.
func (k *Known) usualFormats() deployment.Formats {
	if k.ascend() {
		return deployment.Formats{Linear: dtype.W8A8Dynamic, Attention: dtype.Disabled}
	}
	return deployment.Formats{Linear: dtype.Auto, Attention: dtype.Auto}
}

// fits reports whether a model fits on some number of one of the devices of the answers, with one request at a time. Reasons
// other than memory are found elsewhere.
func (k *Known) fits(n int, f deployment.Formats) bool {
	r := k.checked()
	r.NumDevices, r.Formats, r.Limits, r.BatchRange = n, f, workload.Limits{}, []int{1, 1}
	r.Disagg, r.PDRatio, r.PrefillDevices, r.DecodeDevices, r.Evaluate = false, false, 0, 0, optimize.ByFormulas
	r.Space.TP = []int{}
	if m := k.Model(); m != nil && m.HasExperts() {
		r.Space.EP = []int{}
	}
	for _, name := range r.Devices {
		p, err := k.World.Device(name, "")
		if err != nil || p.Ranks() < n {
			continue
		}
		one := r
		one.Devices = []string{name}
		key := fmt.Sprintf("%+v", one)
		fits, known := k.fit[key]
		if !known {
			out, err := optimize.Run(context.Background(), k.World, one)
			fits = err != nil || !outOfMemory(out)
			k.fit[key] = fits
		}
		if fits {
			return true
		}
	}
	return false
}

// outOfMemory reports a search whose candidates all lack memory.
func outOfMemory(r *optimize.Response) bool {
	for i := range r.Devices {
		for j := range r.Devices[i].Searches {
			for _, c := range r.Devices[i].Searches[j].Candidates {
				if c.OK || c.Rejected != search.NoMemory {
					return false
				}
			}
		}
	}
	return true
}

// fewest is the smallest power of two of devices on which the model fits, 0 if there is none.
func (k *Known) fewest(f deployment.Formats) int {
	most := 0
	for _, p := range k.Profiles() {
		most = max(most, p.Ranks())
	}
	const enough = 1024
	for n := 1; n <= min(most, enough); n *= 2 {
		if k.fits(n, f) {
			return n
		}
	}
	return 0
}

// checkRoom reports a number of devices on which the model does not fit, with the number on which it does. Before formats are
// chosen, the narrowest ones count.
func (k *Known) checkRoom() error {
	n := k.Answers.count(NumDevices)
	if n == 0 || k.Model() == nil || len(k.Profiles()) == 0 || k.Base != nil {
		return nil
	}
	f, chosen := k.usualFormats(), k.Answers.value(Quantization) != ""
	if chosen {
		f = k.formats()
	}
	if k.fits(n, f) {
		return nil
	}
	if narrow := (deployment.Formats{Linear: dtype.W4A8Dynamic, Attention: dtype.Disabled}); !chosen && k.fits(n, narrow) {
		return nil
	}
	where := strings.Join(k.Answers.words(Devices), ", ")
	if need := k.fewest(f); need > 0 {
		return fmt.Errorf(k.Text.NoRoom, k.Answers.value(Model), n, where, need)
	}
	return fmt.Errorf(k.Text.NoRoomAtAll, k.Answers.value(Model), where)
}
