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
	"sync"

	"go.yaml.in/yaml/v3"

	"plimsoll/internal/device"
)

//go:embed coefficients.yaml
var coefficients []byte

// Fitted is what a fit to measured deployments found.
type Fitted struct {
	Generations map[string]Constants `yaml:"generations"`
	// Factors are what kernels of a cell draw above idle, over what the constants of
	// the generation say, by the cell's name.
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
var shipped = sync.OnceValue(func() *Fitted {
	var f Fitted
	if err := yaml.Unmarshal(coefficients, &f); err != nil {
		panic(fmt.Sprintf("power: coefficients.yaml: %v", err)) // a test reads it
	}
	return &f
})

// Factor is that of a cell, and whether it was measured.
func (f *Fitted) Factor(cell string) (factor float64, known bool) {
	if x, ok := f.Factors[cell]; ok {
		return x, true
	}
	return 1, false
}

// nearest are the constants of a device: its generation's, its nearest relative's,
// or, for devices unlike any that were measured, the geometric mean of all. Idle and
// active watts follow the device's own cap.
func nearest(p *device.Profile) (Constants, device.Tier) {
	all := Shipped().Generations
	if c, ok := all[p.Generation]; ok {
		return c, device.Calibrated
	}
	var relative string
	switch {
	case strings.HasPrefix(p.Generation, "blackwell"):
		relative = "blackwell"
	case p.Vendor == device.NVIDIA:
		relative = "hopper"
	case p.Vendor == device.AMD:
		relative = "cdna3"
	}
	if c, ok := all[relative]; ok {
		return c, device.Transferred
	}
	return mean(all), device.Transferred
}

// mean is the geometric mean of all generations' constants.
func mean(all map[string]Constants) Constants {
	var out Constants
	to := out.Values()
	for i := range to {
		sum := 0.0
		for _, name := range slices.Sorted(maps.Keys(all)) {
			c := all[name]
			sum += math.Log(*c.Values()[i])
		}
		*to[i] = math.Exp(sum / float64(len(all)))
	}
	return out
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
