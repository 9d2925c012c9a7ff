package web

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// picture is a deployment: its workers on the GPUs of their nodes, and the way of a request.
type picture struct {
	About, More string
	SVG         template.HTML
	Roles       []role
}

// role is an entry of the key.
type role struct {
	Colour int
	Name   string
}

// The sizes of the picture in pixels: a GPU, the gaps around it, and the most nodes that are drawn.
const (
	gpu, gap, inset, head = 16, 4, 10, 22
	nodesInRow, mostNodes = 4, 16
)

// colourOf is the colour of a role.
func colourOf(r deployment.Role) (colour int, name string) {
	switch r {
	case deployment.Prefill:
		return 2, "prefill"
	case deployment.Decode:
		return 3, "decode"
	case deployment.Both:
	}
	return 1, "prefill and decode"
}

// pictureOf draws a contender, on up to so many nodes; nil where the nodes of its system are not known.
func pictureOf(c *plan.Contender, limit int) *picture {
	nodes := c.Placement()
	const most = 128 // GPUs of a node that can be told apart
	if nodes == nil || c.NodeGPUs > most {
		return nil
	}
	out := &picture{About: fmt.Sprintf("%s on %s of %s.", c.Deployment, units.Counted(len(nodes), "node"), units.Counted(c.NodeGPUs, "GPU"))}
	if n := len(nodes) - limit; n > 0 {
		out.More = units.Counted(n, "more node")
		nodes = nodes[:limit]
	}
	for i := range c.Run.Pools {
		colour, name := colourOf(c.Run.Pools[i].Role)
		out.Roles = append(out.Roles, role{colour, name})
	}
	columns := min(c.NodeGPUs, 8)
	rows := (c.NodeGPUs + columns - 1) / columns
	wide, high := columns*(gpu+gap)-gap+2*inset, rows*(gpu+gap)-gap+2*inset+head
	flow := 0
	if len(c.Run.Pools) > 1 {
		flow = 34
	}
	inRow := min(nodesInRow, len(nodes))
	lines := (len(nodes) + inRow - 1) / inRow
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="picture" viewBox="0 0 %d %d" role="img" aria-label="%s">`, inRow*(wide+gap)-gap, flow+lines*(high+gap)-gap, template.HTMLEscapeString(out.About))
	if flow > 0 {
		b.WriteString(`<text x="0" y="18">requests → router → prefill ─ KV cache → decode → tokens</text>`)
	}
	for i, node := range nodes {
		x, y := i%inRow*(wide+gap), flow+i/inRow*(high+gap)
		fmt.Fprintf(&b, `<rect class="node" x="%d" y="%d" width="%d" height="%d" rx="4"/><text x="%d" y="%d">node %d</text>`, x, y, wide, high, x+inset, y+16, i+1)
		at := 0
		for _, w := range node {
			colour, name := colourOf(w.Role)
			for range w.GPUs {
				fmt.Fprintf(&b, `<rect class="fill c%d" data-tip="%s worker %d, GPU %d of node %d" x="%d" y="%d" width="%d" height="%d" rx="2"/>`,
					colour, name, w.Number, at+1, i+1, x+inset+at%columns*(gpu+gap), y+head+at/columns*(gpu+gap), gpu, gpu)
				at++
			}
			if at%columns != 0 && w.GPUs > 1 { // a line between workers
				cx := x + inset + at%columns*(gpu+gap) - gap/2
				fmt.Fprintf(&b, `<path class="axis" d="M%d %dv%d"/>`, cx, y+head+at/columns*(gpu+gap)-2, gpu+4)
			}
		}
		for ; at < c.NodeGPUs; at++ {
			fmt.Fprintf(&b, `<rect class="idle" data-tip="free GPU of node %d" x="%d" y="%d" width="%d" height="%d" rx="2"/>`, i+1, x+inset+at%columns*(gpu+gap), y+head+at/columns*(gpu+gap), gpu, gpu)
		}
	}
	b.WriteString("</svg>")
	out.SVG = template.HTML(b.String()) // text in it is escaped
	return out
}
