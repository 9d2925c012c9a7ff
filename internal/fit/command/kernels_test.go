package command

import (
	"bytes"
	"io"
	"io/fs"
	"math"
	"testing"
	"testing/fstest"

	"github.com/parquet-go/parquet-go"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// TestKernelsWithoutTables: a fit to no tables is refused.
func TestKernelsWithoutTables(t *testing.T) {
	t.Parallel()
	p := Program{Session: &session.Session{}, Stdout: io.Discard, Stderr: io.Discard}
	if err := p.Run(t.Context(), []string{"kernels"}); err == nil {
		t.Error("nothing is fitted")
	}
}

// TestKernelsThroughHost: collectives measured through the host give its constants, whatever transport the profile of the device has;
// else a device with peer access would be taken for that many times slower.
func TestKernelsThroughHost(t *testing.T) {
	t.Parallel()
	d, err := device.Lookup("l40s")
	if err != nil {
		t.Fatal(err)
	}
	truth, ok := calibrated.Nearest(d.Generation)
	if !ok || truth.Peer <= 1 || d.Links[len(d.Links)-1].Transport != device.Peer {
		t.Fatalf("%+v: peer access makes no difference", truth)
	}
	through := truth
	through.Peer = 1
	m := calibrated.With(d, &through)
	type row struct {
		Kernel  string  `parquet:"kernel_source"`
		Op      string  `parquet:"op_name"`
		DType   string  `parquet:"nccl_dtype"`
		GPUs    int64   `parquet:"num_gpus"`
		Size    int64   `parquet:"message_size"`
		Latency float64 `parquet:"latency"`
	}
	var rows []row
	for _, n := range []int32{2, 4, 8} {
		for size := int64(1 << 10); size <= 1<<28; size *= 2 { // elements of 16 bits
			payload := units.Bytes(2 * size)
			o := op.Op{Kind: op.Collective, Comm: op.AllReduce, Group: parallel.Group{Size: n, Stride: 1}, Payload: payload, Bytes: 2 * payload}
			rows = append(rows, row{"NCCL", "all_reduce", "half", int64(n), size, 1e3 * float64(m.Cost(&o).Total)})
		}
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	dir := fstest.MapFS{"l40s/comm/nccl/2.27/nccl_perf.parquet": &fstest.MapFile{Data: b.Bytes()}}
	p := Program{Session: &session.Session{Dir: func(string) fs.FS { return dir }}, Stdout: io.Discard, Stderr: io.Discard}
	tables := kernelTables{Tables: prices.Tables{Dir: "dir"}, systems: func() []string { return []string{"l40s"} }}
	fitted, _, err := p.kernels(t.Context(), &tables, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fitted[d.Generation].Comm.Reduce.Efficiency, truth.Comm.Reduce.Efficiency; math.Abs(got/want-1) > 0.02 {
		t.Errorf("the links reach %.3f of their peak, want %.3f", got, want)
	}
}
