package device

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// render writes a profile as a file, exact to the last bit.
func render(p *Profile) string {
	var b strings.Builder
	num := func(x float64, exp int) string { // the shortest text of x, its exponent moved
		mantissa, e, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
		n, _ := strconv.Atoi(e)
		return mantissa + "e" + strconv.Itoa(n-exp)
	}
	peaks := func(name string, list [dtype.Formats]units.OpsPerSecond) {
		fmt.Fprintf(&b, "  %s:\n", name)
		for f := dtype.F32; f < dtype.Formats; f++ {
			fmt.Fprintf(&b, "    %v: %s\n", f, num(float64(list[f]), 12))
		}
	}
	fmt.Fprintf(&b, "name: %s\nvendor: %s\ntier: %s\nsource: %q\npeak_tflops:\n", p.Name, p.Vendor, p.Tier, p.Source)
	peaks("matrix", p.Matrix)
	peaks("vector", p.Vector)
	fmt.Fprintf(&b, "memory: {size_gib: %s, reported_gib: %s, bandwidth_gb_s: %s}\n",
		num(p.Memory.GiB(), 0), num(p.Reported.GiB(), 0), num(float64(p.Bandwidth), 9))
	fmt.Fprintf(&b, "efficiency: {compute: %s, memory: %s}\n", num(p.ComputeEfficiency, 0), num(p.MemoryEfficiency, 0))
	fmt.Fprintf(&b, "fixed_us: {matrix: %s, vector: %s, communication: %s}\n",
		num(float64(p.Fixed.Matrix), -6), num(float64(p.Fixed.Vector), -6), num(float64(p.Fixed.Communication), -6))
	b.WriteString("links: [\n")
	for _, l := range p.Links {
		fmt.Fprintf(&b, "  {name: %s, size: %d, bandwidth_gb_s: %s, latency_us: %s, efficiency: %s, topology: %s, transport: %s},\n",
			l.Name, l.Size, num(float64(l.Bandwidth), 9), num(float64(l.Latency), -6), num(l.Efficiency, 0), l.Topology, l.Transport)
	}
	fmt.Fprintf(&b, "]\nnode: %d\nrack: %d\npower_w: %s\nthrottle: %s\nread_again: %s\nprice: {usd_per_hour: %s, source: %q, class: %s, date: \"2026\", region: here}\n",
		p.Node, p.Rack, num(p.Power, 0), num(p.Throttle, 0), num(p.Again, 0), num(p.Price.USDPerHour, 0), p.Price.Source, p.Price.Class)
	return b.String()
}

// anyProfile draws a valid profile.
func anyProfile(t *rapid.T) *Profile {
	share := rapid.Float64Range(1e-6, 1)
	p := &Profile{
		Name:              rapid.StringMatching(`[a-zA-Z][A-Za-z0-9._-]{0,20}x`).Draw(t, "name"),
		Vendor:            rapid.SampledFrom(Vendors()).Draw(t, "vendor"),
		Tier:              rapid.SampledFrom([]Tier{Measured, Calibrated, Transferred, Datasheet}).Draw(t, "tier"),
		Memory:            units.Bytes(rapid.Float64Range(1e6, 1e13).Draw(t, "memory")),
		Bandwidth:         units.BytesPerSecond(rapid.Float64Range(1e6, 1e15).Draw(t, "bandwidth")),
		ComputeEfficiency: share.Draw(t, "compute"),
		MemoryEfficiency:  share.Draw(t, "memory efficiency"),
		Node:              1,
		Power:             rapid.Float64Range(0, 1e5).Draw(t, "power"),
		Throttle:          rapid.Float64Range(0, 1).Draw(t, "throttle"),
		Again:             rapid.Float64Range(0, 1).Draw(t, "again"),
		Price:             Price{USDPerHour: rapid.Float64Range(1, 1e5).Draw(t, "price"), Source: "a law", Class: rapid.SampledFrom([]PriceClass{OnDemand, GPUCloud, Reserved, Spot, Yours}).Draw(t, "class"), Date: "2026", Region: "here"},
		Source:            "a law",
	}
	p.Reported = p.Memory * units.Bytes(rapid.Float64Range(0.5, 1).Draw(t, "reported"))
	seconds := rapid.Float64Range(0, 1)
	p.Fixed = Fixed{
		units.Seconds(seconds.Draw(t, "matrix")),
		units.Seconds(seconds.Draw(t, "vector")),
		units.Seconds(seconds.Draw(t, "communication")),
	}
	for f := dtype.F32; f < dtype.Formats; f++ {
		p.Matrix[f] = units.OpsPerSecond(rapid.Float64Range(1, 1e18).Draw(t, "peak"))
		p.Vector[f] = units.OpsPerSecond(rapid.Float64Range(0, 1e18).Draw(t, "peak"))
	}
	p.Links = make([]Link, rapid.IntRange(0, 6).Draw(t, "levels"))
	for i := range p.Links {
		p.Links[i] = Link{
			Name:       "level" + strconv.Itoa(i),
			Size:       rapid.IntRange(2, 16).Draw(t, "size"),
			Bandwidth:  units.BytesPerSecond(rapid.Float64Range(1, 1e15).Draw(t, "link bandwidth")),
			Latency:    units.Seconds(seconds.Draw(t, "latency")),
			Efficiency: share.Draw(t, "link efficiency"),
			Topology:   rapid.SampledFrom([]Topology{Clos, FullMesh}).Draw(t, "topology"),
			Transport:  rapid.SampledFrom([]Transport{ThroughHost, Peer}).Draw(t, "transport"),
		}
		p.Node = p.Links[i].Size
	}
	return p
}

