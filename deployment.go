package plimsoll

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Deployment describes how a model is served. Only Model is required.
type Deployment struct {
	// Model is an id of the catalog ("Qwen/Qwen3-32B"), another name of such a
	// model, an id in the Hugging Face cache, or a directory with a config.json.
	Model string `json:"model"`
	// AsFamily reads the model's config.json as that of a family, whatever its
	// architecture: "llama", or "generic" for any decoder. "" is the family that
	// has the architecture.
	AsFamily string `json:"as_family,omitempty"`
	// System is a device profile; "" is h200_sxm.
	System string `json:"system,omitempty"`
	// Engine is the serving engine; the zero Engine is the newest vLLM.
	Engine  Engine  `json:"engine,omitzero"`
	Formats Formats `json:"formats,omitzero"`
	// Pools are one with role Both, or one with Prefill followed by one with Decode.
	// None is one replica on one device.
	Pools []Pool `json:"pools,omitempty"`
	// LeastLoaded routes requests to the least loaded replica instead of round robin.
	LeastLoaded bool `json:"least_loaded,omitempty"`
}

// Engine is a serving engine. [Engines] lists them.
type Engine struct {
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"` // "" is the newest
	// Preset names settings of published deployments, which hold where Settings are not
	// given; "plimsoll engines NAME" shows them.
	Preset string `json:"preset,omitempty"`
	// Settings are those that differ from the engine's defaults, by the keys that
	// "plimsoll engines NAME" prints: {"token_budget": "4096"}.
	Settings map[string]string `json:"settings,omitempty"`
}

// Role is what the replicas of a pool do.
type Role string

// The roles; "" is Both.
const (
	Both    Role = "both" // prefill and decode on the same devices
	Prefill Role = "prefill"
	Decode  Role = "decode"
)

// Pool is a number of equal replicas.
type Pool struct {
	Role     Role   `json:"role,omitempty"`
	Replicas int    `json:"replicas,omitempty"` // 0 is 1
	Layout   Layout `json:"layout,omitzero"`
	// Settings are engine settings of this pool, in addition to the deployment's.
	Settings map[string]string `json:"settings,omitempty"`
	// MTP is the draft tokens per step; 0 is the engine's default. AcceptanceRates
	// are the probabilities that each is accepted; nil is 0.9, 0.6, 0.4 and 0.2.
	MTP             int       `json:"num_mtp_tokens,omitempty"`
	AcceptanceRates []float64 `json:"mtp_acceptance_rates,omitempty"`
}

// Layout is how one replica is split over its TP·DP·PP devices. A size of 0 is 1,
// except for MoETP: its default is the devices divided by EP·MoEDP·PP. Expert sizes
// have no effect on a model without experts.
type Layout struct {
	TP    int `json:"tp_size,omitempty"`     // tensor parallelism of attention and dense layers
	DP    int `json:"dp_size,omitempty"`     // data-parallel ranks of attention
	PP    int `json:"pp_size,omitempty"`     // pipeline stages
	EP    int `json:"ep_size,omitempty"`     // expert parallelism
	MoETP int `json:"moe_tp_size,omitempty"` // tensor parallelism of each expert
	MoEDP int `json:"moe_dp_size,omitempty"` // copies of the experts
	DCP   int `json:"dcp_size,omitempty"`    // decode context parallelism inside a TP group
}

// Devices is the number of devices of one replica.
func (l Layout) Devices() int { return max(1, l.TP) * max(1, l.DP) * max(1, l.PP) }

// String lists the sizes above one: "TP=4 | EP=4"; "TP=1" if there is none.
func (l Layout) String() string {
	var words []string
	for _, d := range []struct {
		name string
		size int
	}{
		{"TP", l.TP},
		{"PP", l.PP},
		{"DP", l.DP},
		{"EP", l.EP},
		{"MOE-TP", l.MoETP},
		{"MOE-DP", l.MoEDP},
		{"DCP", l.DCP},
	} {
		if d.size > 1 {
			words = append(words, fmt.Sprintf("%s=%d", d.name, d.size))
		}
	}
	if words == nil {
		return "TP=1"
	}
	return strings.Join(words, " | ")
}

// Formats are number formats that differ from the checkpoint's own.
type Formats struct {
	// Checkpoint is a published conversion of the model: "fp8", "fp4" or "int4".
	Checkpoint string `json:"checkpoint,omitempty"`
	// GEMM and MoE are the formats of linear layers and of routed experts as
	// AIConfigurator names them: "fp8", "fp8_block", "nvfp4", "w4afp8", "bf16" and others.
	GEMM string `json:"gemm_quant_mode,omitempty"`
	MoE  string `json:"moe_quant_mode,omitempty"`
	// KV is the format of the KV cache: "fp8", "int8", or "bf16" for the model's own.
	KV string `json:"kv,omitempty"`
	// Linear, NonExpert and Attention are quantization actions as Ascend's tools
	// name them: "W8A8_DYNAMIC", "FP8", "DISABLED", "AUTO" and others.
	Linear    string `json:"quantize_linear_action,omitempty"`
	NonExpert string `json:"quantize_non_expert_linear_action,omitempty"`
	Attention string `json:"quantize_attention_action,omitempty"`
	// MXFP4Group is the number of elements that share an MXFP4 scale; 0 is 32.
	MXFP4Group int `json:"mxfp4_group_size,omitempty"`
}

