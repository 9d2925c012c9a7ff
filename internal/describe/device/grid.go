package device

import (
	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Bounds of the grid of links.
const (
	maxLevels  = 6
	maxDevices = 1 << 24
)

// links reads the levels of the interconnect. The list replaces that of the base; a level
// with the name of a base level inherits its unset fields.
func (r *reader) links(dst *[]Link) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			r.Add(n.Line, path, "must be a list of levels, outermost first, got %s", r.KindOf(n))
			return
		}
		if len(n.Content) > maxLevels {
			r.Add(n.Line, path, "must have at most %d levels, got %d", maxLevels, len(n.Content))
			return
		}
		list := make([]Link, len(n.Content))
		for i, item := range n.Content {
			list[i] = r.link(index(path, i), item, *dst)
			for j := range i {
				if list[i].Name != "" && list[j].Name == list[i].Name {
					r.Add(item.Line, index(path, i)+".name", "two levels have the name %s", show(list[i].Name))
				}
			}
		}
		*dst = list
	}
}

// link reads one level, over the level of the base that has its name.
func (r *reader) link(path string, n *yaml.Node, base []Link) Link {
	l := Link{Efficiency: defaultLink, Topology: Clos, Transport: ThroughHost}
	inherits := false
	for _, b := range base {
		if b.Name == nameOf(n) {
			l, inherits = b, true
		}
	}
	seen := r.Mapping(path, n,
		field("name", r.name(&l.Name)),
		field("size", r.whole(&l.Size, span{Low: 2, High: maxDevices})),
		field("bandwidth_gb_s", scaledTo(r, &l.Bandwidth, 9, positive(maxGBs))),
		field("latency_us", scaledTo(r, &l.Latency, -6, atLeast0(maxMicroseconds))),
		field("efficiency", scaledTo(r, &l.Efficiency, 0, strictyaml.Share())),
		field("topology", word(r, &l.Topology, Clos, FullMesh)),
		field("transport", word(r, &l.Transport, ThroughHost, Peer)),
	)
	r.Require(path, n, seen, "name")
	if !inherits {
		r.Require(path, n, seen, "size", "bandwidth_gb_s", "latency_us")
	}
	return l
}

// nameOf is the name a level gives itself.
func nameOf(n *yaml.Node) string {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "name" {
			return n.Content[i+1].Value
		}
	}
	return ""
}

// check checks that nodes fit the grid. It runs only on a file without other problems.
func (r *reader) check(p *Profile, root *yaml.Node, seen map[string]int) {
	if len(r.List) > 0 {
		return
	}
	line := func(keys ...string) int {
		for _, k := range keys {
			if l, ok := seen[k]; ok {
				return l
			}
		}
		return root.Line
	}
	if p.Matrix[dtype.BF16] == 0 && p.Matrix[dtype.F16] == 0 {
		r.Add(line("peak_tflops"), "peak_tflops.matrix", "bf16 and f16 are both 0")
	}
	ranks := 1
	for _, l := range p.Links {
		if ranks *= l.Size; ranks > maxDevices { // checked at each level: no overflow
			r.Add(line("links"), "links", "the links connect more than %d devices", maxDevices)
			return
		}
	}
	if p.Node == 0 {
		p.Node = innermost(p.Links)
	}
	if ranks%p.Node != 0 {
		r.Add(line("node", "links"), "node", "the %d devices of a node do not divide the %d that the links connect", p.Node, ranks)
	}
	if p.Rack != 0 && (p.Rack%p.Node != 0 || ranks%p.Rack != 0) {
		r.Add(line("rack", "node", "links"), "rack",
			"the %d devices of a rack must be a multiple of the node's %d and divide the %d that the links connect", p.Rack, p.Node, ranks)
	}
}

// innermost is the size of the innermost group: a node by default.
func innermost(links []Link) int {
	if len(links) == 0 {
		return 1
	}
	return links[len(links)-1].Size
}
