package calibrated

import (
	_ "embed"
	"fmt"
	"math"

	"go.yaml.in/yaml/v3"

	"plimsoll/internal/cost"
	"plimsoll/internal/cost/roofline"
	"plimsoll/internal/device"
	"plimsoll/internal/dtype"
	"plimsoll/internal/op"
	"plimsoll/internal/units"
)

//go:embed coefficients.yaml
var coefficients []byte

// gemm are the constants of a matrix product.
type gemm struct {
	Launch  float64 `yaml:"launch"`
	Compute float64 `yaml:"compute"`
	Memory  float64 `yaml:"memory"`
	Soft    float64 `yaml:"soft"`
	Depth   float64 `yaml:"depth"`
}

// form are the constants of the other operators; each uses its own.
type form struct {
	Launch  float64 `yaml:"launch"`
	Compute float64 `yaml:"compute"`
	Memory  float64 `yaml:"memory"`
	Short   float64 `yaml:"short"`
	Head    float64 `yaml:"head"`
	Tile    float64 `yaml:"tile"`
	IO      float64 `yaml:"io"`
}

// comm are the constants of collectives inside a node.
type comm struct {
	Launch         float64 `yaml:"launch"`
	PerRank        float64 `yaml:"per_rank"`
	Efficiency     float64 `yaml:"efficiency"`
	ExchangeLaunch float64 `yaml:"exchange_launch"`
}

// constants are the forms' numbers for one generation.
type constants struct {
	GEMM struct {
		Wide        gemm    `yaml:"wide"`
		FP8         gemm    `yaml:"fp8"`
		FP4         gemm    `yaml:"fp4"`
		BlockLaunch float64 `yaml:"block_launch"`
	} `yaml:"gemm"`
	Prefill     form `yaml:"prefill"`
	Decode      form `yaml:"decode"`
	Latent      form `yaml:"latent"`
	Experts     form `yaml:"experts"`
	Elementwise form `yaml:"elementwise"`
	Recurrent   form `yaml:"recurrent"`
	Comm        comm `yaml:"comm"`
}

// Model costs operators on one GPU. It is immutable and safe for concurrent
// use; Cost allocates nothing.
type Model struct {
	profile *device.Profile
	tier    device.Tier
	c       constants
	floor   *roofline.Model // the speed of light, and links
	matrix  [dtype.Formats]float64
	vector  [dtype.Formats]float64
	memory  float64
}

// fitted maps a generation to the one whose constants it takes, and how well
// that is known.
func fitted(generation string) (name string, tier device.Tier, ok bool) {
	switch generation {
	case "hopper":
		return "hopper", device.Calibrated, true
	case "blackwell":
		return "blackwell", device.Calibrated, true
	case "blackwell-ultra":
		return "blackwell", device.Transferred, true
	case "ampere", "ada", "cdna3", "cdna4", "gaudi3", "gaudi", "battlemage":
		return "hopper", device.Transferred, true
	}
	return "", device.Datasheet, false
}

// New prepares the model of a device, or reports that no constants are known
// for its generation.
func New(p *device.Profile) (*Model, bool) {
	name, tier, ok := fitted(p.Generation)
	if !ok {
		return nil, false
	}
	var all map[string]constants
	if err := yaml.Unmarshal(coefficients, &all); err != nil {
		panic(fmt.Sprintf("calibrated: coefficients.yaml: %v", err)) // a test reads it
	}
	m := &Model{profile: p, tier: tier, c: all[name]}
	light := *p
	light.ComputeEfficiency, light.MemoryEfficiency = 1, 1
	light.Fixed = device.Fixed{}
	m.floor = roofline.New(&light, roofline.Settings{})
	for f := dtype.F32; f < dtype.Formats; f++ {
		m.matrix[f] = 1 / math.Max(1, float64(roofline.Peak(&p.Matrix, f)))
		m.vector[f] = 1 / math.Max(1, float64(roofline.Peak(&p.Vector, f)))
	}
	m.memory = 1 / float64(p.Bandwidth)
	return m, true
}

// Tier says how well the constants are known.
func (m *Model) Tier() device.Tier { return m.tier }

const micro = 1e-6

// Cost estimates an operator.
func (m *Model) Cost(o *op.Op) cost.Estimate {
	switch o.Kind {
	case op.GEMM:
		return m.product(o)
	case op.GroupedGEMM:
		return m.experts(o)
	case op.Attention:
		return m.attention(o, &m.c.Prefill, &m.c.Decode)
	case op.Latent:
		return m.attention(o, &m.c.Prefill, &m.c.Latent)
	case op.Recurrent:
		return m.plain(o, &m.c.Recurrent)
	case op.Collective, op.Transfer:
		return m.communicate(o)
	case op.Elementwise, op.LatentPrologue:
	}
	return m.plain(o, &m.c.Elementwise)
}

// estimate sums launch and busy time, never below the speed of light.
func (m *Model) estimate(w *op.Work, launch, matrix, vector, memory, busy float64) cost.Estimate {
	light := math.Max(float64(w.Matrix)*m.matrix[w.MatrixIn], float64(w.Bytes)*m.memory)
	busy = math.Max(busy, light)
	if busy == 0 {
		return cost.Estimate{}
	}
	return cost.Estimate{
		Total: units.Seconds(launch + busy), Matrix: units.Seconds(matrix), Vector: units.Seconds(vector),
		Memory: units.Seconds(memory), Fixed: units.Seconds(launch),
	}
}
