package device

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCatalogAgreesWithTheFiles(t *testing.T) {
	files, err := fs.Glob(profiles, "profiles/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, e := range catalog() {
		want = append(want, e.file())
		p := lookup(t, e.Name)
		if p.Name != e.Name {
			t.Errorf("%s names itself %s", e.file(), p.Name)
		}
		if diff := cmp.Diff(e.Aliases, p.Aliases); diff != "" {
			t.Errorf("aliases of %s (-catalog +file)\n%s", e.Name, diff)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("(-catalog +files)\n%s", diff)
	}
}

func TestNamesAreSortedAndUnique(t *testing.T) {
	if !slices.IsSorted(Names()) {
		t.Errorf("not sorted: %v", Names())
	}
	owner := map[string]string{}
	for _, e := range catalog() {
		for _, n := range append([]string{e.Name}, e.Aliases...) {
			if o, taken := owner[normal(n)]; taken {
				t.Errorf("%s names both %s and %s", n, o, e.Name)
			}
			owner[normal(n)] = e.Name
		}
	}
}

func TestEmbeddedProfilesAreComplete(t *testing.T) {
	for _, name := range Names() {
		p := lookup(t, name)
		if p.Base != "" || p.Description == "" || p.Generation == "" || p.Source == "" || p.Price.Source == "" {
			t.Errorf("%s: %+v", name, p)
		}
		if known := p.Price.USDPerHour > 0; known != (p.Price.Class == OnDemand || p.Price.Class == GPUCloud) || known != (p.Price.Date != "") {
			t.Errorf("%s: class %q and date %q of its price", name, p.Price.Class, p.Price.Date)
		}
		if unknown := p.Price.USDPerHour == 0; unknown != strings.HasPrefix(p.Price.Source, "no public") {
			t.Errorf("%s: price %v does not suit its source %q", name, p.Price.USDPerHour, p.Price.Source)
		}
	}
}

func TestLookupTakesAliasesInAnySpelling(t *testing.T) {
	for given, want := range map[string]string{
		"H100":                       "h100_sxm",
		"h100-sxm":                   "h100_sxm",
		" H100_SXM ":                 "h100_sxm",
		"hgx h100":                   "h100_sxm",
		"H200":                       "h200_sxm",
		"b200":                       "b200_sxm",
		"A100":                       "a100_sxm",
		"gb200_sxm":                  "gb200",
		"GB300-NVL72":                "gb300",
		"MI300X":                     "mi300x",
		"Gaudi-3":                    "gaudi3",
		"test_device":                "TEST_DEVICE",
		"atlas-800-a2-376t-64g":      "ATLAS_800_A2_376T_64G",
		"A3_752T_128G_DIE":           "ATLAS_800_A3_752T_128G_DIE",
		"ATLAS_800_A3_752T_128G_DIE": "ATLAS_800_A3_752T_128G_DIE",

		// As tools print them.
		"NVIDIA H100 80GB HBM3":                        "h100_sxm",
		"NVIDIA H100 PCIe":                             "h100_pcie",
		"NVIDIA H100 NVL":                              "h100_nvl",
		"NVIDIA H200":                                  "h200_sxm",
		"NVIDIA H200 NVL":                              "h200_nvl",
		"NVIDIA H20-3e":                                "h20_141gb",
		"NVIDIA H800":                                  "h800_sxm",
		"NVIDIA GH200 480GB":                           "gh200_96gb",
		"NVIDIA GH200 144G HBM3e":                      "gh200_144gb",
		"NVIDIA B300 SXM6 AC":                          "b300_sxm",
		"NVIDIA GB10":                                  "gb10",
		"NVIDIA A100-SXM4-80GB":                        "a100_sxm",
		"NVIDIA A100-SXM4-40GB":                        "a100_sxm_40gb",
		"NVIDIA A100-PCIE-40GB":                        "a100_pcie_40gb",
		"NVIDIA A100 80GB PCIe":                        "a100_pcie",
		"NVIDIA A800-SXM4-80GB":                        "a800_sxm",
		"NVIDIA A800 80GB PCIe":                        "a800_pcie",
		"NVIDIA A10G":                                  "a10g",
		"Tesla T4":                                     "t4",
		"Tesla V100-SXM2-16GB":                         "v100_sxm_16gb",
		"Tesla V100-SXM2-32GB":                         "v100_sxm_32gb",
		"Tesla V100-PCIE-16GB":                         "v100_pcie_16gb",
		"NVIDIA GeForce RTX 4090":                      "rtx_4090",
		"NVIDIA RTX A6000":                             "rtx_a6000",
		"NVIDIA RTX 6000 Ada Generation":               "rtx_6000_ada",
		"NVIDIA RTX PRO 6000 Blackwell Server Edition": "rtx_pro_6000_server",
		"NVIDIA RTX PRO 6000 Blackwell Workstation Edition":       "rtx_pro_6000_workstation",
		"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition": "rtx_pro_6000_max_q",
		"AMD Instinct MI250X": "mi250x_gcd",
		"AMD Instinct MI300X": "mi300x",
		"Apple M4 Max":        "m4_max",
		"Ascend910B3":         "ATLAS_800_A2_313T_64G",

		// As people say them.
		"RTX4090":       "rtx_4090",
		"A6000":         "rtx_a6000",
		"DGX Spark":     "gb10",
		"Ascend 910B":   "ATLAS_800_A2_376T_64G",
		"Ascend 910B4":  "ATLAS_800_A2_280T_32G_PCIE",
		"910B4-1":       "ATLAS_800_A2_280T_64G",
		"910C":          "ATLAS_800_A3_752T_128G_DIE",
		"Cloud TPU v5e": "tpu_v5e",
		"Trillium":      "tpu_v6e",
		"TPU7x":         "tpu_v7",
		"AWS Trainium2": "trainium2",
		"Inf2":          "inferentia2",

		// Clouds' machine types.
		"p5.48xlarge":                "h100_sxm",
		"P4d.24xlarge":               "a100_sxm_40gb",
		"g5.xlarge":                  "a10g",
		"trn2.48xlarge":              "trainium2",
		"a3-ultragpu-8g":             "h200_sxm",
		"a2-ultragpu-1g":             "a100_sxm",
		"v5litepod-8":                "tpu_v5e",
		"Standard_NC40ads_H100_v5":   "h100_nvl",
		"Standard_ND96isr_H100_v5":   "h100_sxm",
		"Standard_NC24ads_A100_v4":   "a100_pcie",
		"Standard_NC16as_T4_v3":      "t4",
		"Standard_NC24rs_v3":         "v100_pcie_16gb",
		"Standard_NV36ads_A10_v5":    "a10",
		"standard_nd96isr_mi300x_v5": "mi300x",
	} {
		if got := lookup(t, given).Name; got != want {
			t.Errorf("%q: want %s, got %s", given, want, got)
		}
	}
}

// TestInstances: each pattern is well formed and names a profile, and no machine
// type is also a name.
func TestInstances(t *testing.T) {
	for _, i := range instances() {
		if _, err := path.Match(i.pattern, ""); err != nil || i.pattern != strings.ToLower(i.pattern) {
			t.Errorf("%s: %v", i.pattern, err)
		}
		e, err := find(i.device)
		if err != nil || e.Name != i.device {
			t.Errorf("%s: %q is not a profile's name", i.pattern, i.device)
		}
		if got := lookup(t, strings.ReplaceAll(i.pattern, "*", "8xlarge")).Name; got != i.device {
			t.Errorf("%s: want %s, got %s", i.pattern, i.device, got)
		}
	}
	for _, none := range []string{"g6f.xlarge", "Standard_NV6ads_A10_v5", "m7i.large"} {
		if got := onInstance(none); got != "" {
			t.Errorf("%s: got %s", none, got)
		}
	}
}

func TestLookupOfAnUnknownNameHelps(t *testing.T) {
	for given, want := range map[string]string{
		"H10O_SXM":  `unknown device "H10O_SXM"; nearest: h100_sxm (plimsoll devices lists all 73)`,
		"h300_sxm":  `unknown device "h300_sxm"; nearest: h100_sxm, h200_sxm, h800_sxm (plimsoll devices lists all 73)`,
		"rtx_3091":  `unknown device "rtx_3091"; nearest: rtx_3090 (plimsoll devices lists all 73)`,
		"rtx_2080":  `unknown device "rtx_2080"; nearest: rtx_3090, rtx_4090, rtx_5090 (plimsoll devices lists all 73)`,
		"gtx_1660":  `unknown device "gtx_1660" (plimsoll devices lists all 73)`,
		"p9.xlarge": `unknown device "p9.xlarge" (plimsoll devices lists all 73)`,
		"nvidia":    `unknown device "nvidia" (plimsoll devices lists all 73)`,
		"a2_280t": `unknown device "a2_280t"; nearest: ATLAS_800_A2_280T_32G_PCIE, ATLAS_800_A2_280T_64G, ` +
			`ATLAS_800_A2_280T_64G_PCIE (plimsoll devices lists all 73)`,
		"mi300":       `unknown device "mi300"; nearest: mi300x (plimsoll devices lists all 73)`,
		"abacus 2000": `unknown device "abacus 2000" (plimsoll devices lists all 73)`,
		"":            `unknown device "" (plimsoll devices lists all 73)`,
	} {
		p, err := Lookup(given)
		if err == nil || p != nil {
			t.Fatalf("%q was found", given)
		}
		if got := err.Error(); got != want {
			t.Errorf("\nwant %s\ngot  %s", want, got)
		}
	}
}

// TestLookupCopies: what a caller changes stays its own.
func TestLookupCopies(t *testing.T) {
	want, changed := lookup(t, "h100_sxm"), lookup(t, "h100_sxm")
	changed.Power, changed.Links[0].Size, changed.Aliases[0] = 1, 1, "mine"
	if diff := cmp.Diff(want, lookup(t, "h100_sxm")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTextIsTheFileWithItsComments(t *testing.T) {
	text, err := Text("H100")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Parse(text, "copy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lookup(t, "h100_sxm"), p); diff != "" || !strings.HasPrefix(string(text), "# NVIDIA H100") {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := Text("nothing"); err == nil {
		t.Error("nothing was found")
	}
}

func BenchmarkLookup(b *testing.B) {
	for b.Loop() {
		if _, err := Lookup("ATLAS_800_A3_752T_128G_DIE"); err != nil {
			b.Fatal(err)
		}
	}
}
