package deployment

import (
	"cmp"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// Deployment says how a model is served. Zero fields take their defaults.
type Deployment struct {
	Model string `json:"model" required:"true" minLength:"1"`
	// AsFamily is the family that the model's config.json is read as; "" is that
	// of its architecture.
	AsFamily string `json:"as_family,omitempty"`
	System   string `json:"system"` // a device profile
	// Engine is empty if no engine is modelled: for single steps, and the formulas
	// of throughput-optimizer.
	Engine  Engine  `json:"engine"`
	Formats Formats `json:"formats"`
	Pools   []Pool  `json:"pools"`
	// Routing is the policy that routes requests to replicas; "" = round-robin.
	Routing string `json:"routing,omitempty" enum:",round-robin,least-loaded,session,prefix,llm-d,dynamo,sglang"`
	// Host is host memory for KV blocks evicted from prefix caches.
	Host      HostCache `json:"host_cache,omitzero"`
	Modelling Modelling `json:"modelling"`
}

// HostCache is host memory for KV blocks evicted from the prefix caches of devices.
type HostCache struct {
	// GiB is the memory of one replica, over all its devices.
	GiB float64 `json:"gib,omitempty" minimum:"0" maximum:"1000000"`
	// Bandwidth is that between host memory and one device, in GB/s; 0 = 50.
	Bandwidth float64 `json:"gb_per_s,omitempty" exclusiveMinimum:"0" maximum:"1000000"`
}

// DefaultHostBandwidth is GB/s of one device: PCIe 5.0 with 16 lanes has 64 in each direction, of which large copies reach
// about four fifths.
const DefaultHostBandwidth = 50

// Speed is the bandwidth, the default where none is given.
func (h *HostCache) Speed() float64 { return cmp.Or(h.Bandwidth, DefaultHostBandwidth) }

// Check reports values that no host has.
func (h *HostCache) Check() error {
	for _, x := range []struct {
		name  field.Name
		value float64
	}{{"host_cache", h.GiB}, {"host_bandwidth", h.Bandwidth}} {
		if !(x.value >= 0) || math.IsInf(x.value, 1) {
			return field.Errorf("%s must be at least 0 and finite, got %g", x.name, x.value)
		}
	}
	if h.GiB == 0 && h.Bandwidth != 0 {
		return field.Errorf("%s needs %s", field.Name("host_bandwidth"), field.Name("host_cache"))
	}
	return nil
}

// Filled is the host cache with its default bandwidth.
func (h HostCache) Filled() HostCache {
	h.Bandwidth = h.Speed()
	return h
}

// Engine is a serving engine, its version ("" is the newest) and settings that
// differ from its defaults, each as "key=value". Preset names published settings
// that fill unset engine settings.
type Engine struct {
	Name     string   `json:"name"`
	Version  string   `json:"version,omitempty"`
	Preset   string   `json:"preset,omitempty"`
	Settings []string `json:"settings,omitempty"`
}

// Role is what a pool's replicas do.
type Role string

// The roles.
const (
	Both    Role = "both" // prefill and decode on the same devices
	Prefill Role = "prefill"
	Decode  Role = "decode"
)

// Words lists the roles.
func (Role) Words() []string { return []string{string(Both), string(Prefill), string(Decode)} }

// Pool is a group of identical replicas.
type Pool struct {
	Role     Role            `json:"role"`
	Replicas int             `json:"replicas,omitempty" minimum:"1" maximum:"32768"` // without one it is 1
	Layout   parallel.Layout `json:"layout"`
	// System and Formats apply to this pool, if they differ from the deployment's.
	System  string  `json:"system,omitempty"`
	Formats Formats `json:"formats,omitzero"`
	// Settings are engine settings of this pool, in addition to the deployment's.
	Settings []string `json:"settings,omitempty"`
	// MTP is the number of draft tokens per step; 0 is the engine's default. Drafter is the method: "eagle3" (a published head), "ngram" (a
	// look-up in the text) or "" (the model's own MTP modules). AcceptanceRates are the acceptance rates of the draft tokens.
	MTP             int          `json:"mtp,omitempty" minimum:"0" maximum:"9"`
	Drafter         draft.Method `json:"drafter,omitempty"`
	AcceptanceRates []float64    `json:"acceptance_rates,omitempty" minimum:"0" maximum:"1"`
}

// Formats are the number formats that differ from the checkpoint's own.
type Formats struct {
	// Checkpoint is a published conversion of the model: fp8, fp4 or int4.
	Checkpoint string `json:"checkpoint,omitempty" enum:",fp8,fp4,int4"`
	// Linear, NonExpert and Attention are quantization actions of the Ascend tools.
	Linear    dtype.Action `json:"linear,omitempty"`
	NonExpert dtype.Action `json:"non_expert,omitempty"`
	Attention dtype.Action `json:"attention,omitempty"`
	// MXFP4Group is the number of elements that share an MXFP4 scale.
	MXFP4Group int `json:"mxfp4_group,omitempty" minimum:"1" maximum:"100000000"`
	// GEMM is the format of linear layers other than routed experts, MoE that of routed
	// experts, as in WeightFormats; they override the fields above.
	GEMM string `json:"gemm,omitempty" enum:",bf16,fp8,fp8_static,fp8_block,nvfp4,w4afp8,w4a16_mxfp4,w4a8_mxfp4_mxfp8,int8_wo,int4_wo,sq"`
	MoE  string `json:"moe,omitempty" enum:",bf16,fp8,fp8_static,fp8_block,nvfp4,w4afp8,w4a16_mxfp4,w4a8_mxfp4_mxfp8,int8_wo,int4_wo,sq"`
	// KV is the format of the cache: fp8, int8, or bf16 for the model's own.
	KV string `json:"kv,omitempty" enum:",fp8,int8,bf16,bfloat16"`
}

// Modelling is how a step is modelled.
type Modelling struct {
	Policy string `json:"policy,omitempty" enum:",tensorcast,physical"` // "" = TensorCast's on Ascend devices
	// Pricing is the cost model of operators; "" = roofline with TensorCast's policy, the most
	// accurate available elsewhere.
	Pricing          prices.Pricing    `json:"pricing,omitempty"`
	Fusion           Fusion            `json:"fusion,omitempty"`
	SequenceParallel bool              `json:"sequence_parallel,omitempty"`
	MatMulAllReduce  bool              `json:"matmul_allreduce,omitempty"`
	DispatchCombine  bool              `json:"dispatch_combine,omitempty"`
	EmbeddingTP      graph.EmbeddingTP `json:"embedding_tp,omitempty" minimum:"0" maximum:"2"`
	SharedExpertTP   bool              `json:"shared_expert_tp,omitempty"`
	Draft            graph.Draft       `json:"draft,omitzero"`
	// Images says that requests have images.
	Images bool `json:"images,omitempty"`
}

// Fusion says whether elementwise steps are fused as a graph compiler does.
type Fusion string

// The choices.
const (
	ByDefault Fusion = "" // fused under an engine and where prices are fitted to engines' kernels; eager elsewhere
	Compiled  Fusion = "compiled"
	Eager     Fusion = "eager"
)

// Words lists the choices.
func (Fusion) Words() []string { return []string{string(Compiled), string(Eager)} }

// Devices is the number of devices of the whole deployment.
func (d *Deployment) Devices() int {
	n := 0
	for i := range d.Pools {
		n += d.Pools[i].Layout.Devices * max(1, d.Pools[i].Replicas)
	}
	return n
}

// Disaggregated reports whether prefill and decode have pools of their own.
func (d *Deployment) Disaggregated() bool { return len(d.Pools) > 1 }
