package power

import (
	_ "embed"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

//go:embed coefficients.yaml
var coefficients []byte

// Embedded is the data of this package as they are in the program, for checks of an installation.
func Embedded() embedded.Files { return embedded.Files{"coefficients.yaml": coefficients} }

// Fitted is what a fit to measured deployments found.
type Fitted struct {
	Generations map[string]Constants `yaml:"generations"`
	// Factors are what kernels of a kind draw above idle, over what the constants of
	// the generation say, by the kind's name.
	Factors map[string]float64 `yaml:"factors"`
	// Known and Unseen are the 10 % and 90 % quantiles of ln(measured/predicted) of the
	// joules per output token of rows that no fit had seen: with rows of the same cell
	// in the fit, and without.
	Known  [2]float64 `yaml:"known"`
	Unseen [2]float64 `yaml:"unseen"`
}

// Shipped is the fit that comes with the program. It must not be changed.
func Shipped() *Fitted { return shipped() }

//nolint:gochecknoglobals // read once, never changed
var shipped = embedded.Once("power: coefficients.yaml", coefficients, Read)

// Read reads a fit that Write has written.
func Read(data []byte) (*Fitted, error) { return embedded.YAML[*Fitted](data) }

// Factor is that of a kind of kernels, and whether it was measured.
func (f *Fitted) Factor(kind string) (factor float64, known bool) {
	if x, ok := f.Factors[kind]; ok {
		return x, true
	}
	return 1, false
}

// nearest are the constants of a device: its generation's, or what a relative
// suggests.
func nearest(p *device.Profile) (Constants, device.Tier) {
	all := Shipped().Generations
	if c, ok := all[p.Generation]; ok {
		return c, device.Calibrated
	}
	switch {
	case p.Generation == "blackwell-ultra": // the same chip with more memory and a higher cap
		return all["blackwell"], device.Transferred
	case p.Generation == "blackwell-rtx":
		return like(p, "blackwell"), device.Transferred
	case p.Vendor == device.NVIDIA:
		return like(p, "hopper"), device.Transferred
	case p.Vendor == device.AMD:
		return like(p, "cdna3"), device.Transferred
	}
	return like(p, slices.Sorted(maps.Keys(all))...), device.Transferred
}

// reference is the device that most rows of a generation are from.
func reference(generation string) string {
	switch generation {
	case "hopper":
		return "h200_sxm"
	case "blackwell":
		return "b200_sxm"
	case "cdna3":
		return "mi300x"
	case "cdna4":
		return "mi355x"
	}
	return ""
}

// like are constants with which a device draws the same share of its cap at the same
// share of its peaks as the references of generations do, in the geometric mean:
// chips of another process or another memory take another energy per operation or byte.
func like(p *device.Profile, generations ...string) Constants {
	own := full(p)
	var sums [len(own)]float64
	n := 0.0
	for _, g := range generations {
		d, err := device.Lookup(reference(g))
		c, ok := Shipped().Generations[g]
		if err != nil || !ok {
			continue
		}
		n++
		theirs := full(d)
		for i, v := range c.Values() {
			sums[i] += math.Log(*v * theirs[i])
		}
	}
	var out Constants
	for i, v := range out.Values() {
		*v = math.Exp(sums[i]/n) / own[i]
	}
	return out
}

// full is, for each constant, what turns it into a share of a device's cap at its
// peaks, but for links, whose energy is not the wire's.
func full(p *device.Profile) [5]float64 {
	compute := max(p.Matrix[dtype.BF16], p.Matrix[dtype.F16])
	if compute == 0 {
		compute = max(p.Matrix[dtype.FP8]/2, p.Matrix[dtype.INT8]/2, 1)
	}
	return [5]float64{1, 1, float64(p.Bandwidth) / p.Power, float64(compute) / p.Power, 1}
}

// Write prints a fit as coefficients.yaml holds it, below a comment.
func (f *Fitted) Write(w io.Writer, comment string) error {
	var b strings.Builder
	for line := range strings.Lines(comment) {
		b.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
	}
	b.WriteString("\ngenerations:\n")
	for _, name := range slices.Sorted(maps.Keys(f.Generations)) {
		c := f.Generations[name]
		var parts []string
		for i, v := range c.Values() {
			parts = append(parts, Names()[i]+": "+short(*v))
		}
		fmt.Fprintf(&b, "  %s: {%s}\n", name, strings.Join(parts, ", "))
	}
	b.WriteString("factors:\n")
	for _, cell := range slices.Sorted(maps.Keys(f.Factors)) {
		fmt.Fprintf(&b, "  %s: %s\n", cell, short(f.Factors[cell]))
	}
	fmt.Fprintf(&b, "known: [%s, %s]\nunseen: [%s, %s]\n", short(f.Known[0]), short(f.Known[1]), short(f.Unseen[0]), short(f.Unseen[1]))
	_, err := io.WriteString(w, b.String())
	return err
}

// short is a number in three digits, which is more than any fit knows.
func short(x float64) string {
	three, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	if err != nil { // what was just printed can be read
		three = x
	}
	return strconv.FormatFloat(three, 'f', -1, 64)
}
