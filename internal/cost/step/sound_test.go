package step_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/compat/tensorcast"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/memory"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// anyPolicy draws a step under either policy, on any device.
func anyPolicy(t *rapid.T) *point {
	policy := graph.Physical()
	if rapid.Bool().Draw(t, "tensorcast") {
		policy = tensorcast.Policy()
	}
	return anyPoint(t, policy, func(*device.Profile) bool { return true })
}

// sound fails the test unless every number is finite and not negative.
func sound[T ~float64](t *rapid.T, what string, numbers ...T) {
	t.Helper()
	for _, x := range numbers {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) || x < 0 {
			t.Fatalf("%s: %v", what, float64(x))
		}
	}
}

func TestNumbersAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy(t)
		r := p.evaluator(t).Evaluate(p.batch, rapid.Bool().Draw(t, "multistream"))
		sound(t, "result", r.Time, r.Hidden, r.Fixed, r.Bound.Memory, r.Bound.Comm, r.Bound.Cube, r.Bound.Vector)
		for i := range r.Items {
			it, c, w := &r.Items[i], &r.Costs[i], r.Items[i].Op.Work()
			name := it.Op.Name.String()
			if name == "" || it.Count <= 0 || it.Layers <= 0 {
				t.Fatalf("item %d: %+v", i, it)
			}
			sound(t, name+" count", it.Count)
			sound(t, name+" bytes", w.Bytes, it.Op.Payload)
			sound(t, name+" work", w.Matrix, w.Vector, w.Vector32)
			sound(t, name+" cost", c.Total, c.Matrix, c.Vector, c.Memory, c.Comm, c.Fixed)
		}
		u := memory.New(&p.spec).Use(p.batch, p.device.Memory, 0)
		sound(t, "memory", u.Weights, u.KV, u.Activation)
		if left := p.device.Memory - u.Weights - u.KV - u.Activation; math.Abs(float64(u.Available-left)) > 1 {
			t.Errorf("%v left, want %v", u.Available, left)
		}
	})
}

// TestSums: the short and the long evaluation agree, and their parts add up.
func TestSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy(t)
		e := p.evaluator(t)
		short, long, streams := e.Totals(p.batch), e.Evaluate(p.batch, false), e.Evaluate(p.batch, true)
		if short != long.Totals {
			t.Errorf("Totals %+v, Evaluate %+v", short, long.Totals)
		}
		var sum units.Seconds
		calls := 0.0
		for _, o := range long.Operators {
			sum, calls = sum+o.Time, calls+o.Calls
		}
		near := func(what string, want, got float64) {
			if math.Abs(got-want) > rounding*want {
				t.Errorf("%s: want %g, got %g", what, want, got)
			}
		}
		near("operators", float64(long.Time), float64(sum))
		near("streams", float64(long.Time), float64(streams.Time+streams.Hidden))
		for _, r := range []*step.Result{long, streams} {
			var parts units.Seconds
			for _, part := range r.Times {
				parts += part
			}
			near("parts", float64(r.Time), float64(parts))
		}
		items := 0.0
		for i := range long.Items {
			if !long.Items[i].Continues {
				items += long.Items[i].Count
			}
		}
		near("calls", items, calls)
	})
}

// TestOverlapHidesCommunication: what runs beside something else saves time, but
// no more than the communication that it may hide behind or be; TensorCast, which
// loses what waits for what, at most half of all.
func TestOverlapHidesCommunication(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy(t)
		p.spec.MatMulAllReduce = false
		serial := p.evaluator(t).Evaluate(p.batch, true)
		var sums, exchanges units.Seconds
		for i, it := range serial.Items {
			if c := serial.Costs[i].Total * units.Seconds(it.Count); it.Op.Kind == op.Collective {
				sums += c
				if it.Branch == 2 { // the routed experts' own
					exchanges += c
				}
			}
		}
		most := exchanges
		if p.spec.Policy.LostOrder {
			most = (serial.Time + serial.Hidden) / 2
		}
		if serial.Hidden > most*(1+rounding) {
			t.Errorf("%v hidden, at most %v can be", serial.Hidden, most)
		}
		p.spec.MatMulAllReduce = true
		saved := serial.Time + serial.Hidden - p.time(t)
		if slack := serial.Time * rounding; saved < -slack || saved > sums+slack {
			t.Errorf("products beside sums save %v of %v", saved, sums)
		}
	})
}

