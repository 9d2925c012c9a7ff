package nvidia

import (
	"bytes"
	"cmp"
	"math"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
)

// Write gives a file, in the flat form, from which [Read] gives the same experiment
// again. The workload and all else that has a default in the file is written, so that
// another generation's defaults do not change it. Of formats those of weights and of the
// cache are written, which are all that files and flags can ask for.
func Write(e experiment.Experiment) []byte {
	var m mapping
	some(&m, "serving_mode", string(e.Mode))
	some(&m, "model_path", e.Model)
	some(&m, "system_name", e.System)
	some(&m, "decode_system_name", e.DecodeSystem)
	m.add("total_gpus", e.Devices)
	some(&m, "backend_name", e.Engine.Name)
	some(&m, "backend_version", e.Engine.Version)
	if len(e.Engine.Settings) > 0 {
		m.add("engine_settings", e.Engine.Settings)
	}
	v := Defaults(New, true)
	m.add("isl", cmp.Or(e.Input, v.Input))
	m.add("osl", cmp.Or(e.Output, v.Output))
	some(&m, "prefix", e.Prefix)
	m.limits(&e)
	some(&m, "percentile", e.Percentile)
	some(&m, "confidence", e.Confidence)
	m.add("nextn", e.MTP)
	if len(e.AcceptanceRates) > 0 {
		m.add("nextn_kept_rates", e.AcceptanceRates)
	}
	if e.Mode == experiment.Disaggregated {
		m.worker("prefill_", "prefill_", &e.Workers, isOldName(e.Model))
		m.worker("decode_", "decode_", &e.Decode, isOldName(e.Model))
		m.replica(&e.Replica)
	} else {
		m.worker("agg_", "", &e.Workers, isOldName(e.Model))
	}
	var file mapping
	file.add(e.Name, &m.Node)
	return file.bytes()
}

// mapping is a YAML mapping that keeps the order in which keys are added.
type mapping struct{ yaml.Node }

// add adds a key, whatever its value.
func (m *mapping) add(key string, value any) {
	m.Kind = yaml.MappingNode
	var k yaml.Node
	k.SetString(key)
	v := &yaml.Node{}
	switch x := value.(type) {
	case *yaml.Node:
		v = x
	case string:
		v.SetString(x)
	default:
		if err := v.Encode(x); err != nil { // of numbers and lists
			v = nothing()
		}
	}
	if v.Kind == yaml.SequenceNode {
		v.Style = yaml.FlowStyle
	}
	m.Content = append(m.Content, &k, v)
}

func nothing() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"} }

// some adds what differs from zero.
func some[T comparable](m *mapping, key string, value T) {
	if value != *new(T) {
		m.add(key, value)
	}
}

// limits adds limits. One that is missing is infinite, unless the latency of a request
// makes it so.
func (m *mapping) limits(e *experiment.Experiment) {
	l := e.Limits.Finite()
	limit := func(key string, s units.Seconds, always bool) {
		switch {
		case s > 0:
			m.add(key, milliseconds(s))
		case always:
			m.add(key, math.Inf(1))
		}
	}
	limit("ttft", l.TTFT, l.Latency == 0)
	limit("tpot", l.TPOT, l.Latency == 0)
	limit("request_latency", l.Latency, false)
}

// milliseconds is the number that is read as s again: of those next to each other that
// print alike the one whose thousandth is s.
func milliseconds(s units.Seconds) float64 {
	low := s.Ms()
	for range 2 {
		low = math.Nextafter(low, 0)
	}
	for _, x := range []float64{s.TypedMs(), s.Ms()} {
		if units.Seconds(x/1e3) == s {
			return x
		}
	}
	for range 4 {
		if units.Seconds(low/1e3) == s {
			return low
		}
		low = math.Nextafter(low, math.Inf(1))
	}
	return s.TypedMs()
}

// worker adds the workers of a role; formats may have another prefix than sizes. A name
// of the old generation without formats would be given some.
func (m *mapping) worker(role, formats string, w *experiment.WorkerSpace, old bool) {
	word := func(key, value string) {
		switch {
		case value == "bf16":
			value = wide()[0]
		case value == "" && old:
			value = checkpoint
		}
		some(m, formats+key, value)
	}
	word("gemm_quant_mode", w.Formats.GEMM)
	word("moe_quant_mode", w.Formats.MoE)
	word("kvcache_quant_mode", w.Formats.KV)
	for _, l := range listsOf(w) {
		if *l.sizes != nil {
			m.add(role+l.flat+"_candidates", *l.sizes)
		}
	}
	some(m, role+"max_batch_size", w.MaxBatch)
	some(m, role+"correction_scale", w.Scale)
}

// replica adds the settings of replicas. A missing key would mean the default list, so a nil
// list is written as null.
func (m *mapping) replica(r *experiment.ReplicaSpace) {
	if r.Devices == nil {
		m.add("num_gpu_per_replica", nothing())
	} else {
		m.add("num_gpu_per_replica", r.Devices)
	}
	m.add("max_gpu_per_replica", r.MaxDevices)
	some(m, "max_prefill_workers", r.MaxPrefill)
	some(m, "max_decode_workers", r.MaxDecode)
}

// bytes is the mapping as text.
func (m *mapping) bytes() []byte {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&m.Node); err != nil {
		return []byte(strconv.Quote(err.Error())) // nodes of texts and numbers can be written
	}
	return out.Bytes()
}
