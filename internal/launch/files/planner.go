package files

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// planner is tables for Dynamo's planner.
type planner struct{ *writer }

// files are the tables that Dynamo's planner otherwise measures before a deployment, as its
// profiler writes them: arrays of NumPy, the same as JSON, and a ConfigMap of the latter.
func (w planner) files() ([]launch.File, error) {
	switch v := &w.pools[0]; {
	case v.Device.Vendor != device.NVIDIA:
		return nil, addOn(Planner, "Dynamo runs on NVIDIA's GPUs, not %s", v.Device.Name)
	case !w.disaggregated():
		return nil, addOn(Planner, "it reads tables of prefill and of decode workers, but the plan's workers do both")
	case w.Profile == nil:
		return nil, addOn(Planner, "the plan has no tables of its workers")
	}
	var isl, ttft, prompts, use, context, itl, tokens column
	for _, p := range w.Profile.Prefill {
		isl, ttft, prompts = isl.with(float64(p.Tokens)), ttft.with(p.TTFT.Ms()), prompts.with(p.PerDevice)
	}
	for _, p := range w.Profile.Decode {
		use, context, itl, tokens = use.with(p.KV), context.with(p.Context), itl.with(p.TPOT.Ms()), tokens.with(p.PerDevice)
	}
	var files []launch.File
	texts := fields()
	for _, t := range []struct {
		role   string
		arrays []array
		most   int // tokens of the cache, 0 = none
	}{
		{"prefill", []array{{"prefill_isl", isl}, {"prefill_ttft", ttft}, {"prefill_thpt_per_gpu", prompts}}, 0},
		{"decode", []array{{"x_kv_usage", use}, {"y_context_length", context}, {"z_itl", itl}, {"z_thpt_per_gpu", tokens}}, w.Profile.KVTokens},
	} {
		document := map[string]any{}
		for _, a := range t.arrays {
			document[a.name] = a.values
		}
		if t.most > 0 {
			document["max_kv_tokens"] = t.most
			t.arrays = append(t.arrays, array{"max_kv_tokens", column{float64(t.most)}})
		}
		text, err := json.MarshalIndent(document, "", " ")
		if err != nil {
			return nil, err
		}
		packed, err := npz(t.arrays)
		if err != nil {
			return nil, err
		}
		texts.set(t.role+"_raw_data.json", string(text)+"\n")
		files = append(files, launch.File{Path: "planner/" + t.role + "_raw_data.json", Mode: plainFile, Data: append(text, '\n')},
			launch.File{Path: "planner/selected_" + t.role + "_interpolation/raw_data.npz", Mode: plainFile, Data: packed})
	}
	data, err := encode(w.heading("Tables for Dynamo's planner"), w.objects().object("v1", "ConfigMap", w.name+"-planner").set("data", texts))
	return byPath(append(files, launch.File{Path: "planner/configmap.yaml", Mode: plainFile, Data: data})), err
}

// column are the values of an array.
type column []float64

// with adds a value of six digits, so that both forms of a table have the same.
func (c column) with(x float64) column {
	const digits = 6
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if err != nil { // no number that was written fails
		return append(c, x)
	}
	return append(c, short)
}

// array is one of a file of NumPy.
type array struct {
	name   string
	values column
}

// npz is a file of NumPy with several arrays: a zip of files, each with its values after a header
// of a multiple of 64 bytes (numpy.lib.format, version 1.0).
func npz(arrays []array) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, a := range arrays {
		f, err := z.CreateHeader(&zip.FileHeader{Name: a.name + ".npy", Method: zip.Store})
		if err != nil {
			return nil, err
		}
		const align, magic = 64, "\x93NUMPY\x01\x00"
		header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }", len(a.values))
		before := len(magic) + 2 + len(header) + 1
		header += strings.Repeat(" ", (align-before%align)%align) + "\n"
		file := binary.LittleEndian.AppendUint16([]byte(magic), uint16(len(header)))
		file, err = binary.Append(append(file, header...), binary.LittleEndian, []float64(a.values))
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(file); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return out.Bytes(), err
}
