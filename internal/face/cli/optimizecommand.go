package cli

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// optimizeCommand is the command line of a search. Lengths names the file of a distribution, of which a request holds only
// the content.
func optimizeCommand(r *optimize.Request, lengths string) string {
	c := commandLine{"plimsoll throughput-optimizer", launch.Quote(r.Model)}
	c.add(r.AsFamily != "", "as-family", r.AsFamily)
	list(&c, "device", r.Devices)
	c.sources(&r.Sources)
	c.add(true, "num-devices", r.NumDevices)
	c.lengths("input-length", r.Input, "length-distribution", r.Distribution, lengths)
	c.add(true, "output-length", r.Output)
	c.limit("ttft-limit", r.Limits.TTFT)
	c.limit("tpot-limit", r.Limits.TPOT)
	c.limit("request-latency", r.Limits.Latency)
	c.word(r.Disagg, "--disagg")
	c.word(r.PDRatio, "--enable-optimize-prefill-decode-ratio")
	c.add(r.PrefillDevices > 0, "prefill-devices-per-instance", r.PrefillDevices)
	c.add(r.DecodeDevices > 0, "decode-devices-per-instance", r.DecodeDevices)
	c.add(r.AutoBudget, "max-batched-tokens", "auto")
	c.add(r.Budget > 0, "max-batched-tokens", r.Budget)
	c.add(r.PrefixHitRate > 0, "prefix-cache-hit-rate", r.PrefixHitRate)
	c.add(r.ServingCost > 0 && !math.IsInf(float64(r.ServingCost), 1), "serving-cost", r.ServingCost.TypedMs())
	list(&c, "batch-range", r.BatchRange)
	c.add(r.ReservedGiB != nil, "reserved-memory-gb", value(r.ReservedGiB))
	c.add(r.Accounting != "", "accounting", r.Accounting)
	c.space(r)
	c.draft(&r.Draft)
	c.images(r.ImageHeight, r.ImageWidth)
	c.add(r.ImageBatch > 0, "image-batch-size", r.ImageBatch)
	c.formats(&r.Formats)
	c.modelling(&r.Modelling, false)
	c.add(r.Evaluate != "", "evaluate", r.Evaluate)
	c.add(r.Confidence != search.DefaultConfidence, "confidence", r.Confidence)
	if e := r.Engine; e.Name != simulate.DefaultEngine || e.Version != "" || len(e.Settings) > 0 {
		c.engine(&e)
	}
	c.add(r.LengthLow != 1, "length-ratio-low", r.LengthLow)
	c.add(r.Price > 0, "price", r.Price)
	c.word(r.Explain, "--explain")
	return c.String()
}

// value is what a pointer points at, 0 for none.
func value(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// space adds the sizes to search.
func (c *commandLine) space(r *optimize.Request) {
	s := &r.Space
	list(c, "tp-sizes", s.TP)
	list(c, "ep-sizes", s.EP)
	list(c, "moe-dp-sizes", s.MoEDP)
	list(c, "pp-sizes", s.PP)
	list(c, "dcp-sizes", s.DCP)
	list(c, "num-mtp-tokens", s.MTP)
	list(c, "mtp-acceptance-rates", r.AcceptanceRates)
}

// draft adds a draft model, if there is one.
func (c *commandLine) draft(d *optimize.Draft) {
	if d.Method == "" {
		return
	}
	c.add(true, "speculative-method", d.Method)
	c.add(true, "num-speculative-tokens", d.Block-1)
	c.add(true, "acceptance-length", d.Accepted)
	c.add(true, "num-draft-layers", d.Layers)
}
