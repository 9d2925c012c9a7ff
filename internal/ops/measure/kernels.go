package measure

import (
	"cmp"
	"context"
	_ "embed" // the script
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/embedded"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/quantile"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

//go:embed kernels.py
var kernelScript []byte

// Embedded is the data of this package as they are in the program, for checks of an installation.
func Embedded() embedded.Files { return embedded.Files{"kernels.py": kernelScript, "frame.sh": frame} }

// KernelSchema names the format of the script's result.
const KernelSchema = "plimsoll/kernels/1"

// KernelFiles is the script that measures kernels, without a serving engine.
func KernelFiles() []launch.File {
	return []launch.File{{Path: "kernels.py", Mode: scriptFile, Data: kernelScript}}
}

// Kernel is one measured kernel.
type Kernel struct {
	Kind    string  `json:"kind"` // gemm, prefill, decode, copy or all_reduce
	Format  string  `json:"format,omitempty"`
	M       float64 `json:"m,omitempty"`
	N       float64 `json:"n,omitempty"`
	K       float64 `json:"k,omitempty"`
	Batch   float64 `json:"batch,omitempty"`
	Tokens  float64 `json:"tokens,omitempty"`
	Heads   float64 `json:"heads,omitempty"`
	KVHeads float64 `json:"kv_heads,omitempty"`
	HeadDim float64 `json:"head_dim,omitempty"`
	Bytes   float64 `json:"bytes,omitempty"`
	Ranks   float64 `json:"ranks,omitempty"`
	Micros  float64 `json:"us"`

	priced op.Op // the operator that the kernel computes
}

// KernelsRequest compares measured kernels with a device's operator times.
type KernelsRequest struct {
	File   string `json:"file"`
	System string `json:"system"`
	// DeviceFile is the user's own profile, in place of System.
	DeviceFile string `json:"device_file,omitempty"`
}

// KernelsResponse is the comparison. Times are in microseconds.
type KernelsResponse struct {
	File    string           `json:"file"`
	Device  string           `json:"device"` // as PyTorch names it
	System  string           `json:"system"`
	Tier    device.Tier      `json:"tier"`
	Kernels []ComparedKernel `json:"kernels"`
	Groups  []KernelGroup    `json:"groups"`
	// Compute and Memory are the shares of the data sheet's peaks that large products and copies reach, Link that of an all-reduce; 0 = not
	// measured.
	Compute float64 `json:"compute_efficiency"`
	Memory  float64 `json:"memory_efficiency"`
	Link    float64 `json:"link_efficiency"`

	profile *device.Profile
}

// ComparedKernel is a kernel with its prediction.
type ComparedKernel struct {
	Kernel
	Predicted float64 `json:"predicted_us"`
	Ratio     float64 `json:"measured_over_predicted"`
}

// KernelGroup is kernels of a kind, and how far they lie from their predictions.
type KernelGroup struct {
	Name    string  `json:"name"`
	Kernels int     `json:"kernels"`
	Median  float64 `json:"median_ratio"` // measured over predicted
	Low     float64 `json:"p10_ratio"`
	High    float64 `json:"p90_ratio"`
}

// maxKernels bounds a file.
const maxKernels = 100_000

// ReadKernels reads what the script wrote.
func ReadKernels(data []byte) (name string, all []Kernel, err error) {
	var file struct {
		Schema  string   `json:"schema"`
		Device  string   `json:"device"`
		Kernels []Kernel `json:"kernels"`
	}
	if err := bound.Decode(data, bound.JSONObjects, &file); err != nil {
		return "", nil, fmt.Errorf("not the result of kernels.py: %w", err)
	}
	if file.Schema != KernelSchema {
		return "", nil, fmt.Errorf("not the result of kernels.py: schema is %q, want %q", file.Schema, KernelSchema)
	}
	if len(file.Kernels) > maxKernels {
		return "", nil, fmt.Errorf("more than %d kernels", maxKernels)
	}
	for i := range file.Kernels {
		k := &file.Kernels[i]
		var err error
		if k.priced, err = k.op(); err != nil {
			return "", nil, fmt.Errorf("kernel %d: %w", i+1, err)
		}
		if !(k.Micros > 0) || math.IsInf(k.Micros, 0) {
			return "", nil, fmt.Errorf("kernel %d: us must be above 0, got %g", i+1, k.Micros)
		}
	}
	return file.Device, file.Kernels, nil
}

// most bounds the sizes of a kernel.
const most = 1e12

// op is the operator that a kernel measures.
func (k *Kernel) op() (op.Op, error) {
	positive := func(all ...float64) error {
		for _, x := range all {
			if !(x >= 1 && x <= most) {
				return fmt.Errorf("%s: sizes must be from 1 to %g, got %g", k.Kind, float64(most), x)
			}
		}
		return nil
	}
	attention := op.Op{
		Name: op.GQAttention, Kind: op.Attention, In: dtype.BF16, Out: dtype.BF16, KV: dtype.BF16, VectorIn: dtype.BF16,
		Heads: k.Heads, KVHeads: k.KVHeads, HeadDim: k.HeadDim, ValueDim: k.HeadDim,
	}
	switch k.Kind {
	case "gemm":
		o := op.Op{Name: op.MatMul, Kind: op.GEMM, In: dtype.BF16, Weight: dtype.BF16, Out: dtype.BF16, Rows: k.M, Cols: k.N, Depth: k.K, Experts: 1}
		if k.Format == "fp8" {
			o.Name, o.In, o.Weight = op.FP8Linear, dtype.FP8, dtype.FP8
		} else if k.Format != "bf16" {
			return o, fmt.Errorf("gemm: format must be bf16 or fp8, got %q", k.Format)
		}
		return o, positive(k.M, k.N, k.K)
	case "prefill":
		attention.Prefill = op.Equal(k.Batch, k.Tokens, k.Tokens)
		return attention, positive(k.Batch, k.Tokens, k.Heads, k.KVHeads, k.HeadDim)
	case "decode":
		attention.Decode = op.Equal(k.Batch, 1, k.Tokens)
		return attention, positive(k.Batch, k.Tokens, k.Heads, k.KVHeads, k.HeadDim)
	case "copy":
		return op.Op{Name: op.CopyOp, Kind: op.Elementwise, Bytes: units.Bytes(k.Bytes)}, positive(k.Bytes)
	case "all_reduce":
		n := units.Bytes(k.Bytes)
		if !(k.Ranks >= 2 && k.Ranks <= math.MaxInt16) {
			return op.Op{}, fmt.Errorf("all_reduce: ranks must be 2 or more, got %g", k.Ranks)
		}
		return op.Op{Name: op.ReduceAll, Kind: op.Collective, Comm: op.AllReduce, Group: parallel.Group{Size: int32(k.Ranks), Stride: 1}, Payload: n, Bytes: 2 * n}, positive(k.Bytes)
	}
	return op.Op{}, fmt.Errorf("kind must be gemm, prefill, decode, copy or all_reduce, got %q", k.Kind)
}

// group names the kernels that are summed up together: those that read weights, and those that compute.
func (k *Kernel) group() string {
	if k.Kind != "gemm" {
		return k.Kind
	}
	const few = 64
	if k.M <= few {
		return "gemm " + k.Format + ", up to 64 rows"
	}
	return "gemm " + k.Format + ", more rows"
}

// Kernels compares measured kernels with the operator times of a device.
func Kernels(ctx context.Context, w *session.Session, r KernelsRequest) (*KernelsResponse, error) {
	if r.System == "" && r.DeviceFile == "" {
		return nil, session.BadInput(field.Errorf("give %s: the device whose operator times are compared", field.Name("system")))
	}
	d, err := w.Device(r.System, r.DeviceFile)
	if err != nil {
		return nil, err
	}
	data, err := w.Read("from", r.File, bound.Result)
	if err != nil {
		return nil, err
	}
	name, all, err := ReadKernels(data)
	if err != nil {
		return nil, session.BadInput(fmt.Errorf("%s: %w", r.File, err))
	}
	p := &prices.Prices{}
	coster, err := p.Physical(d)
	if err != nil {
		return nil, session.BadInput(err)
	}
	out := &KernelsResponse{File: r.File, Device: name, System: d.Name, Tier: p.Tier(d, prices.Best(d)), Kernels: []ComparedKernel{}, Groups: []KernelGroup{}, profile: d}
	out.compare(all, coster)
	out.peaks(d)
	return session.Finish(ctx, out, nil)
}

// compare prices the kernels.
func (out *KernelsResponse) compare(all []Kernel, coster cost.Coster) {
	groups := map[string][]float64{}
	var names []string
	for i := range all {
		c := ComparedKernel{Kernel: all[i], Predicted: 1e6 * float64(coster.Cost(&all[i].priced).Total)}
		if !(c.Predicted > 0) || math.IsInf(c.Predicted, 0) {
			continue // the device has no such link or format
		}
		c.Ratio = c.Micros / c.Predicted
		out.Kernels = append(out.Kernels, c)
		name := all[i].group()
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], c.Ratio)
	}
	for _, name := range names {
		q := quantile.Of(slices.Clone(groups[name]), 0.1, 0.5, 0.9)
		out.Groups = append(out.Groups, KernelGroup{name, len(groups[name]), q[1], q[0], q[2]})
	}
}

