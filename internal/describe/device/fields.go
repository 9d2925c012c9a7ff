package device

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// The defaults of a profile, the same as in profile.schema.json.
const (
	defaultCompute       = 0.75 // by judgement, until calibrated
	defaultMemory        = 0.8  // as AIConfigurator has it for all its systems
	defaultLink          = 0.8
	defaultLaunch        = 3e-6  // seconds; AIConfigurator's constant per memory operator
	defaultCommunication = 10e-6 // seconds; AIConfigurator's p2p latency
)

// Upper bounds, at least a hundred times the values of today's devices.
const (
	maxTFLOPS       = 10_000_000
	maxGiB          = 1_000_000
	maxGBs          = 10_000_000
	maxTiBs         = 10_000
	maxMicroseconds = 1_000_000
	maxWatts        = 1_000_000
	maxUSD          = 1_000_000
	maxAliases      = 16
)

// profile reads the root mapping over its base or over the defaults.
func (r *reader) profile(root *yaml.Node) *Profile {
	p, derived := r.start(root)
	seen := r.Mapping("", root,
		field("name", r.name(&p.Name)),
		field("base", func(string, *yaml.Node) {}), // read by start
		field("aliases", r.aliases(&p.Aliases)),
		field("vendor", word(r, &p.Vendor, Vendors()...)),
		field("generation", r.line(&p.Generation)),
		field("description", r.line(&p.Description)),
		field("source", r.line(&p.Source)),
		field("tier", word(r, &p.Tier, Measured, Calibrated, Transferred, Datasheet)),
		field("peak_tflops", r.peaks(p, derived)),
		field("memory", r.memory(p, derived)),
		field("efficiency", r.mapping(
			field("compute", scaledTo(r, &p.ComputeEfficiency, 0, strictyaml.Share())),
			field("memory", scaledTo(r, &p.MemoryEfficiency, 0, strictyaml.Share())),
		)),
		field("fixed_us", r.mapping(
			field("matrix", scaledTo(r, &p.Fixed.Matrix, -6, atLeast0(maxMicroseconds))),
			field("vector", scaledTo(r, &p.Fixed.Vector, -6, atLeast0(maxMicroseconds))),
			field("communication", scaledTo(r, &p.Fixed.Communication, -6, atLeast0(maxMicroseconds))),
		)),
		field("links", r.links(&p.Links)),
		field("node", r.whole(&p.Node, span{Low: 1, High: maxDevices})),
		field("rack", r.whole(&p.Rack, atLeast0(maxDevices))),
		field("power_w", scaledTo(r, &p.Power, 0, atLeast0(maxWatts))),
		field("throttle", scaledTo(r, &p.Throttle, 0, atLeast0(1))),
		field("read_again", scaledTo(r, &p.Again, 0, atLeast0(1))),
		field("price", r.price(p)),
	)
	if !derived {
		r.Require("", root, seen, "name", "vendor", "peak_tflops", "memory")
	}
	r.check(p, root, seen)
	return p
}

// start returns the base profile, or the defaults, and whether there is a base.
func (r *reader) start(root *yaml.Node) (p *Profile, derived bool) {
	fresh := &Profile{
		Tier:              Datasheet,
		ComputeEfficiency: defaultCompute,
		MemoryEfficiency:  defaultMemory,
		Fixed:             Fixed{defaultLaunch, defaultLaunch, defaultCommunication},
		Source:            "file " + r.File,
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != "base" {
			continue
		}
		n := root.Content[i+1]
		name, ok := r.text("base", n)
		if !ok {
			return fresh, true
		}
		p, err := Lookup(name)
		if err != nil {
			r.Add(n.Line, "base", "%v", err)
			return fresh, true
		}
		p.Base, p.Aliases = p.Name, nil
		return p, true
	}
	return fresh, false
}

func (r *reader) peaks(p *Profile, derived bool) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		seen := r.Mapping(path, n,
			field("matrix", r.unit(&p.Matrix, derived, "bf16", "f16")),
			field("vector", r.unit(&p.Vector, derived, "f32", "bf16", "f16")),
		)
		if !derived {
			r.Require(path, n, seen, "matrix", "vector")
		}
	}
}

