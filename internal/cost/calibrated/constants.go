package calibrated

import (
	_ "embed"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
)

//go:embed coefficients.yaml
var coefficients []byte

// Embedded is the data of this package as they are in the program, for checks of an installation.
func Embedded() embedded.Files { return embedded.Files{"coefficients.yaml": coefficients} }

// Product are the constants of a matrix product. Here and below times are in
// microseconds, the rest are shares of a data sheet's peaks.
type Product struct {
	Launch  float64 `yaml:"launch"`
	Compute float64 `yaml:"compute"`
	Memory  float64 `yaml:"memory"`
	Soft    float64 `yaml:"soft"`
	Depth   float64 `yaml:"depth"`
}

// Form are the constants of the other operators; each uses its own.
type Form struct {
	Launch  float64 `yaml:"launch,omitempty"`
	Compute float64 `yaml:"compute,omitempty"`
	Memory  float64 `yaml:"memory,omitempty"`
	Short   float64 `yaml:"short,omitempty"`
	Head    float64 `yaml:"head,omitempty"`
	Tile    float64 `yaml:"tile,omitempty"`
	IO      float64 `yaml:"io,omitempty"`
	Chunk   float64 `yaml:"chunk,omitempty"`
	Lanes   float64 `yaml:"lanes,omitempty"`
}

// Widened are the constants of experts whose kernels widen the weights of a tile before they multiply.
type Widened struct {
	Form  `yaml:",inline"`
	Depth float64 `yaml:"depth"`
}

// Link are the constants of one pattern of communication inside a node.
type Link struct {
	Launch     float64 `yaml:"launch"`
	PerRank    float64 `yaml:"per_rank"`
	Efficiency float64 `yaml:"efficiency"`
}

// Constants are the forms' numbers for one generation.
type Constants struct {
	Measured `yaml:",inline"`

	// INT4 are experts with 4-bit integers under 16-bit inputs where they have slower kernels than Experts.W4A16; without a
	// launch they have not. No table is of them.
	INT4 Form `yaml:"int4,flow,omitempty"`
	// Widened are experts with 4-bit floats under 16-bit inputs whose kernels widen the weights of a tile before they multiply; without
	// a launch there are none. No table is of them.
	Widened Widened `yaml:"widened,flow,omitempty"`
	// Peer is how many times as fast collectives over PCIe are with peer access, where the tables were measured without; 0 is 1.
	Peer float64 `yaml:"peer,omitempty"`
	// Unit is how fast one unit of the device reads, in GB/s, where a kernel gives it all keys of a request and KV head; 0 where no
	// kernel does.
	Unit float64 `yaml:"unit,omitempty"`
}

// Measured are the numbers of forms that kernel tables may have measured.
type Measured struct {
	GEMM struct {
		Wide  Product `yaml:"wide,flow"`
		FP8   Product `yaml:"fp8,flow"`
		Block Product `yaml:"block,flow"` // FP8 with a scale for each block
		FP4   Product `yaml:"fp4,flow"`
	} `yaml:"gemm"`
	Prefill Form `yaml:"prefill,flow"`
	Decode  Form `yaml:"decode,flow"`
	Latent  Form `yaml:"latent,flow"`
	Experts struct {
		Wide  Form `yaml:"wide,flow"`
		FP8   Form `yaml:"fp8,flow"`
		Block Form `yaml:"block,flow"` // FP8 with a scale for each block
		FP4   Form `yaml:"fp4,flow"`
		W4A8  Form `yaml:"w4a8,flow"`
		W4A16 Form `yaml:"w4a16,flow"` // and other narrow weights under wide inputs
	} `yaml:"experts"`
	Elementwise Form `yaml:"elementwise,flow"`
	Scan        Form `yaml:"scan,flow"`   // a recurrence over prompts
	Update      Form `yaml:"update,flow"` // a recurrence by a token
	Comm        struct {
		Reduce   Link `yaml:"reduce,flow"`
		Ring     Link `yaml:"ring,flow"` // gather and scatter
		Exchange Link `yaml:"exchange,flow"`
		// Apart is the share of a profile's links that collectives reach between
		// nodes.
		Apart float64 `yaml:"apart"`
	} `yaml:"comm"`
}

