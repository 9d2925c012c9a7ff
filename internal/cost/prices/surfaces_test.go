package prices

import (
	"slices"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/cost/table"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

func lookup(t *testing.T, name string) *device.Profile {
	t.Helper()
	d, err := device.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestSurfacesOf: a device has its own surfaces, or those of its generation that are
// nearest to it.
func TestSurfacesOf(t *testing.T) {
	for name, want := range map[string]string{
		"h200_sxm": "h200_sxm", "h100_sxm": "h100_sxm", "a100_sxm": "a100_sxm", "l40s": "l40s", "b200_sxm": "b200_sxm", "b300_sxm": "b300_sxm",
		"gb200": "b200_sxm", "gb300": "b300_sxm", "gh200_144gb": "h200_sxm", "h100_pcie": "h100_sxm", "a100_pcie": "a100_sxm", "rtx_4090": "l40s",
		"v100_sxm_32gb": "", "mi300x": "", "rtx_5090": "", "TEST_DEVICE": "",
	} {
		got := ""
		if f := surfacesOf(lookup(t, name)); f != nil {
			got = f.System
		}
		if got != want {
			t.Errorf("%s: want the surfaces of %q, got %q", name, want, got)
		}
	}
}

// TestVariant: a user's variant of a device has the device's surfaces.
func TestVariant(t *testing.T) {
	d := *lookup(t, "h100_sxm")
	d.Name, d.Base, d.Bandwidth = "mine", d.Name, lookup(t, "h200_sxm").Bandwidth
	if f := surfacesOf(&d); f == nil || f.System != "h100_sxm" {
		t.Errorf("got %+v", f)
	}
}

// TestTrusts: lists name families or beginnings of their names; collectives are trusted
// on the links they were measured on.
func TestTrusts(t *testing.T) {
	h100, h200 := surfacesOf(lookup(t, "h100_sxm")), lookup(t, "h200_sxm")
	for family, want := range map[string]bool{
		"gemm.wide": true, "gemm.fp8": false, "experts.block": true, "latent.decode.wide.fp8": false, "decode.wide": false, "comm.reduce": true,
		"gemm": false, "prefill.wide.wide": false, "update": true, "updates": false,
	} {
		if got := trusts(h100, h200, family); got != want {
			t.Errorf("%s: want %v, got %v", family, want, got)
		}
	}
	if pcie := lookup(t, "h100_pcie"); trusts(h100, pcie, "comm.reduce") || !trusts(h100, pcie, "gemm.wide") {
		t.Error("PCIe is NVLink")
	}
}

// TestTrusted: what is trusted exists, and decides which prices are the best.
func TestTrusted(t *testing.T) {
	var families []string
	for _, f := range table.Shipped().Systems {
		families = append(families, f.Families()...)
	}
	for _, name := range trusted {
		if !slices.ContainsFunc(families, func(family string) bool { return covers(name, family) }) {
			t.Errorf("no system has surfaces of %s; there are %v", name, families)
		}
	}
	for _, f := range table.Shipped().Systems {
		d := lookup(t, f.System)
		if got := Best(d); got != Surfaces {
			t.Errorf("%s: want surfaces, got %s", f.System, got)
		}
		if err := Surfaces.Check(d); err != nil {
			t.Errorf("%s: surfaces: %v", f.System, err)
		}
	}
	if got := Best(lookup(t, "mi300x")); got != Calibrated || Surfaces.Check(lookup(t, "mi300x")) == nil {
		t.Errorf("mi300x, without surfaces, has %s", got)
	}
}

// TestSurfacesNeedPhysics: TensorCast's assumptions do not go with them.
func TestSurfacesNeedPhysics(t *testing.T) {
	p := &Prices{}
	d := lookup(t, "h200_sxm")
	if _, err := p.Coster(d, Surfaces, true, false); err == nil {
		t.Error("TensorCast's graph has measured prices")
	}
	c, err := p.Coster(d, Surfaces, false, false)
	if _, ok := c.(*table.Model); err != nil || !ok {
		t.Errorf("got %T, %v", c, err)
	}
	if got, want := p.Tier(d, Surfaces), Calibrated.Tier(d); got != want {
		t.Errorf("want tier %s, got %s", want, got)
	}
}
