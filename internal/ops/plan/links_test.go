package plan

import (
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// TestLinks: nodes of a rack are connected by the rack's links, more nodes by the outer ones; caches go to every device of a decode worker.
func TestLinks(t *testing.T) {
	c := Contender{
		NodeGPUs: 4, Links: []device.LinkFacts{{Name: "outer", Size: 8}, {Name: "rack", Size: 72}}, Record: figures.Record{Rates: figures.Rates{RequestRate: figures.Estimate{Value: 10}}},
		Found: Found{Option: experiment.Option{Run: &simulate.Response{Sent: 64 * units.KiB}}},
		Run:   deployment.Deployment{Pools: []deployment.Pool{{Role: deployment.Prefill}, {Role: deployment.Decode, Layout: parallel.Layout{TP: 4, Devices: 4}}}},
	}
	for nodes, want := range map[int]string{2: "rack", 18: "rack", 19: "outer", 1000: "outer"} {
		if got := c.Between(nodes); got == nil || got.Name != want {
			t.Errorf("%d nodes: %v, want %s", nodes, got, want)
		}
	}
	if got := c.Within(); got == nil || got.Name != "rack" {
		t.Errorf("in a node: %v", got)
	}
	pairs := Contender{NodeGPUs: 8, Links: []device.LinkFacts{{Name: "outer", Size: 8}, {Name: "board", Size: 4}, {Name: "pair", Size: 2}}}
	if got := pairs.Within(); got == nil || got.Name != "board" {
		t.Errorf("in a node of pairs: %v", got)
	}
	if c.Between(1) != nil {
		t.Error("one node needs no link")
	}
	if f := c.flow(1000); f == nil || f.PerRequest != 4*65.536 || f.PerSecond != 4*0.65536 || f.Link != "rack" {
		t.Errorf("flow: %+v", f)
	}
	c.Run.Pools[1].Replicas = 18
	if f := c.flow(1000); f.Link != "outer" {
		t.Errorf("flow between 19 nodes: %+v", f)
	}
	c.NodeGPUs, c.Links, c.Run.Pools[1].Replicas = 8, []device.LinkFacts{{Name: "inter-node", Size: 128}, {Name: "nvlink", Size: 8}}, 1
	if f := c.flow(1000); f.Link != "nvlink" {
		t.Errorf("flow within a node: %+v", f)
	}
	c.Run.Pools = c.Run.Pools[:1]
	if c.flow(1000) != nil {
		t.Error("caches that go nowhere")
	}
}
