package app

import (
	"plimsoll/internal/deployment"
	"plimsoll/internal/parallel"
	"plimsoll/internal/workload"
)

// ServingMode is how prefill and decode share devices.
type ServingMode string

// The modes.
const (
	Aggregated    ServingMode = "agg"
	Disaggregated ServingMode = "disagg"
)

// Experiment asks for the best deployments of one model in one mode on a number of
// devices.
type Experiment struct {
	Name string      `json:"name"`
	Mode ServingMode `json:"serving_mode"`

	Model  string `json:"model"`
	System string `json:"system"`
	// DecodeSystem is that of decode workers; "" = System.
	DecodeSystem string            `json:"decode_system,omitempty"`
	Devices      int               `json:"total_gpus"`
	Engine       deployment.Engine `json:"engine"`

	Input  int `json:"isl,omitempty"` // 0 = 4000
	Output int `json:"osl,omitempty"` // 0 = 1000
	// Prefix is the tokens of a prompt found in the prefix cache.
	Prefix int `json:"prefix,omitempty"`

	// Limits: TTFT and TPOT, or the latency of a whole request instead.
	Limits workload.Limits `json:"limits,omitzero"`
	// Percentile at which latencies are held to the limits; 0 = their mean.
	Percentile float64 `json:"percentile,omitempty"`
	// Confidence with which predictions must meet the limits; 0 = 0.5.
	Confidence float64 `json:"confidence,omitempty"`

	MTP             int       `json:"nextn,omitempty"`
	AcceptanceRates []float64 `json:"nextn_accept_rates,omitempty"`

	// Workers are those of an aggregated experiment, or for prefill; Decode those for
	// decode.
	Workers WorkerSpace  `json:"workers,omitzero"`
	Decode  WorkerSpace  `json:"decode_workers,omitzero"`
	Replica ReplicaSpace `json:"replica,omitzero"`
}

// WorkerSpace is the workers to try: every combination of the sizes that makes a legal
// layout. A nil list has the default sizes of the model and the system.
type WorkerSpace struct {
	Formats deployment.Formats `json:"formats,omitzero"`
	// Devices of a worker.
	Devices []int `json:"num_gpu,omitempty"`
	TP      []int `json:"tp,omitempty"`
	PP      []int `json:"pp,omitempty"`
	DP      []int `json:"dp,omitempty"`
	MoETP   []int `json:"moe_tp,omitempty"`
	EP      []int `json:"moe_ep,omitempty"`
	// MaxBatch is the largest batch of a data-parallel rank; 0 = 1 for prefill, 512
	// for others.
	MaxBatch int `json:"max_batch_size,omitempty"`
	// Scale multiplies the predicted throughput; 0 = 1.
	Scale float64 `json:"correction_scale,omitempty"`
}

// Workers are equal workers of a deployment.
type Workers struct {
	Count  int             `json:"count"`
	Layout parallel.Layout `json:"layout"`
	// Batch is the limit on the batch of a data-parallel rank.
	Batch int `json:"batch_size"`
}

// ReplicaSpace is how workers for prefill and decode are put together to the unit that
// is copied.
type ReplicaSpace struct {
	// Devices a replica may have; nil = any number.
	Devices []int `json:"num_gpu_per_replica,omitempty"`
	// MaxDevices, MaxPrefill and MaxDecode bound a replica's devices and workers.
	MaxDevices int `json:"max_gpu_per_replica,omitempty"` // 0 = no limit
	MaxPrefill int `json:"max_prefill_worker,omitempty"`  // 0 = 32
	MaxDecode  int `json:"max_decode_worker,omitempty"`   // 0 = 32
}