// shipped is the constants of all generations.
//
//nolint:gochecknoglobals // read once, never changed
var shipped = embedded.Once("calibrated: coefficients.yaml", coefficients, embedded.YAML[map[string]Constants])

// Parameter is one constant of a form.
type Parameter struct {
	Name      string
	Value     *float64
	Low, High float64 // what is physically possible
}

// The bounds of constants: launches between a queued kernel and a slow host
// path; shares of a peak.
func launch(v *float64) Parameter             { return Parameter{"launch", v, 0.5, 60} }
func share(name string, v *float64) Parameter { return Parameter{name, v, 0.02, 1} }

func (p *Product) parameters() []Parameter {
	return []Parameter{
		launch(&p.Launch), share("compute", &p.Compute), share("memory", &p.Memory),
		{"soft", &p.Soft, 1, 8},
		{"depth", &p.Depth, 0.001, 5},
	}
}

func (l *Link) parameters() []Parameter {
	return []Parameter{launch(&l.Launch), {"per_rank", &l.PerRank, 0.001, 5}, share("efficiency", &l.Efficiency)}
}

// own are the parameters that most forms have, and more.
func (f *Form) own(more ...Parameter) []Parameter {
	return append([]Parameter{launch(&f.Launch), share("compute", &f.Compute), share("memory", &f.Memory)}, more...)
}

func expertParameters(f *Form) []Parameter {
	return f.own(Parameter{"tile", &f.Tile, 0.01, 3}, share("io", &f.IO))
}

// Forms are the parts of the constants that are fitted, each to its own
// measurements, in the order they are written.
func (c *Constants) Forms() []FittedForm {
	head := func(f *Form) Parameter { return Parameter{"head", &f.Head, 0.0005, 1} }
	return []FittedForm{
		{"gemm.wide", c.GEMM.Wide.parameters()},
		{"gemm.fp8", c.GEMM.FP8.parameters()},
		{"gemm.block", c.GEMM.Block.parameters()},
		{"gemm.fp4", c.GEMM.FP4.parameters()},
		{"prefill", c.Prefill.own(Parameter{"short", &c.Prefill.Short, 0.01, 20})},
		{"decode", c.Decode.own(head(&c.Decode))},
		{"latent", c.Latent.own(head(&c.Latent))},
		{"experts.wide", expertParameters(&c.Experts.Wide)},
		{"experts.fp8", expertParameters(&c.Experts.FP8)},
		{"experts.block", expertParameters(&c.Experts.Block)},
		{"experts.fp4", expertParameters(&c.Experts.FP4)},
		{"experts.w4a8", expertParameters(&c.Experts.W4A8)},
		{"experts.w4a16", expertParameters(&c.Experts.W4A16)},
		{"scan", []Parameter{
			launch(&c.Scan.Launch), share("memory", &c.Scan.Memory),
			{"chunk", &c.Scan.Chunk, 0.2, 60},
			{"lanes", &c.Scan.Lanes, 16, 1024},
		}},
		{"update", []Parameter{launch(&c.Update.Launch), share("memory", &c.Update.Memory)}},
		{"comm.reduce", c.Comm.Reduce.parameters()},
		{"comm.ring", c.Comm.Ring.parameters()},
		{"comm.exchange", c.Comm.Exchange.parameters()},
	}
}

// FittedForm is a form and its constants.
type FittedForm struct {
	Name       string
	Parameters []Parameter
}

// Write prints constants below a comment, for coefficients.yaml. Fitted ones have three digits, which is more than any fit knows.
func Write(w io.Writer, comment string, all map[string]Constants) error {
	var b strings.Builder
	for line := range strings.Lines(comment) {
		b.WriteString("# " + strings.TrimSuffix(line, "\n") + "\n")
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		for _, f := range c.Forms() {
			for _, p := range f.Parameters {
				*p.Value = short(*p.Value)
			}
		}
		b.WriteString("\n")
		e := yaml.NewEncoder(&b)
		e.SetIndent(2)
		if err := e.Encode(map[string]Constants{name: c}); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// short is a number in three digits.
func short(x float64) float64 {
	three, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	if err != nil { // what was just printed can be read
		return x
	}
	return three
}