// peaks finds the shares of the data sheet's peaks that kernels reach: the largest of each kind.
func (out *KernelsResponse) peaks(d *device.Profile) {
	for i := range out.Kernels {
		k := &out.Kernels[i]
		seconds := k.Micros / 1e6
		switch k.Kind {
		case "gemm":
			if peak := float64(d.Matrix[dtype.BF16]); k.Format == "bf16" && peak > 0 {
				out.Compute = max(out.Compute, 2*k.M*k.N*k.K/seconds/peak)
			}
		case "copy":
			const large = 1 << 28 // beyond all caches
			if k.Bytes >= large && d.Bandwidth > 0 {
				out.Memory = max(out.Memory, k.Bytes/seconds/float64(d.Bandwidth))
			}
		case "all_reduce":
			if link := linkOf(d, int(k.Ranks)); link > 0 {
				out.Link = max(out.Link, k.Bytes*op.AllReduce.Wire(k.Ranks)/seconds/link)
			}
		}
	}
	out.Compute, out.Memory, out.Link = min(1, out.Compute), min(1, out.Memory), min(1, out.Link)
}

// linkOf is the bandwidth of the link that connects so many ranks, 0 if none does.
func linkOf(d *device.Profile, ranks int) float64 {
	best, size := 0.0, 0
	for i := range d.Links {
		if l := &d.Links[i]; l.Size >= ranks && (size == 0 || l.Size < size) {
			best, size = float64(l.Bandwidth), l.Size
		}
	}
	return best
}

// Write writes a device profile with the efficiencies that were measured, for --device-file: the roofline model uses them.
func (out *KernelsResponse) Write(w io.Writer) error {
	round := func(x, otherwise float64) float64 { return math.Round(1e3*cmp.Or(x, otherwise)) / 1e3 }
	base := cmp.Or(out.profile.Base, out.profile.Name)
	_, err := fmt.Fprintf(w, "# Efficiencies measured by kernels.py on %q; other figures are those of %s.\nbase: %s\nname: my_%s\nefficiency: {compute: %g, memory: %g}\n",
		out.Device, base, base, out.profile.Name, round(out.Compute, out.profile.ComputeEfficiency), round(out.Memory, out.profile.MemoryEfficiency))
	return err
}
