package device

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Facts is a profile in the units people use, for tables and JSON. Its keys are
// those of a profile file.
type Facts struct {
	Name        string      `json:"name"`
	Base        string      `json:"base,omitempty"`
	Aliases     []string    `json:"aliases,omitempty"`
	Instances   []string    `json:"instances,omitempty"` // patterns of cloud machine types with this device
	Vendor      Vendor      `json:"vendor"`
	Generation  string      `json:"generation,omitempty"`
	Description string      `json:"description,omitempty"`
	Tier        Tier        `json:"tier"`
	Peak        PeakFacts   `json:"peak_tflops"`
	Memory      MemoryFacts `json:"memory"`
	Efficiency  ShareFacts  `json:"efficiency"`
	Fixed       FixedFacts  `json:"fixed_us"`
	Links       []LinkFacts `json:"links"`
	Devices     int         `json:"devices"` // the maximum that the links connect
	Node        int         `json:"node"`
	Rack        int         `json:"rack,omitempty"`
	PowerW      float64     `json:"power_w,omitempty"`
	Throttle    float64     `json:"throttle,omitempty"`   // how much longer products take at the limit of power
	Again       float64     `json:"read_again,omitempty"` // share of its time that reading a cached token again takes
	Price       Price       `json:"price"`
	Source      string      `json:"source"`
}

// PeakFacts are the dense peaks in 1e12 operations per second.
type PeakFacts struct {
	Matrix FormatFacts `json:"matrix"`
	Vector FormatFacts `json:"vector"`
}

// FormatFacts are peaks by number format; 0 is no such unit.
type FormatFacts struct {
	F32  float64 `json:"f32,omitempty"`
	BF16 float64 `json:"bf16,omitempty"`
	F16  float64 `json:"f16,omitempty"`
	FP8  float64 `json:"fp8,omitempty"`
	INT8 float64 `json:"int8,omitempty"`
	FP4  float64 `json:"fp4,omitempty"`
	INT4 float64 `json:"int4,omitempty"`
}

// MemoryFacts are size (binary) and bandwidth (decimal) of the memory.
type MemoryFacts struct {
	SizeGiB      float64 `json:"size_gib"`
	ReportedGiB  float64 `json:"reported_gib,omitempty"` // visible to a process
	BandwidthGBs float64 `json:"bandwidth_gb_s"`
}

// ShareFacts are the shares of the peaks that kernels reach.
type ShareFacts struct {
	Compute float64 `json:"compute"`
	Memory  float64 `json:"memory"`
}

// FixedFacts are launch costs in microseconds.
type FixedFacts struct {
	Matrix        float64 `json:"matrix"`
	Vector        float64 `json:"vector"`
	Communication float64 `json:"communication"`
}

// LinkFacts is one level of the interconnect.
type LinkFacts struct {
	Name         string   `json:"name"`
	Size         int      `json:"size"`
	BandwidthGBs float64  `json:"bandwidth_gb_s"`
	LatencyUs    float64  `json:"latency_us"`
	Efficiency   float64  `json:"efficiency"`
	Topology     Topology `json:"topology"`
}

// Facts returns the profile in the units people use.
func (p *Profile) Facts() Facts {
	f := Facts{
		Name:        p.Name,
		Base:        p.Base,
		Aliases:     p.Aliases,
		Instances:   instancesOf(p.Name),
		Vendor:      p.Vendor,
		Generation:  p.Generation,
		Description: p.Description,
		Tier:        p.Tier,
		Peak:        PeakFacts{formatFacts(&p.Matrix), formatFacts(&p.Vector)},
		Memory:      MemoryFacts{p.Memory.GiB(), p.Reported.GiB(), inUnits(float64(p.Bandwidth), 9)},
		Efficiency:  ShareFacts{p.ComputeEfficiency, p.MemoryEfficiency},
		Fixed: FixedFacts{
			Matrix:        inUnits(float64(p.Fixed.Matrix), -6),
			Vector:        inUnits(float64(p.Fixed.Vector), -6),
			Communication: inUnits(float64(p.Fixed.Communication), -6),
		},
		Links:   []LinkFacts{},
		Devices: p.Ranks(),
		Node:    p.Node,
		Rack:    p.Rack,
		PowerW:  p.Power, Throttle: p.Throttle, Again: p.Again,
		Price:  p.Price,
		Source: p.Source,
	}
	for _, l := range p.Links {
		f.Links = append(f.Links, LinkFacts{
			Name:         l.Name,
			Size:         l.Size,
			BandwidthGBs: inUnits(float64(l.Bandwidth), 9),
			LatencyUs:    inUnits(float64(l.Latency), -6),
			Efficiency:   l.Efficiency,
			Topology:     l.Topology,
		})
	}
	return f
}

func formatFacts(peaks *[dtype.Formats]units.OpsPerSecond) FormatFacts {
	in := func(f dtype.Format) float64 { return inUnits(float64(peaks[f]), 12) }
	return FormatFacts{
		F32: in(dtype.F32), BF16: in(dtype.BF16), F16: in(dtype.F16), FP8: in(dtype.FP8),
		INT8: in(dtype.INT8), FP4: in(dtype.FP4), INT4: in(dtype.INT4),
	}
}