// Devices is the number of devices of the whole deployment.
func (d *Deployment) Devices() int {
	n := 0
	for i := range d.Pools {
		n += max(1, d.Pools[i].Replicas) * d.Pools[i].Layout.Devices()
	}
	return max(1, n)
}

// internal is the deployment in the form of package deployment. Only this function
// and fromInternal know both forms.
func (d *Deployment) internal() (deployment.Deployment, error) {
	formats, err := d.Formats.internal()
	out := deployment.Deployment{
		Model: d.Model, AsFamily: d.AsFamily, System: d.System, Engine: d.Engine.internal(), Formats: formats, LeastLoaded: d.LeastLoaded,
	}
	for i := range d.Pools {
		p := &d.Pools[i]
		out.Pools = append(out.Pools, deployment.Pool{
			Role: deployment.Role(p.Role), Replicas: p.Replicas, Layout: p.Layout.internal(), Settings: assignments(p.Settings),
			MTP: p.MTP, AcceptanceRates: slices.Clone(p.AcceptanceRates),
		})
	}
	return out, err
}

// fromInternal is a deployment in the form of this package.
func fromInternal(d *deployment.Deployment) Deployment {
	f := &d.Formats
	out := Deployment{
		Model: d.Model, AsFamily: d.AsFamily, System: d.System, LeastLoaded: d.LeastLoaded,
		Engine: Engine{Name: d.Engine.Name, Version: d.Engine.Version, Preset: d.Engine.Preset, Settings: settingsOf(d.Engine.Settings)},
		Formats: Formats{
			Checkpoint: f.Checkpoint, GEMM: f.GEMM, MoE: f.MoE, KV: f.KV, Linear: string(f.Linear), NonExpert: string(f.NonExpert),
			Attention: string(f.Attention), MXFP4Group: f.MXFP4Group,
		},
	}
	for i := range d.Pools {
		p := &d.Pools[i]
		out.Pools = append(out.Pools, Pool{
			Role: Role(p.Role), Replicas: p.Replicas, Layout: layoutOf(&p.Layout), Settings: settingsOf(p.Settings),
			MTP: p.MTP, AcceptanceRates: slices.Clone(p.AcceptanceRates),
		})
	}
	return out
}

func (l Layout) internal() parallel.Layout {
	return parallel.Layout{
		Devices: l.Devices(), TP: l.TP, DP: l.DP, PP: l.PP, EP: l.EP, MoETP: l.MoETP, MoEDP: l.MoEDP, DCP: l.DCP,
	}
}

func layoutOf(l *parallel.Layout) Layout {
	return Layout{TP: l.TP, DP: l.DP, PP: l.PP, EP: l.EP, MoETP: l.MoETP, MoEDP: l.MoEDP, DCP: l.DCP}
}

func (e *Engine) internal() deployment.Engine {
	return deployment.Engine{Name: e.Name, Version: e.Version, Preset: e.Preset, Settings: assignments(e.Settings)}
}

// assignments are settings as "key=value", sorted.
func assignments(settings map[string]string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		out = append(out, key+"="+settings[key])
	}
	return out
}

// settingsOf is the inverse of assignments.
func settingsOf(assignments []string) map[string]string {
	var out map[string]string
	for _, a := range assignments {
		if out == nil {
			out = map[string]string{}
		}
		key, value, _ := strings.Cut(a, "=")
		out[key] = value
	}
	return out
}

func (f *Formats) internal() (deployment.Formats, error) {
	linear, attention := words(dtype.LinearActions()), words(dtype.AttentionActions())
	out := deployment.Formats{
		Checkpoint: f.Checkpoint, GEMM: f.GEMM, MoE: f.MoE, KV: f.KV, Linear: dtype.Action(f.Linear), NonExpert: dtype.Action(f.NonExpert),
		Attention: dtype.Action(f.Attention), MXFP4Group: f.MXFP4Group,
	}
	return out, errors.Join(
		oneOf("checkpoint", f.Checkpoint, []string{"fp8", "fp4", "int4"}),
		oneOf("gemm_quant_mode", f.GEMM, deployment.WeightFormats()),
		oneOf("moe_quant_mode", f.MoE, deployment.WeightFormats()),
		oneOf("kv", f.KV, []string{"fp8", "int8", "bf16"}),
		oneOf("quantize_linear_action", f.Linear, linear),
		oneOf("quantize_non_expert_linear_action", f.NonExpert, linear),
		oneOf("quantize_attention_action", f.Attention, attention),
	)
}

func words(actions []dtype.Action) []string {
	out := make([]string, len(actions))
	for i, a := range actions {
		out[i] = string(a)
	}
	return out
}

// oneOf reports a word that is neither empty nor allowed.
func oneOf(name field.Name, word string, allowed []string) error {
	if word == "" || slices.Contains(allowed, word) {
		return nil
	}
	hint := ""
	if near, ok := nearest.Match(word, allowed); ok {
		hint = "; nearest: " + near
	}
	return field.Errorf("%s must be one of %s, got %q%s", name, strings.Join(allowed, ", "), word, hint)
}
