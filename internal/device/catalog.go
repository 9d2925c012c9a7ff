package device

import (
	"embed"
	"fmt"
	"strings"
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
	{"ATLAS_800_A2_280T_32G_PCIE", []string{"a2_280t_32g_pcie"}},
	{"ATLAS_800_A2_280T_64G", []string{"a2_280t_64g"}},
	{"ATLAS_800_A2_280T_64G_PCIE", []string{"a2_280t_64g_pcie"}},
	{"ATLAS_800_A2_313T_64G", []string{"a2_313t_64g"}},
	{"ATLAS_800_A2_376T_64G", []string{"a2_376t_64g"}},
	{"ATLAS_800_A3_560T_128G_DIE", []string{"a3_560t_128g_die"}},
	{"ATLAS_800_A3_560T_128G_DIE_ROCE", []string{"a3_560t_128g_die_roce"}},
	{"ATLAS_800_A3_752T_128G_DIE", []string{"a3_752t_128g_die"}},
	{"TEST_DEVICE", []string{"test"}},
	{"a100_pcie", []string{"a100_pcie_80gb"}},
	{"a100_sxm", []string{"a100", "a100_80gb", "a100_sxm4", "a100_sxm4_80gb", "hgx_a100"}},
	{"a30", []string{"a30_pcie"}},
	{"b200_sxm", []string{"b200", "b200_180gb", "hgx_b200", "dgx_b200"}},
	{"b300_sxm", []string{"b300", "hgx_b300", "dgx_b300"}},
	{"b60", []string{"arc_pro_b60", "intel_b60"}},
	{"gaudi3", []string{"gaudi_3", "intel_gaudi3", "hl_325l"}},
	{"gb200", []string{"gb200_sxm", "gb200_nvl72"}},
	{"gb300", []string{"gb300_sxm", "gb300_nvl72"}},
	{"h100_pcie", []string{"h100_pcie_80gb"}},
	{"h100_sxm", []string{"h100", "h100_80gb", "h100_sxm5", "h100_sxm_80gb", "hgx_h100"}},
	{"h20", []string{"h20_sxm", "h20_96gb"}},
	{"h200_sxm", []string{"h200", "h200_141gb", "h200_sxm5", "hgx_h200"}},
	{"l4", []string{"l4_24gb"}},
	{"l40s", []string{"l40s_48gb"}},
	{"mi300x", []string{"amd_mi300x", "instinct_mi300x"}},
	{"mi325x", []string{"amd_mi325x", "instinct_mi325x"}},
	{"mi355x", []string{"amd_mi355x", "instinct_mi355x"}},
	{"rtx_pro_6000_server", []string{"rtx_pro_6000", "rtxpro6000", "rtx_pro_6000_blackwell"}},
}

// Names lists the embedded profiles, sorted.
func Names() []string {
	names := make([]string, len(catalog))
	for i, e := range catalog {
		names[i] = e.name
	}
	return names
}

// Lookup returns an embedded profile by its name or an alias, in any case and
// with "-" for "_".
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

// Text returns the file of an embedded profile with its comments: the best start
// for a profile of one's own.
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

// find resolves a name, or returns the error that helps to correct it.
func find(name string) (entry, error) {
	key := normal(name)
	for _, e := range catalog {
		if normal(e.name) == key {
			return e, nil
		}
		for _, a := range e.aliases {
			if normal(a) == key {
				return e, nil
			}
		}
	}
	hint := ""
	if near := suggest(key); near != "" {
		hint = "; nearest: " + near
	}
	return entry{}, fmt.Errorf("unknown device %q%s (plimsoll devices lists all %d)", name, hint, len(catalog))
}

// suggest returns canonical names for a normalised one: those it is a part of,
// else the one with the fewest edits from it or from an alias.
func suggest(key string) string {
	const few, shortest = 3, 3
	var parts, words []string
	owner := map[string]string{}
	for _, e := range catalog {
		if len(key) >= shortest && len(parts) < few && strings.Contains(normal(e.name), key) {
			parts = append(parts, e.name)
		}
		for _, w := range append([]string{e.name}, e.aliases...) {
			words = append(words, normal(w))
			owner[normal(w)] = e.name
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, ", ")
	}
	return owner[closest(key, words)]
}
