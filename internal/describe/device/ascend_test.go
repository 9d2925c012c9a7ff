package device

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// ascendRow is a row of the TensorCast profile table, in its units.
type ascendRow struct {
	name                            string
	f32, bf16, f16, int8, fp8, fp4  float64 // matrix, T
	vf32, v16                       float64 // vector, T
	gib, tibs                       float64
	compute, memory                 float64
	grid                            []Link
	node                            int
	matrixUs, vectorUs, communicate units.Seconds
}

// The grids of the TensorCast profiles, outermost first.
func gridTest() []Link {
	return []Link{
		{"inter-node", 256, 50e9, 10e-6, 0.7, Clos, ThroughHost},
		{"mesh", 8, 196e9, 1.3e-6, 0.7, FullMesh, ThroughHost},
	}
}

func gridA2() []Link {
	return []Link{
		{"roce", 128, 25e9, 1.5e-6, 0.7, Clos, ThroughHost},
		{"hccs", 8, 196e9, 0.5e-6, 0.7, FullMesh, ThroughHost},
	}
}

func gridA2PCIe() []Link {
	return []Link{{"pcie", 8, 64e9, 0.2e-6, 0.7, Clos, ThroughHost}}
}

func gridA3() []Link {
	return []Link{
		{"clos-2", 48, 196e9, 5.5e-6, 0.7, Clos, ThroughHost},
		{"clos-1", 8, 196e9, 0.5e-6, 0.7, Clos, ThroughHost},
		{"sio", 2, 224e9, 0.2e-6, 0.7, Clos, ThroughHost},
	}
}

func gridA3RoCE() []Link {
	return []Link{
		{"roce", 2, 24.5e9, 5.5e-6, 0.7, Clos, ThroughHost},
		{"clos-1", 8, 196e9, 0.5e-6, 0.7, Clos, ThroughHost},
		{"sio", 2, 224e9, 0.2e-6, 0.7, Clos, ThroughHost},
	}
}

func gridPCIe2UB4() []Link {
	return []Link{
		{"pcie-2", 2, 24e9, 4.5e-6, 0.525, Clos, ThroughHost},
		{"pcie-1", 2, 32e9, 3.0e-6, 0.56, Clos, ThroughHost},
		{"ub", 4, 159e9, 1.5e-6, 0.85, FullMesh, ThroughHost},
	}
}

// ascendRows repeats the published table by hand; it is what the goldens of the
// roofline stand on.
func ascendRows() []ascendRow {
	return []ascendRow{
		{"TEST_DEVICE", 99.5, 353.9, 353.9, 707.8, 707.8, 1415.6, 5.5, 11, 64, 1.6, 0.7, 0.6, gridTest(), 8, 5e-6, 2e-6, 0},
		{"ATLAS_800_A2_376T_64G", 99.5, 353.9, 376, 752, 0, 0, 11, 22, 64, 1.6, 0.7, 0.6, gridA2(), 8, 5e-6, 2e-6, 10e-6},
		{"ATLAS_800_A2_313T_64G", 83, 294.9, 313, 626, 0, 0, 9, 18, 64, 1.6, 0.7, 0.6, gridA2(), 8, 5e-6, 2e-6, 10e-6},
		{"ATLAS_800_A2_280T_64G", 75, 245.8, 280, 560, 0, 0, 8, 16, 64, 1.6, 0.7, 0.6, gridA2(), 8, 5e-6, 2e-6, 10e-6},
		{"ATLAS_800_A2_280T_64G_PCIE", 75, 245.8, 280, 560, 0, 0, 8, 16, 64, 1.6, 0.7, 0.6, gridA2PCIe(), 8, 5e-6, 2e-6, 10e-6},
		{"ATLAS_800_A2_280T_32G_PCIE", 75, 245.8, 280, 560, 0, 0, 8, 16, 32, 0.8, 0.7, 0.6, gridA2PCIe(), 8, 5e-6, 2e-6, 10e-6},
		{"ATLAS_800_A3_752T_128G_DIE", 99.5, 353.9, 376, 752, 0, 0, 11, 22, 64, 1.6, 0.7, 0.6, gridA3(), 16, 5e-6, 2e-6, 10e-6},
		{"ATLAS_800_A3_560T_128G_DIE", 75, 245.8, 280, 560, 0, 0, 8, 16, 64, 1.6, 0.7, 0.6, gridA3(), 16, 5e-6, 2e-6, 10e-6},
		{"ATLAS_800_A3_560T_128G_DIE_ROCE", 75, 245.8, 280, 560, 0, 0, 8, 16, 64, 1.6, 0.7, 0.6, gridA3RoCE(), 16, 5e-6, 2e-6, 10e-6},
		{"ATLAS_350_425T_112G", 189, 378, 378, 756, 756, 1512, 24, 47, 112, 1.4, 0.9, 0.8, gridPCIe2UB4(), 16, 5e-6, 2e-6, 5e-6},
		{"ATLAS_350_425T_84G", 189, 378, 378, 756, 756, 1512, 24, 47, 84, 1.4, 0.9, 0.8, gridPCIe2UB4(), 16, 5e-6, 2e-6, 5e-6},
	}
}

// want builds the profile with the products done in float64, bit for bit.
func (row ascendRow) want() *Profile {
	const T, GiB, TiB = 1e12, 1 << 30, 1 << 40
	p := &Profile{
		Name:              row.name,
		Vendor:            Ascend,
		Tier:              Datasheet,
		Memory:            units.Bytes(row.gib * GiB),
		Bandwidth:         units.BytesPerSecond(row.tibs * TiB),
		ComputeEfficiency: row.compute,
		MemoryEfficiency:  row.memory,
		Fixed:             Fixed{row.matrixUs, row.vectorUs, row.communicate},
		Links:             row.grid,
		Node:              row.node,
		Price:             Price{Source: "no public list price"},
	}
	if row.name == "TEST_DEVICE" {
		p.Vendor = Test
	}
	for f, x := range map[dtype.Format]float64{
		dtype.F32: row.f32, dtype.BF16: row.bf16, dtype.F16: row.f16,
		dtype.INT8: row.int8, dtype.FP8: row.fp8, dtype.FP4: row.fp4,
	} {
		p.Matrix[f] = units.OpsPerSecond(x * T)
	}
	p.Vector[dtype.F32] = units.OpsPerSecond(row.vf32 * T)
	p.Vector[dtype.BF16] = units.OpsPerSecond(row.v16 * T)
	p.Vector[dtype.F16] = units.OpsPerSecond(row.v16 * T)
	return p
}

func TestAscendProfilesExactly(t *testing.T) {
	ascend := 0
	for _, row := range ascendRows() {
		t.Run(row.name, func(t *testing.T) {
			got := lookup(t, row.name)
			if got.Source == "" || got.Description == "" || got.Generation == "" {
				t.Error("source, description or generation is missing")
			}
			got.Source, got.Description, got.Generation, got.Aliases = "", "", "", nil
			if diff := cmp.Diff(row.want(), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for _, name := range Names() {
		if v := lookup(t, name).Vendor; v == Ascend || v == Test {
			ascend++
		}
	}
	if want := len(ascendRows()); ascend != want {
		t.Errorf("want %d Ascend profiles, got %d", want, ascend)
	}
}

// lookup is Lookup for names that exist.
func lookup(t testing.TB, name string) *Profile {
	t.Helper()
	p, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
