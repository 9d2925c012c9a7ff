package deployment_test

import (
	"strings"
	"testing"

	"plimsoll/internal/deployment"
	"plimsoll/internal/device"
	"plimsoll/internal/dtype"
	"plimsoll/internal/model"
)

// TestNarrowFormats: quantization on devices without arithmetic for it gets a note
// where kernels widen it, and is refused where there are none.
func TestNarrowFormats(t *testing.T) {
	m, err := model.Lookup("Qwen/Qwen3-8B")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		device, generation string
		formats            deployment.Formats
		note, err          string
	}{
		{"h100_sxm", "", deployment.Formats{Linear: dtype.FP8Action}, "", ""},
		{"h100_sxm", "", deployment.Formats{Linear: dtype.W8A8Dynamic, NonExpert: dtype.MXFP4Action}, "no arithmetic in fp4, which MXFP4 asks for", ""},
		{"a100_sxm", "", deployment.Formats{Checkpoint: "fp8"}, "no arithmetic in fp8, which fp8 asks for: weights are widened", ""},
		{"a100_sxm", "", deployment.Formats{Checkpoint: "int4"}, "", ""},
		{"a100_sxm", "", deployment.Formats{Linear: dtype.W8A16Dynamic}, "", ""},
		{"gaudi3", "", deployment.Formats{Linear: dtype.W8A8Dynamic}, "no arithmetic in int8", ""},
		{"TEST_DEVICE", "", deployment.Formats{Linear: dtype.MXFP4Action}, "", ""},
		{"ATLAS_800_A2_313T_64G", "", deployment.Formats{Linear: dtype.MXFP4Action}, "counts its products as free", ""},
		{"a100_sxm", "volta", deployment.Formats{Linear: dtype.FP8Action}, "", "has neither arithmetic in fp8 nor kernels that widen it"},
		{"a100_sxm", "volta", deployment.Formats{Checkpoint: "fp4"}, "", "checkpoint fp4: a100_sxm has neither arithmetic in fp4"},
		{"a100_sxm", "volta", deployment.Formats{}, "", ""},
		{"h100_sxm", "", deployment.Formats{MXFP4Group: 16}, "", "mxfp4_group_size 16 needs"},
		{"h100_sxm", "", deployment.Formats{MXFP4Group: 32}, "", ""},
	} {
		d, err := device.Lookup(c.device)
		if err != nil {
			t.Fatal(err)
		}
		if c.generation != "" {
			other := *d
			other.Generation = c.generation
			d = &other
		}
		asked := deployment.Deployment{Formats: c.formats}
		b, err := asked.Base(deployment.Parts{Model: m, Device: d})
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v: want %q, got %v", c, c.err, err)
			}
		case err != nil:
			t.Errorf("%+v: %v", c, err)
		case len(b.Notes) == 0 != (c.note == "") || !strings.Contains(strings.Join(b.Notes, "\n"), c.note):
			t.Errorf("%+v: notes %q", c, b.Notes)
		}
	}
}
