package replica

import (
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// New prepares a replica of a pool, which must have an engine.
func New(p *deployment.Served, prices cost.Coster) (*Replica, error) {
	g, err := graph.New(p.Spec)
	if err != nil {
		return nil, err
	}
	return along(p, step.NewCurve(g, prices))
}