// TestAppendRepeats: a batch gives the same operators whatever lies in the
// memory they are written to.
func TestAppendRepeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy(t)
		g := p.evaluator(t).Graph()
		want := g.Append(nil, p.batch)
		dirty := slices.Clone(want)
		for i := range dirty {
			dirty[i] = op.Item{Op: op.Op{Bytes: 7, Expanded: 7, Launches: 7}, Beside: true, Branch: 7}
		}
		if got := g.Append(dirty[:0], p.batch); !slices.Equal(want, got) {
			t.Error("operators differ when the memory is used again")
		}
	})
}

func TestAloneIsSilent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy(t)
		p.spec.Layout = parallel.Layout{PP: p.spec.Layout.PP}
		p.spec.Layout.Devices = p.spec.Layout.PP
		p.spec.Layout = p.spec.Layout.Complete(p.spec.Model)
		p.spec.SharedExpertTP = false
		transfers := 0.0
		for _, it := range p.evaluator(t).Graph().Append(nil, p.batch) {
			switch it.Op.Kind {
			case op.Collective:
				t.Errorf("%v in a group of one", it.Op.Name)
			case op.Transfer:
				transfers += it.Count
			default:
			}
		}
		if want := float64(p.spec.Layout.PP - 1); transfers != want {
			t.Errorf("%g transfers between stages, want %g", transfers, want)
		}
	})
}

// TestSpeedOfLight: no operator is faster than the device's peaks allow.
func TestSpeedOfLight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := physical(t)
		r := p.evaluator(t).Evaluate(p.batch, false)
		for i := range r.Items {
			o, c := &r.Items[i].Op, &r.Costs[i]
			for what, least := range floor(p.device, o) {
				if float64(c.Total) < least*(1-rounding) {
					t.Errorf("%v takes %v, its %s alone %v", o.Name, c.Total, what, units.Seconds(least))
				}
			}
			if c.Total < c.Fixed || c.Total > sum(c) {
				t.Errorf("%v: total %v of parts %+v", o.Name, c.Total, *c)
			}
		}
	})
}

func sum(c *cost.Estimate) units.Seconds { return c.Matrix + c.Vector + c.Memory + c.Comm + c.Fixed }

// floor is the least time of each of an operator's demands at full peaks.
func floor(d *device.Profile, o *op.Op) map[string]float64 {
	w := o.Work()
	f := map[string]float64{
		"traffic":    float64(w.Bytes) / float64(d.Bandwidth),
		"products":   float64(w.Matrix) / best(&d.Matrix, w.MatrixIn),
		"arithmetic": float64(w.Vector) / best(&d.Vector, w.VectorIn),
		"float32":    float64(w.Vector32) / best(&d.Vector, dtype.F32),
	}
	if n := float64(o.Group.Size); n > 1 {
		f["wire"] = float64(o.Payload) * (n - 1) / n / bandwidth(d, o.Group)
	}
	return f
}

// best is the peak of a format, or without one the highest the device has.
func best(peaks *[dtype.Formats]units.OpsPerSecond, f dtype.Format) float64 {
	if peaks[f] > 0 {
		return float64(peaks[f])
	}
	return float64(slices.Max(peaks[:]))
}

// bandwidth is that of the outermost level on which members of a group differ,
// found by laying out every rank.
func bandwidth(d *device.Profile, g parallel.Group) float64 {
	for i := range d.Links {
		inside := 1
		for _, l := range d.Links[i+1:] {
			inside *= l.Size
		}
		for rank := range int(g.Size) {
			if rank*int(g.Stride)/inside > 0 {
				return float64(d.Links[i].Bandwidth)
			}
		}
	}
	return math.Inf(1)
}
