package plimsoll

import "encoding/json"

// Deployment describes how a model is served; only Model is required. Its JSON is that of "plimsoll simulate --deployment".
type Deployment struct {
	Model  string `json:"model"`            // a name of [Models], or a directory with a config.json
	System string `json:"system,omitempty"` // a name of [Systems]; "" is h200_sxm
	Engine Engine `json:"engine,omitzero"`
	// Pools are one with role Both, or one with Prefill followed by one with Decode; none is one replica on one device.
	Pools []Pool `json:"pools,omitempty"`
	// More is further fields in JSON: formats, routing, host_cache, modelling.
	More json.RawMessage `json:"-"`
}

// Engine is a serving engine.
type Engine struct {
	Name    string `json:"name,omitempty"`    // a name of [Engines]; "" is vllm
	Version string `json:"version,omitempty"` // "" is the newest release
	Preset  string `json:"preset,omitempty"`  // published settings
	// Settings differ from the defaults: "token_budget=16384".
	Settings []string `json:"settings,omitempty"`
}

// Pool is a number of equal replicas.
type Pool struct {
	Role     Role     `json:"role,omitempty"`
	Replicas int      `json:"replicas,omitempty"` // 0 is one
	Layout   Layout   `json:"layout,omitzero"`
	Settings []string `json:"settings,omitempty"` // in addition to the engine's
	// More is further fields in JSON: system, formats, mtp, drafter, acceptance_rates.
	More json.RawMessage `json:"-"`
}

// Role is what the replicas of a pool do.
type Role string

// The roles; "" is Both.
const (
	Both    Role = "both" // prefill and decode on the same devices
	Prefill Role = "prefill"
	Decode  Role = "decode"
)

// Layout is how one replica is split over its TP·DP·PP devices; sizes of 0 have defaults. EP, MoETP and MoEDP are those of
// the experts, DCP splits the context of a decode step.
type Layout struct {
	Devices int `json:"devices,omitempty"`
	TP      int `json:"tp,omitempty"`
	DP      int `json:"dp,omitempty"`
	PP      int `json:"pp,omitempty"`
	EP      int `json:"ep,omitempty"`
	MoETP   int `json:"moe_tp,omitempty"`
	MoEDP   int `json:"moe_dp,omitempty"`
	DCP     int `json:"dcp,omitempty"`
}

// MarshalJSON writes the fields and those of More.
func (d Deployment) MarshalJSON() ([]byte, error) {
	type fields Deployment
	return withMore(fields(d), d.More)
}

// UnmarshalJSON reads the fields; all others are More, and are checked when the deployment is used.
func (d *Deployment) UnmarshalJSON(data []byte) (err error) {
	type fields Deployment
	var f fields
	f.More, err = rest(data, &f)
	*d = Deployment(f)
	return err
}

// MarshalJSON writes the fields and those of More.
func (p Pool) MarshalJSON() ([]byte, error) {
	type fields Pool
	return withMore(fields(p), p.More)
}

// UnmarshalJSON reads the fields; all others are More.
func (p *Pool) UnmarshalJSON(data []byte) (err error) {
	type fields Pool
	var f fields
	f.More, err = rest(data, &f)
	*p = Pool(f)
	return err
}
