package step_test

import (
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// on is a deployment of a model with one pool.
func on(model, system string, l parallel.Layout) deployment.Deployment {
	return deployment.Deployment{Model: model, System: system, Pools: []deployment.Pool{{Layout: l}}}
}

// flat is a request for a step with its deployment written in one line.
type flat struct {
	Model, Device                       string
	Layout                              parallel.Layout
	Queries, QueryLength, ContextLength int
	Decode                              bool
	MTP                                 int
	LinearAction, AttentionAction       dtype.Action
	MatMulAllReduce                     bool
	Policy                              string
	Pricing                             prices.Pricing
	Fusion                              deployment.Fusion
	Engine                              string
	Set                                 []string
}

// request is the same as the operation takes it.
func (f flat) request() step.Request {
	d := on(f.Model, f.Device, f.Layout)
	d.Pools[0].MTP = f.MTP
	d.Engine = deployment.Engine{Name: f.Engine, Settings: f.Set}
	d.Formats = deployment.Formats{Linear: f.LinearAction, Attention: f.AttentionAction}
	d.Modelling = deployment.Modelling{Policy: f.Policy, Pricing: f.Pricing, Fusion: f.Fusion, MatMulAllReduce: f.MatMulAllReduce}
	return step.Request{
		Deployment: d, Queries: f.Queries, QueryLength: f.QueryLength, ContextLength: f.ContextLength, Decode: f.Decode,
	}
}
