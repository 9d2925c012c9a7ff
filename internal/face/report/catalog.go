package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/draw/table"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// ModelRow is one line of the catalog.
type ModelRow struct {
	ID         string  `json:"id"`
	Family     string  `json:"family"`
	AliasOf    string  `json:"alias_of,omitempty"`
	Parameters int64   `json:"parameters,omitempty"`
	Active     int64   `json:"active_parameters,omitempty"`
	KVBytes    float64 `json:"kv_bytes_per_token,omitempty"`
}

// Models prints the catalog, with the aliases of each model.
func Models(w io.Writer, rows []ModelRow) {
	t := table.New("model", "family", ">parameters", ">active", ">KV per token", "aliases")
	also := map[string][]string{}
	for _, r := range rows {
		if r.AliasOf != "" {
			also[r.AliasOf] = append(also[r.AliasOf], r.ID)
		}
	}
	for _, r := range rows {
		if r.AliasOf != "" {
			continue
		}
		t.Row(
			r.ID, r.Family, units.Count(float64(r.Parameters)), units.Count(float64(r.Active)),
			units.Bytes(r.KVBytes), strings.Join(also[r.ID], ", "),
		)
	}
	put(w, t, "")
}

// Model prints the facts of one model.
func Model(w io.Writer, f *model.Facts) {
	line, some := facts(w)
	line("Model", "%s", f.ID)
	some(f.TakenAs != "", "Resolved to", "%s", f.TakenAs)
	line("Architecture", "%s (family %s)", f.Architecture, f.Family)
	line("Shape", "%d layers, hidden %d, vocabulary %d, up to %d positions", f.Layers, f.Hidden, f.Vocab, f.MaxPosition)
	params := units.Count(float64(f.Parameters))
	if f.Active != f.Parameters {
		params += ", active per token " + units.Count(float64(f.Active))
	}
	line("Parameters", "%s", params)
	some(f.MTPParameters > 0, "", "plus %s in MTP modules", units.Count(float64(f.MTPParameters)))
	format := f.DType
	if f.Quantization != "" {
		format += ", quantized (" + f.Quantization + ")"
	}
	line("Checkpoint", "%s, %s", format, f.Weights.Checkpoint)
	line("Weights", "bf16 %s, fp8 %s, int8 %s, int4 %s, nvfp4 %s",
		f.Weights.BF16, f.Weights.FP8, f.Weights.INT8, f.Weights.INT4, f.Weights.NVFP4)
	kv := fmt.Sprintf("bf16 %s, fp8 %s", f.KV.BF16, f.KV.FP8)
	if f.KV.Windowed > 0 {
		kv += fmt.Sprintf(" (%s of the bf16 in sliding windows)", f.KV.Windowed)
	}
	line("KV per token", "%s", kv)
	some(f.StateBytes > 0, "State", "%s per sequence", f.StateBytes)
	fmt.Fprintln(w)
	t := table.New(">layers", "kind", ">parameters per layer", ">KV per token")
	for _, k := range f.Kinds {
		t.Row(k.Count, k.Description, units.Count(float64(k.Parameters)), k.KVBytes)
	}
	put(w, t, "")
	for _, n := range f.Notes {
		fmt.Fprintf(w, "\nNote: %s\n", n)
	}
}

// Devices prints the profiles, with a rule between vendors.
func Devices(w io.Writer, all []device.Facts) {
	t := table.New("device", "vendor", "generation", ">GiB", ">GB/s", ">16-bit", ">8-bit", ">4-bit TFLOPS", ">W", ">$/h")
	for i := range all {
		f := &all[i]
		if i > 0 && f.Vendor != all[i-1].Vendor {
			t.Rule()
		}
		m := &f.Peak.Matrix
		t.Row(
			f.Name, f.Vendor, f.Generation, number(f.Memory.SizeGiB), number(f.Memory.BandwidthGBs),
			number(max(m.F16, m.BF16)), number(max(m.FP8, m.INT8)), number(m.FP4), number(f.PowerW), dash(f.Price.USDPerHour),
		)
	}
	put(w, t, "")
}

// Device prints one profile in full, with the tier of predictions for it.
func Device(w io.Writer, f *device.Facts, tier device.Tier) {
	line, some := facts(w)
	line("Device", "%s (%s %s)", f.Name, f.Vendor, f.Generation)
	some(f.Base != "", "Based on", "%s", f.Base)
	some(len(f.Aliases) > 0, "Aliases", "%s", strings.Join(f.Aliases, ", "))
	some(f.Description != "", "", "%s", f.Description)
	some(len(f.Instances) > 0, "Instances", "%s", strings.Join(f.Instances, ", "))
	line("Memory", "%s GiB at %s GB/s", number(f.Memory.SizeGiB), number(f.Memory.BandwidthGBs))
	some(f.Memory.ReportedGiB > 0, "", "%s GiB visible to a process", number(f.Memory.ReportedGiB))
	line("Matrix TFLOPS", "%s", peaks(&f.Peak.Matrix))
	line("Vector TFLOPS", "%s", peaks(&f.Peak.Vector))
	line("Efficiency", "compute %g, memory %g", f.Efficiency.Compute, f.Efficiency.Memory)
	line("Launch", "matrix %g µs, vector %g µs, communication %g µs", f.Fixed.Matrix, f.Fixed.Vector, f.Fixed.Communication)
	line("Node", "%d devices; links connect up to %d", f.Node, f.Devices)
	some(f.PowerW > 0, "Power", "%g W", f.PowerW)
	line("Price", "%s", priceLine(f))
	line("Tier", "%s: %s", tier, tier.Meaning())
	line("Source", "%s", f.Source)
	fmt.Fprintln(w)
	t := table.New("link", ">ranks", ">GB/s", ">latency", ">efficiency", "topology")
	for _, l := range f.Links {
		t.Row(l.Name, l.Size, number(l.BandwidthGBs), fmt.Sprintf("%g µs", l.LatencyUs), l.Efficiency, l.Topology)
	}
	put(w, t, "")
}

func priceLine(f *device.Facts) string {
	if f.Price.USDPerHour == 0 {
		return f.Price.Source
	}
	return fmt.Sprintf("%.2f USD per device-hour (%s)", f.Price.USDPerHour, f.Price.Source)
}

func peaks(p *device.FormatFacts) string {
	var parts []string
	for _, x := range []struct {
		name string
		peak float64
	}{
		{"f32", p.F32},
		{"bf16", p.BF16},
		{"f16", p.F16},
		{"fp8", p.FP8},
		{"int8", p.INT8},
		{"fp4", p.FP4},
		{"int4", p.INT4},
	} {
		if x.peak > 0 {
			parts = append(parts, x.name+" "+number(x.peak))
		}
	}
	return strings.Join(parts, ", ")
}

// number prints a figure without trailing zeros, a dash for zero.
func number(x float64) string {
	if x == 0 {
		return "–"
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.1f", x), "0"), ".")
}
