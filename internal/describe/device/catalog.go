package device

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
)

//go:embed profiles/*.yaml
var profiles embed.FS

// entry names an embedded profile; its file is the name in lower case. The names
// are repeated here so that finding a device reads one file, not all.
type entry struct {
	name    string
	aliases []string
}

// catalog lists the embedded profiles by name.
//
//nolint:gochecknoglobals // a constant table
var catalog = [...]entry{
	{"ATLAS_350_425T_112G", []string{"atlas_350_112g"}},
	{"ATLAS_350_425T_84G", []string{"atlas_350_84g"}},
	{"ATLAS_800_A2_280T_32G_PCIE", []string{"a2_280t_32g_pcie", "910b4"}},
	{"ATLAS_800_A2_280T_64G", []string{"a2_280t_64g", "910b4_1"}},
	{"ATLAS_800_A2_280T_64G_PCIE", []string{"a2_280t_64g_pcie"}},
	{"ATLAS_800_A2_313T_64G", []string{"a2_313t_64g", "910b3"}},
	{"ATLAS_800_A2_376T_64G", []string{"a2_376t_64g", "910b", "910b2"}},
	{"ATLAS_800_A3_560T_128G_DIE", []string{"a3_560t_128g_die"}},
	{"ATLAS_800_A3_560T_128G_DIE_ROCE", []string{"a3_560t_128g_die_roce"}},
	{"ATLAS_800_A3_752T_128G_DIE", []string{"a3_752t_128g_die", "910c"}},
	{"TEST_DEVICE", []string{"test"}},
	{"a10", []string{"a10_24gb", "a10_pcie"}},
	{"a100_pcie", []string{"a100_pcie_80gb", "a100_80gb_pcie"}},
	{"a100_pcie_40gb", nil},
	{"a100_sxm", []string{"a100", "a100_80gb", "a100_sxm4", "a100_sxm4_80gb", "hgx_a100"}},
	{"a100_sxm_40gb", []string{"a100_40gb", "a100_sxm4_40gb"}},
	{"a10g", []string{"a10g_24gb"}},
	{"a30", []string{"a30_pcie"}},
	{"a40", []string{"a40_48gb"}},
	{"a800_pcie", []string{"a800_80gb_pcie", "a800_pcie_80gb"}},
	{"a800_sxm", []string{"a800", "a800_sxm4", "a800_sxm4_80gb", "a800_80gb"}},
	{"b200_sxm", []string{"b200", "b200_180gb", "hgx_b200", "dgx_b200"}},
	{"b300_sxm", []string{"b300", "hgx_b300", "dgx_b300", "b300_sxm6_ac"}},
	{"b60", []string{"arc_pro_b60"}},
	{"gaudi2", []string{"hl_225h", "hl_225"}},
	{"gaudi3", []string{"hl_325l"}},
	{"gb10", []string{"dgx_spark", "gb10_128gb"}},
	{"gb200", []string{"gb200_sxm", "gb200_nvl72"}},
	{"gb300", []string{"gb300_sxm", "gb300_nvl72"}},
	{"gh200_144gb", []string{"gh200_144g_hbm3e"}},
	{"gh200_96gb", []string{"gh200", "gh200_480gb", "gh200_120gb"}},
	{"h100_nvl", []string{"h100_nvl_94gb"}},
	{"h100_pcie", []string{"h100_pcie_80gb"}},
	{"h100_sxm", []string{"h100", "h100_80gb", "h100_sxm5", "h100_sxm_80gb", "hgx_h100", "h100_80gb_hbm3"}},
	{"h20", []string{"h20_sxm", "h20_96gb"}},
	{"h200_nvl", []string{"h200_nvl_141gb"}},
	{"h200_sxm", []string{"h200", "h200_141gb", "h200_sxm5", "hgx_h200"}},
	{"h20_141gb", []string{"h20_3e", "h20_sxm_141gb"}},
	{"h800_pcie", []string{"h800_pcie_80gb"}},
	{"h800_sxm", []string{"h800", "h800_80gb", "h800_sxm5"}},
	{"inferentia2", []string{"inf2"}},
	{"l4", []string{"l4_24gb"}},
	{"l40", []string{"l40_48gb"}},
	{"l40s", []string{"l40s_48gb"}},
	{"m2_max", []string{"m2_max_96gb"}},
	{"m2_ultra", []string{"m2_ultra_192gb"}},
	{"m3_max", []string{"m3_max_128gb"}},
	{"m3_ultra", []string{"m3_ultra_512gb"}},
	{"m4_max", []string{"m4_max_128gb"}},
	{"mi250x_gcd", []string{"mi250x", "mi250x_64gb"}},
	{"mi300x", []string{"mi300x_192gb"}},
	{"mi325x", []string{"mi325x_256gb"}},
	{"mi350x", []string{"mi350x_288gb"}},
	{"mi355x", []string{"mi355x_288gb"}},
	{"rtx_3090", []string{"rtx_3090_24gb"}},
	{"rtx_4090", []string{"rtx_4090_24gb"}},
	{"rtx_5090", []string{"rtx_5090_32gb"}},
	{"rtx_6000_ada", []string{"rtx_6000_ada_generation", "6000_ada", "rtx_6000_ada_48gb"}},
	{"rtx_a6000", []string{"a6000", "rtx_a6000_48gb"}},
	{"rtx_pro_6000_max_q", []string{"rtx_pro_6000_blackwell_max_q_workstation_edition"}},
	{"rtx_pro_6000_server", []string{"rtx_pro_6000", "rtx_pro_6000_blackwell", "rtx_pro_6000_blackwell_server_edition"}},
	{"rtx_pro_6000_workstation", []string{"rtx_pro_6000_blackwell_workstation_edition", "rtx_pro_6000_ws"}},
	{"t4", []string{"t4_16gb"}},
	{"tpu_v5e", []string{"v5e", "tpu_v5_lite", "v5litepod"}},
	{"tpu_v5p", []string{"v5p"}},
	{"tpu_v6e", []string{"v6e", "trillium", "tpu_v6_lite"}},
	{"tpu_v7", []string{"tpu7x", "tpu_v7x", "ironwood"}},
	{"trainium2", []string{"trn2"}},
	{"trainium3", []string{"trn3"}},
	{"v100_pcie_16gb", []string{"v100_pcie"}},
	{"v100_pcie_32gb", nil},
	{"v100_sxm_16gb", []string{"v100", "v100_16gb", "v100_sxm2", "v100_sxm2_16gb"}},
	{"v100_sxm_32gb", []string{"v100_32gb", "v100_sxm2_32gb"}},
}

