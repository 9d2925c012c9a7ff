package optimize_test

import (
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// on is a deployment of a model with one pool.
func on(model, system string, l parallel.Layout) deployment.Deployment {
	return deployment.Deployment{Model: model, System: system, Pools: []deployment.Pool{{Layout: l}}}
}

// search32B is a request for Qwen3-32B on eight devices.
func search32B(device string) optimize.Request {
	return optimize.Request{
		Model: "Qwen/Qwen3-32B", Devices: []string{device}, NumDevices: 8, Input: 2000, Output: 500, Jobs: 2, ReservedGiB: new(0.0),
		Modelling: deployment.Modelling{Fusion: deployment.Compiled},
	}
}