// unit reads the peaks of the matrix or vector unit, by format.
func (r *reader) unit(dst *[dtype.Formats]units.OpsPerSecond, derived bool, needs ...string) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		var fields []strictyaml.Field
		for f := dtype.F32; f < dtype.Formats; f++ {
			fields = append(fields, field(f.String(), scaledTo(r, &dst[f], 12, atLeast0(maxTFLOPS))))
		}
		seen := r.Mapping(path, n, fields...)
		if !derived {
			r.Require(path, n, seen, needs...)
		}
	}
}

// memory reads size and bandwidth. Sizes are binary; the bandwidth is binary or
// decimal by its key, because Ascend uses the former and other vendors the latter.
func (r *reader) memory(p *Profile, derived bool) func(string, *yaml.Node) {
	const decimalKey, binaryKey = "bandwidth_gb_s", "bandwidth_tib_s"
	return func(path string, n *yaml.Node) {
		seen := r.Mapping(path, n,
			field("size_gib", binaryTo(r, &p.Memory, units.GiB, positive(maxGiB))),
			field("reported_gib", binaryTo(r, &p.Reported, units.GiB, positive(maxGiB))),
			field(decimalKey, scaledTo(r, &p.Bandwidth, 9, positive(maxGBs))),
			field(binaryKey, binaryTo(r, &p.Bandwidth, units.TiB, positive(maxTiBs))),
		)
		r.reported(p, path, seen)
		_, isDecimal := seen[decimalKey]
		_, isBinary := seen[binaryKey]
		if isDecimal && isBinary {
			r.Add(max(seen[decimalKey], seen[binaryKey]), path, "give %s or %s, not both", decimalKey, binaryKey)
		}
		if derived || seen == nil {
			return
		}
		r.Require(path, n, seen, "size_gib")
		if !isDecimal && !isBinary {
			r.Add(n.Line, path, "missing %s or %s", decimalKey, binaryKey)
		}
	}
}

// reported checks the memory visible to a process. A new size makes that of the base unknown.
func (r *reader) reported(p *Profile, path string, seen map[string]int) {
	at, given := seen["reported_gib"]
	_, sized := seen["size_gib"]
	switch {
	case sized && !given:
		p.Reported = 0
	case given && p.Memory > 0 && p.Reported > p.Memory:
		r.Add(at, path+".reported_gib", "must be at most size_gib (%g), got %g", p.Memory.GiB(), p.Reported.GiB())
	}
}

// mapping reads a mapping, none of whose fields must be there.
func (r *reader) mapping(fields ...strictyaml.Field) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) { r.Mapping(path, n, fields...) }
}

// price reads the list price. A new price without a source does not keep the
// source of the old one.
func (r *reader) price(p *Profile) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		p.Price = Price{Source: "file " + r.File, Class: Yours}
		seen := r.Mapping(path, n,
			field("usd_per_hour", scaledTo(r, &p.Price.USDPerHour, 0, atLeast0(maxUSD))),
			field("source", r.line(&p.Price.Source)),
			field("class", word(r, &p.Price.Class, OnDemand, GPUCloud, Reserved, Spot, Yours)),
			field("date", r.line(&p.Price.Date)),
			field("region", r.line(&p.Price.Region)),
		)
		r.Require(path, n, seen, "usd_per_hour")
		if p.Price.USDPerHour == 0 {
			p.Price.Class = ""
		}
	}
}

func (r *reader) name(dst *string) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		s, ok := r.text(path, n)
		if ok && !deviceName.MatchString(s) {
			r.Add(n.Line, path, "must be 1 to 64 letters, digits, '.', '_' or '-', got %s", show(s))
			return
		}
		if ok {
			*dst = s
		}
	}
}

func (r *reader) aliases(dst *[]string) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		if n.Kind != yaml.SequenceNode || len(n.Content) > maxAliases {
			r.Add(n.Line, path, "must be a list of at most %d names, got %s", maxAliases, r.KindOf(n))
			return
		}
		list := make([]string, len(n.Content))
		for i, item := range n.Content {
			r.name(&list[i])(index(path, i), item)
		}
		*dst = slices.Clip(list)
	}
}