// Names lists the embedded profiles, sorted.
func Names() []string {
	names := make([]string, len(catalog))
	for i, e := range catalog {
		names[i] = e.name
	}
	return names
}

// Lookup returns an embedded profile by its name or an alias, in any spelling (see
// normal), or by a cloud's machine type.
func Lookup(name string) (*Profile, error) {
	e, err := find(name)
	if err != nil {
		return nil, err
	}
	data, err := e.read()
	if err != nil {
		return nil, err
	}
	return Parse(data, e.file())
}

// Text returns the file of an embedded profile with its comments, a start for a custom profile.
func Text(name string) ([]byte, error) {
	e, err := find(name)
	if err != nil {
		return nil, err
	}
	return e.read()
}

func (e entry) file() string { return "profiles/" + strings.ToLower(e.name) + ".yaml" }

func (e entry) read() ([]byte, error) {
	data, err := profiles.ReadFile(e.file())
	if err != nil {
		return nil, fmt.Errorf("reading the embedded profile of %s: %w", e.name, err)
	}
	return data, nil
}

// find resolves a name, or returns an error that helps to correct it.
func find(name string) (entry, error) {
	key := normal(name)
	for _, e := range catalog {
		for _, word := range e.words() {
			if normal(word) == key {
				return e, nil
			}
		}
	}
	if d := onInstance(name); d != "" {
		return find(d)
	}
	hint := ""
	if near := suggest(key); len(near) > 0 {
		hint = "; nearest: " + strings.Join(near, ", ")
	}
	return entry{}, fmt.Errorf("unknown device %q%s (plimsoll devices lists all %d)", name, hint, len(catalog))
}

// words are all names of a device.
func (e entry) words() []string { return append([]string{e.name}, e.aliases...) }

// suggest returns a few canonical names for a normalised one: those it is a part
// of, else those nearest to it by name or alias.
func suggest(key string) []string {
	const few, shortest = 3, 3
	var parts, words []string
	owner := map[string]string{}
	for _, e := range catalog {
		if len(key) >= shortest && strings.Contains(normal(e.name), key) {
			parts = append(parts, e.name)
		}
		for _, w := range e.words() {
			words = append(words, normal(w))
			owner[normal(w)] = e.name
		}
	}
	if len(parts) == 0 {
		for _, w := range nearest.Matches(key, words) {
			if !slices.Contains(parts, owner[w]) {
				parts = append(parts, owner[w])
			}
		}
	}
	return parts[:min(few, len(parts))]
}
