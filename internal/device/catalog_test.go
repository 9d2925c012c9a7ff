package device

import (
	"io/fs"
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
	for _, e := range catalog {
		want = append(want, e.file())
		p := lookup(t, e.name)
		if p.Name != e.name {
			t.Errorf("%s names itself %s", e.file(), p.Name)
		}
		if diff := cmp.Diff(e.aliases, p.Aliases); diff != "" {
			t.Errorf("aliases of %s (-catalog +file)\n%s", e.name, diff)
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
	for _, e := range catalog {
		for _, n := range append([]string{e.name}, e.aliases...) {
			if o, taken := owner[normal(n)]; taken {
				t.Errorf("%s names both %s and %s", n, o, e.name)
			}
			owner[normal(n)] = e.name
		}
	}
}

func TestEmbeddedProfilesAreComplete(t *testing.T) {
	for _, name := range Names() {
		p := lookup(t, name)
		if p.Base != "" || p.Description == "" || p.Generation == "" || p.Source == "" || p.Price.Source == "" {
			t.Errorf("%s: %+v", name, p)
		}
		if unknown := p.Price.USDPerHour == 0; unknown != strings.HasPrefix(p.Price.Source, "no public") {
			t.Errorf("%s: price %v does not suit its source %q", name, p.Price.USDPerHour, p.Price.Source)
		}
		if p.Vendor != Ascend && p.Vendor != Test && p.Power == 0 {
			t.Errorf("%s: no power", name)
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
	} {
		if got := lookup(t, given).Name; got != want {
			t.Errorf("%q: want %s, got %s", given, want, got)
		}
	}
}

func TestLookupOfAnUnknownNameHelps(t *testing.T) {
	for given, want := range map[string]string{
		"H10O_SXM": `unknown device "H10O_SXM"; nearest: h100_sxm (plimsoll devices lists all 30)`,
		"h300_sxm": `unknown device "h300_sxm"; nearest: b300_sxm (plimsoll devices lists all 30)`,
		"a2_280t": `unknown device "a2_280t"; nearest: ATLAS_800_A2_280T_32G_PCIE, ATLAS_800_A2_280T_64G, ` +
			`ATLAS_800_A2_280T_64G_PCIE (plimsoll devices lists all 30)`,
		"mi300":       `unknown device "mi300"; nearest: mi300x (plimsoll devices lists all 30)`,
		"abacus 2000": `unknown device "abacus 2000" (plimsoll devices lists all 30)`,
		"":            `unknown device "" (plimsoll devices lists all 30)`,
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
