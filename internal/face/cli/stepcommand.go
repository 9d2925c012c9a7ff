package cli

import (
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
)

// stepCommand is the command line of a step request.
func stepCommand(r *step.Request) string {
	d, p := &r.Deployment, &r.Deployment.Pools[0]
	l := &p.Layout
	c := commandLine{"plimsoll step", launch.Quote(d.Model)}
	c.add(d.AsFamily != "", "as-family", d.AsFamily)
	c.add(r.DeviceFile == "" || d.System != "", "device", d.System)
	c.sources(&r.Sources)
	c.engine(&d.Engine)
	c.add(l.Devices > 0, "num-devices", l.Devices)
	c.add(l.TP > 0, "tp-size", l.TP)
	c.add(l.DP > 0 && l.Devices != l.TP*l.PP*l.DP, "dp-size", l.DP)
	c.add(l.PP > 1, "pp-size", l.PP)
	experts := l.EP*l.MoETP*l.MoEDP > 1
	c.add(experts || l.EP > 1, "ep-size", l.EP)
	c.add(experts, "moe-tp-size", l.MoETP)
	c.add(experts || l.MoEDP > 1, "moe-dp-size", l.MoEDP)
	c.add(l.DCP > 1, "dcp-size", l.DCP)
	c.add(true, "num-queries", r.Queries)
	c.add(r.QueryLength > 0, "query-length", r.QueryLength)
	c.add(r.ContextLength > 0, "context-length", r.ContextLength)
	c.add(r.PrefixHitRate > 0, "prefix-cache-hit-rate", r.PrefixHitRate)
	c.add(r.ReservedGiB > 0, "reserved-memory-gb", r.ReservedGiB)
	c.add(r.Layers > 0, "num-hidden-layers-override", r.Layers)
	c.images(r.ImageHeight, r.ImageWidth)
	c.add(r.ImageBatch > 0, "image-batch-size", r.ImageBatch)
	c.word(r.Decode, "--decode")
	c.add(p.MTP > 0, "num-mtp-tokens", p.MTP)
	c.formats(&d.Formats)
	c.modelling(&d.Modelling, r.Multistream)
	return c.String()
}
