package web

import (
	"fmt"
	"html/template"
	"strings"
	"unicode/utf8"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// picture is a deployment: its workers on the GPUs of their nodes, the links between them, and the way of a request.
type picture struct {
	About, More string
	SVG         template.HTML
	Roles       []role
	Links       []role
}

// role is an entry of the key.
type role struct {
	Colour int
	Name   string
}

// The sizes of the picture in pixels: a GPU, the gaps around it, and the most nodes that are drawn.
const (
	gpu, gap, inset, head = 16, 4, 10, 22
	between               = 18 // room for the links below a row of nodes
	nodesInRow, mostNodes = 4, 16
)

// The colours of links, within a node and between nodes.
const colourWithin, colourBetween = 6, 5

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
	inner, outer := c.Within(), c.Between(len(nodes))
	out.link(colourWithin, inner)
	out.link(colourBetween, outer)
	if n := len(nodes) - limit; n > 0 {
		out.More = units.Counted(n, "more node")
		nodes = nodes[:limit]
	}
	for i := range c.Run.Pools {
		colour, name := colourOf(c.Run.Pools[i].Role)
		out.Roles = append(out.Roles, role{colour, name})
	}
	d := floor{columns: min(c.NodeGPUs, 8), inRow: min(nodesInRow, len(nodes))}
	d.rows = (c.NodeGPUs + d.columns - 1) / d.columns
	d.wide, d.high = d.columns*(gpu+gap)-gap+2*inset, d.rows*(gpu+gap)-gap+2*inset+head
	d.width = d.inRow*(d.wide+gap) - gap
	d.flow(c)
	for i, node := range nodes {
		d.node(c, i, node, inner != nil)
	}
	lines := (len(nodes) + d.inRow - 1) / d.inRow
	if outer != nil {
		d.spine(len(nodes), lines)
	}
	out.SVG = template.HTML(fmt.Sprintf(`<svg class="picture" viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>`, // text in it is escaped
		d.width, d.top+lines*(d.high+between), template.HTMLEscapeString(out.About), d.String()))
	return out
}

// link adds a link to the key.
func (p *picture) link(colour int, l *device.LinkFacts) {
	if l != nil {
		p.Links = append(p.Links, role{colour, fmt.Sprintf("%s: %s GB/s per GPU", l.Name, number(l.BandwidthGBs))})
	}
}

// floor is a picture in the making: nodes and links.
type floor struct {
	strings.Builder

	columns, rows, wide, high int // of a node
	inRow, width, top         int
}

// place is the corner of a node.
func (d *floor) place(i int) (x, y int) {
	return i % d.inRow * (d.wide + gap), d.top + i/d.inRow*(d.high+between)
}

// flow draws the way of a request and of its KV cache.
func (d *floor) flow(c *plan.Contender) {
	if len(c.Run.Pools) < 2 {
		return
	}
	cache := "KV cache"
	if f := c.KVFlow; f != nil {
		cache = fmt.Sprintf("KV cache, %s MB each, %s GB/s, %s", number(f.PerRequest), number(f.PerSecond), f.Link)
	}
	const high, y, letter, arrow = 22, 2, 6, 26
	x := 0
	box := func(words string) {
		wide := letter*utf8.RuneCountInString(words) + 14
		fmt.Fprintf(d, `<rect class="node" x="%d" y="%d" width="%d" height="%d" rx="4"/><text class="on" x="%d" y="%d">%s</text>`, x, y, wide, high, x+7, y+15, template.HTMLEscapeString(words))
		x += wide
	}
	to := func(class string, wide int, words string) {
		fmt.Fprintf(d, `<path class="%s" d="M%d %dh%dm-5 -4l5 4l-5 4"/>`, class, x+2, y+high/2, wide-4)
		if words != "" {
			fmt.Fprintf(d, `<text x="%d" y="%d">%s</text>`, x+8, y+high+13, template.HTMLEscapeString(words))
		}
		x += wide
	}
	pool := func(i int) string {
		p := &c.Run.Pools[i]
		_, name := colourOf(p.Role)
		return fmt.Sprintf("%s × %d", name, max(1, p.Replicas))
	}
	box("requests")
	to("way", arrow, "")
	box("router")
	to("way", arrow, "")
	box(pool(0))
	to("way kv", 70, cache)
	box(pool(len(c.Run.Pools) - 1))
	to("way", arrow, "")
	box("tokens")
	d.top, d.width = high+24, max(d.width, x)
}

// node draws the workers of a node on its GPUs, and the link between these.
func (d *floor) node(c *plan.Contender, i int, workers []plan.Worker, linked bool) {
	x, y := d.place(i)
	fmt.Fprintf(d, `<rect class="node" x="%d" y="%d" width="%d" height="%d" rx="4"/><text x="%d" y="%d">node %d</text>`, x, y, d.wide, d.high, x+inset, y+16, i+1)
	if linked {
		for row := range d.rows {
			n := min(d.columns, c.NodeGPUs-row*d.columns)
			fmt.Fprintf(d, `<path class="way c%d" d="M%d %dh%d"/>`, colourWithin, x+inset+gpu/2, y+head+row*(gpu+gap)+gpu/2, (n-1)*(gpu+gap))
		}
	}
	at := 0
	for _, w := range workers {
		colour, name := colourOf(w.Role)
		for range w.GPUs {
			fmt.Fprintf(d, `<rect class="fill c%d" data-tip="%s worker %d, GPU %d of node %d" x="%d" y="%d" width="%d" height="%d" rx="2"/>`,
				colour, name, w.Number, at+1, i+1, x+inset+at%d.columns*(gpu+gap), y+head+at/d.columns*(gpu+gap), gpu, gpu)
			at++
		}
		if at%d.columns != 0 && w.GPUs > 1 { // a line between workers
			cx := x + inset + at%d.columns*(gpu+gap) - gap/2
			fmt.Fprintf(d, `<path class="axis" d="M%d %dv%d"/>`, cx, y+head+at/d.columns*(gpu+gap)-2, gpu+4)
		}
	}
	for ; at < c.NodeGPUs; at++ {
		fmt.Fprintf(d, `<rect class="idle" data-tip="free GPU of node %d" x="%d" y="%d" width="%d" height="%d" rx="2"/>`, i+1, x+inset+at%d.columns*(gpu+gap), y+head+at/d.columns*(gpu+gap), gpu, gpu)
	}
}

// spine draws the link between nodes: a line below each row, joined at the left.
func (d *floor) spine(nodes, lines int) {
	const below = 10
	line := func(i int) int { _, y := d.place(i * d.inRow); return y + d.high + below }
	for i := range nodes {
		x, y := d.place(i)
		fmt.Fprintf(d, `<path class="way c%d" d="M%d %dv%d"/>`, colourBetween, x+d.wide/2, y+d.high, below)
	}
	from := d.wide / 2
	if lines > 1 {
		from = 2
	}
	for i := range lines {
		last := min(d.inRow, nodes-i*d.inRow) - 1
		end, _ := d.place(last)
		fmt.Fprintf(d, `<path class="way c%d" d="M%d %dH%d"/>`, colourBetween, from, line(i), end+d.wide/2)
	}
	if lines > 1 {
		fmt.Fprintf(d, `<path class="way c%d" d="M2 %dV%d"/>`, colourBetween, line(0), line(lines-1))
	}
}