func TestParseUndoesRender(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyProfile(t)
		got, err := Parse([]byte(render(want)), "law.yaml")
		if err != nil {
			t.Fatalf("%v\n%s", err, render(want))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

// TestOverrideKeepsTheRest: a field named in a file changes and no other does.
func TestOverrideKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(Names()).Draw(t, "base")
		want, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		want.Base, want.Aliases = want.Name, nil
		text := "base: " + name + "\n"
		x := rapid.IntRange(1, 1000).Draw(t, "value")
		if rapid.Bool().Draw(t, "price") {
			text += fmt.Sprintf("price: {usd_per_hour: %d}\n", x)
			want.Price = Price{USDPerHour: float64(x), Source: "file law.yaml", Class: Yours}
		}
		if rapid.Bool().Draw(t, "bandwidth") {
			text += fmt.Sprintf("memory: {bandwidth_tib_s: %d}\n", x)
			want.Bandwidth = units.BytesPerSecond(units.Bytes(x) * units.TiB)
		}
		if rapid.Bool().Draw(t, "peak") {
			text += fmt.Sprintf("peak_tflops: {matrix: {fp4: %d}}\n", x)
			want.Matrix[dtype.FP4] = units.OpsPerSecond(x) * 1e12
		}
		if rapid.Bool().Draw(t, "power") {
			text += fmt.Sprintf("power_w: %d\n", x)
			want.Power = float64(x)
		}
		got, err := Parse([]byte(text), "law.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s(-want +got)\n%s", text, diff)
		}
	})
}

// FuzzParse: no input makes Parse panic or hang, an accepted profile is sound,
// and each line of an error names the file and a line in it.
func FuzzParse(f *testing.F) {
	for _, name := range Names() {
		text, err := Text(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, s := range []string{minimal, "base: h100\nlinks: [{name: nvlink}]\n", "a: &a [*a]", "a: *b", "[[[[", "? {a: b}\n: 1", "a: !!float x\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(data, "f.yaml")
		if err == nil {
			if p.Name == "" || p.Memory <= 0 || p.Bandwidth <= 0 || p.Node < 1 || p.Ranks()%p.Node != 0 {
				t.Errorf("unsound: %+v", p)
			}
			return
		}
		lines := strings.Count(string(data), "\n") + 1
		for text := range strings.SplitSeq(err.Error(), "\n") {
			var line int
			if n, _ := fmt.Sscanf(text, "f.yaml:%d: ", &line); n != 1 || line < 1 || line > lines+1 {
				t.Errorf("no line of the file in %q", text)
			}
		}
	})
}
