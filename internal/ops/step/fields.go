package step

import (
	"github.com/plimsoll-project/plimsoll/internal/ask"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Form is a request as it is typed.
type Form struct {
	request Request
	pool    deployment.Pool
	table   *ask.Table
}

// NewForm is a form with the defaults of the command line.
func NewForm() *Form {
	f := &Form{}
	r, d, p := &f.request, &f.request.Deployment, &f.pool
	d.System = DefaultDevice
	r.Queries = 1
	t := ask.New(r, p)
	f.table = t
	t.Argument(&d.Model)
	t.In("Model")
	session.AskFamily(t, &d.AsFamily)
	t.In("Hardware")
	ask.One(t, &d.System, "device", ask.Text, "device profile (plimsoll devices lists them)").Always()
	session.AskDeviceFile(t, &r.DeviceFile)
	session.AskPerfData(t, &r.PerfData)
	ask.One(t, &r.ReservedGiB, "reserved-memory-gb", ask.Number, "memory reserved on each device, in GiB")
	t.In("Engine")
	session.AskEngine(t, &d.Engine, "also predict the step time under the engine `NAME`, with host work")
	t.In("Layout")
	session.AskLayout(t, &p.Layout, "number of devices (default 1)", "data parallelism (default devices / (TP·PP))")
	p.Layout.MoEDP, p.Layout.DCP = 1, 1
	ask.One(t, &p.Layout.MoEDP, "moe-dp-size", ask.Whole, "MoE data parallelism: copies of the experts")
	ask.One(t, &p.Layout.DCP, "dcp-size", ask.Whole, "decode context parallelism inside a TP group")
	session.AskSharding(t, &d.Modelling)
	t.In("Batch")
	ask.One(t, &r.Queries, "num-queries", ask.Whole, "number of requests over all data-parallel ranks").Always()
	ask.One(t, &r.QueryLength, "query-length", ask.Whole, "new tokens per request (decode: 1 + MTP tokens)")
	ask.One(t, &r.ContextLength, "context-length", ask.Whole, "tokens per request cached before the step")
	ask.Switch(t, &r.Decode, "decode", "a decode step: logits for every new token")
	ask.One(t, &p.MTP, "num-mtp-tokens", ask.Whole, "draft tokens per step (MTP)")
	ask.One(t, &r.PrefixHitRate, "prefix-cache-hit-rate", ask.Number, "share of a prompt found in the prefix cache")
	session.AskImages(t, &r.ImageBatch, &r.ImageHeight, &r.ImageWidth)
	t.In("Number formats")
	session.AskFormats(t, &d.Formats)
	session.AskExpertFormats(t, &d.Formats)
	t.In("Modelling")
	session.AskModelling(t, &d.Modelling, ask.Mark{Word: "enable_multistream", On: &r.Multistream})
	ask.One(t, &r.Layers, "num-hidden-layers-override", ask.Whole, "evaluate only the first `layers` of the model")
	t.In("Output")
	session.AskCalibration(t, &r.Calibration, "80 % intervals, and with --engine the engine's times,")
	return f
}

// Table is the fields of the form.
func (f *Form) Table() *ask.Table { return f.table }

// Layout is the layout that was typed, with the sizes filled in that it leaves open.
func (f *Form) Layout() parallel.Layout { return f.pool.Layout.Filled() }

// Say fills the form with a request.
func (f *Form) Say(r *Request) {
	f.request = *r
	f.request.complete()
	f.pool = f.request.Deployment.Pools[0]
	f.pool.Layout = f.pool.Layout.Short()
}

// Ask is the request that was typed.
func (f *Form) Ask() (Request, error) {
	r := f.request
	if r.DeviceFile != "" && !f.table.Given("device") {
		r.Deployment.System = ""
	}
	r.Deployment.Pools = []deployment.Pool{f.pool}
	return r, f.table.Check()
}

// CommandLine asks for the request; "" where flags cannot.
func (r *Request) CommandLine() string {
	compared := func(r Request) any {
		r.complete()
		p := &r.Deployment.Pools[0]
		p.Layout = p.Layout.Short()
		return r
	}
	return ask.Line("plimsoll step", func() ask.Form[Request] { return NewForm() }, compared, r)
}
