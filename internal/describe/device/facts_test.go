package device

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFactsAreInPeoplesUnits(t *testing.T) {
	const want = `{
  "name": "gb200",
  "aliases": ["gb200_sxm", "gb200_nvl72"],
  "instances": ["p6e-gb200.*", "a4x-highgpu-*"],
  "vendor": "nvidia",
  "generation": "blackwell",
  "description": "NVIDIA GB200 NVL72, one GPU",
  "tier": "datasheet",
  "peak_tflops": {
    "matrix": {"f32": 1250, "bf16": 2500, "f16": 2500, "fp8": 5000, "int8": 5000, "fp4": 10000},
    "vector": {"f32": 80, "bf16": 160, "f16": 160}
  },
  "memory": {"size_gib": 185.0302734375, "reported_gib": 184.31, "bandwidth_gb_s": 8000},
  "efficiency": {"compute": 0.75, "memory": 0.8},
  "fixed_us": {"matrix": 3, "vector": 3, "communication": 10},
  "links": [
    {"name": "inter-rack", "size": 16, "bandwidth_gb_s": 100, "latency_us": 5, "efficiency": 0.8, "topology": "clos"},
    {"name": "nvlink", "size": 72, "bandwidth_gb_s": 900, "latency_us": 1, "efficiency": 0.8, "topology": "clos"}
  ],
  "devices": 1152,
  "node": 4,
  "rack": 72,
  "power_w": 1200,
  "price": {"usd_per_hour": 16, "source": "Oracle Cloud BM.GPU.GB200.4 pay-as-you-go list 64.00 per hour / 4, 2026", "class": "on_demand", "date": "2026"},
  "source": "AIConfigurator system file (August 2026) and NVIDIA data sheet, dense"
}`
	got, err := json.Marshal(lookup(t, "gb200").Facts())
	if err != nil {
		t.Fatal(err)
	}
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestFactsShowWhatFilesSay: no float dust in any profile.
func TestFactsShowWhatFilesSay(t *testing.T) {
	for _, name := range Names() {
		text, err := json.Marshal(lookup(t, name).Facts())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "00000") || strings.Contains(string(text), "99999") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if got := len(parse(t, minimal).Facts().Links); got != 0 {
		t.Errorf("want no links, got %d", got)
	}
}

func TestDecimalsAreRoundedOnce(t *testing.T) {
	for _, c := range []struct {
		text string
		x    float64
		exp  int
		want float64
	}{
		{"0.2", 0.2, -6, 2e-7}, // 0.2/1e6 is not
		{"5", 5, -6, 5e-6},     // 5*1e-6 is not
		{"66.9", 66.9, 12, 66.9e12},
		{"1.5e2", 150, -6, 1.5e-4},
		{"1_000", 1000, 9, 1e12},
		{"0x10", 16, 9, 16e9},
		{"010", 8, 9, 8e9}, // YAML 1.1 reads octal
		{"+.5", 0.5, 0, 0.5},
		{"1e-999", 0, 12, 0},
	} {
		if got := newDecimal(c.text, c.x).scaled(c.exp); got != c.want {
			t.Errorf("%s scaled by %d: want %v, got %v", c.text, c.exp, c.want, got)
		}
	}
	if got := inUnits(353.9e12, 12); got != 353.9 {
		t.Errorf("want 353.9, got %v", got)
	}
}
