package device

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gpuRow is a row of AIConfigurator's system table, or of a vendor's data sheet,
// in its units: GB/s, GiB, dense TFLOPS, watts; 0 for "–".
type gpuRow struct {
	name                 string
	vendor               Vendor
	bandwidth, memory    float64
	bf16, int8, fp8, fp4 float64
	watts                float64
	node                 int
	inner, outer         float64
}

func gpuRows() []gpuRow {
	return []gpuRow{
		{"a100_pcie", NVIDIA, 1935, 80, 312, 624, 0, 0, 300, 8, 32, 25},
		{"a100_sxm", NVIDIA, 2039, 80, 312, 624, 0, 0, 400, 8, 300, 25},
		{"a30", NVIDIA, 933, 24, 165, 330, 0, 0, 165, 8, 32, 25},
		{"l4", NVIDIA, 300, 24, 121, 242, 242, 0, 72, 8, 32, 25},
		{"l40s", NVIDIA, 864, 46068. / 1024, 362.05, 733, 733, 0, 350, 8, 32, 50},
		{"h100_pcie", NVIDIA, 2000, 80, 756.5, 1513, 1513, 0, 350, 8, 64, 50},
		{"h100_sxm", NVIDIA, 3350, 80, 989, 1978, 1978, 0, 700, 8, 450, 50},
		{"h200_sxm", NVIDIA, 4800, 141, 989, 1978, 1978, 0, 700, 8, 450, 50},
		{"b200_sxm", NVIDIA, 7700, 180, 2250, 4500, 4500, 9000, 1000, 8, 900, 100},
		{"b300_sxm", NVIDIA, 7750, 275040. / 1024, 2250, 153.5, 4500, 14000, 1100, 8, 900, 100},
		{"gb200", NVIDIA, 8000, 189471. / 1024, 2500, 5000, 5000, 10000, 1200, 4, 900, 100},
		{"gb300", NVIDIA, 8000, 284208. / 1024, 2500, 165, 5000, 15000, 1400, 4, 900, 100},
		{"rtx_pro_6000_server", NVIDIA, 1792, 97887. / 1024, 467.8, 935.6, 935.6, 1871.2, 600, 8, 64, 50},
		{"b60", Intel, 456, 24, 98.3, 197, 98.3, 0, 200, 8, 28.4, 50},

		// NVIDIA's, AMD's and Intel's data sheets.
		{"h20", NVIDIA, 4000, 97871. / 1024, 148, 296, 296, 0, 400, 8, 450, 50},
		{"mi300x", AMD, 5300, 192, 1307.4, 2614.9, 2614.9, 0, 750, 8, 448, 50},
		{"mi325x", AMD, 6000, 256, 1307.4, 2614.9, 2614.9, 0, 1000, 8, 448, 50},
		{"mi355x", AMD, 8000, 288, 2516.6, 5033.2, 5033.2, 10066.3, 1400, 8, 537.6, 50},
		{"gaudi3", Intel, 3700, 128, 1835, 0, 1835, 0, 900, 8, 525, 75},
	}
}

func TestGPUProfiles(t *testing.T) {
	for _, want := range gpuRows() {
		t.Run(want.name, func(t *testing.T) {
			p := lookup(t, want.name)
			f := p.Facts()
			got := gpuRow{
				p.Name, p.Vendor, f.Memory.BandwidthGBs, f.Memory.SizeGiB,
				f.Peak.Matrix.BF16, f.Peak.Matrix.INT8, f.Peak.Matrix.FP8, f.Peak.Matrix.FP4,
				f.PowerW, f.Node, f.Links[1].BandwidthGBs, f.Links[0].BandwidthGBs,
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(gpuRow{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestGPUDefaults(t *testing.T) {
	for _, row := range gpuRows() {
		p := lookup(t, row.name)
		if p.ComputeEfficiency != 0.75 || p.Fixed.Matrix != 3e-6 || p.Fixed.Vector != 3e-6 {
			t.Errorf("%s: compute efficiency and launch cost are not the defaults", p.Name)
		}
		memory, p2p := 0.8, 10e-6
		if p.Name == "b60" {
			memory, p2p = 0.5, 2e-6
		}
		if p.MemoryEfficiency != memory || float64(p.Fixed.Communication) != p2p {
			t.Errorf("%s: memory efficiency %v, communication %v", p.Name, p.MemoryEfficiency, p.Fixed.Communication)
		}
	}
}

func TestVectorPeaks(t *testing.T) {
	for name, want := range map[string]FormatFacts{
		"a100_sxm": {F32: 19.5, BF16: 39, F16: 78},
		"h100_sxm": {F32: 66.9, BF16: 133.8, F16: 133.8},
		"h200_sxm": {F32: 66.9, BF16: 133.8, F16: 133.8},
		"gb200":    {F32: 80, BF16: 160, F16: 160},
		"mi300x":   {F32: 163.4, BF16: 163.4, F16: 163.4},
		"gaudi3":   {F32: 14.3, BF16: 28.7, F16: 28.7},
	} {
		if diff := cmp.Diff(want, lookup(t, name).Facts().Peak.Vector); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestRackOfGB200(t *testing.T) {
	for _, name := range []string{"gb200", "gb300"} {
		p := lookup(t, name)
		if p.Node != 4 || p.Rack != 72 || p.Links[1].Size != 72 || p.Links[0].Latency != 5e-6 {
			t.Errorf("%s: want trays of 4 in racks of 72 and 5 µs between racks, got %+v", name, p)
		}
	}
}
