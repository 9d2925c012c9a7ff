package parallel_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

type layout = parallel.Layout

// dense has 32 heads on 8 key/value heads, mixture 8 experts besides.
func dense() *model.Model {
	return &model.Model{
		Layers: make([]int, 12),
		Kinds:  []model.Layer{{Attention: model.Attention{Kind: model.GQA, Heads: 32, KVHeads: 8}}},
	}
}

func mixture() *model.Model {
	m := dense()
	m.Kinds[0].FFN = model.FFN{Kind: model.MoE, Experts: 8}
	return m
}

func TestComplete(t *testing.T) {
	for _, c := range []struct {
		model      *model.Model
		give, want layout
	}{
		{dense(), layout{}, layout{1, 1, 1, 1, 1, 1, 1, 1}},
		{dense(), layout{Devices: 16, TP: 4, PP: 2}, layout{16, 4, 2, 2, 1, 1, 1, 1}},
		{dense(), layout{Devices: 8, EP: 4, MoETP: 2, MoEDP: 3}, layout{8, 1, 8, 1, 1, 1, 1, 1}}, // no experts to cut
		{mixture(), layout{Devices: 16, TP: 4}, layout{16, 4, 4, 1, 1, 16, 1, 1}},
		{mixture(), layout{Devices: 16, TP: 4, EP: 4, MoEDP: 2, PP: 2}, layout{16, 4, 2, 2, 4, 1, 2, 1}},
		{mixture(), layout{Devices: 4, TP: 2, DP: 1, DCP: 2}, layout{4, 2, 1, 1, 1, 4, 1, 2}}, // what is given stays
		{dense(), layout{Devices: 4, TP: 8}, layout{4, 8, 1, 1, 1, 1, 1, 1}},                  // Check's to refuse
		{dense(), layout{Devices: 4, TP: math.MaxInt, PP: math.MaxInt}, layout{4, math.MaxInt, 1, math.MaxInt, 1, 1, 1, 1}},
	} {
		if got := c.give.Complete(c.model); got != c.want {
			t.Errorf("%+v: want %+v, got %+v", c.give, c.want, got)
		}
	}
}

func TestCheck(t *testing.T) {
	wide := mixture()
	wide.Kinds = append(wide.Kinds, wide.Kinds[0], wide.Kinds[0])
	for _, c := range []struct {
		model *model.Model
		give  layout
		want  string
	}{
		{dense(), layout{Devices: 4, TP: 2, PP: 2}, ""},
		{dense(), layout{Devices: 32, TP: 32}, ""}, // key/value heads are copied
		{mixture(), layout{Devices: 8, TP: 4, EP: 8}, ""},
		{dense(), layout{Devices: 4, TP: -2}, "tp_size must be between 1 and 32768, got -2"},
		{dense(), layout{Devices: -1, DP: -3}, "num_devices must be between 1 and 32768, got -1\n" +
			"dp_size must be between 1 and 32768, got -3"},
		{mixture(), layout{Devices: 2, EP: -1, MoEDP: -1, MoETP: -1, DCP: -1}, "ep_size must be between 1 and 32768, got -1\n" +
			"moe_tp_size must be between 1 and 32768, got -1\nmoe_dp_size must be between 1 and 32768, got -1\n" +
			"dcp_size must be between 1 and 32768, got -1"},
		{dense(), layout{Devices: 4, PP: 1 << 62, TP: 4}, "pp_size must be between 1 and 32768, got 4611686018427387904"},
		{dense(), layout{Devices: 8, TP: 2, DP: 2}, "TP 2 × DP 2 × PP 1 = 4 does not equal the 8 devices"},
		{dense(), layout{Devices: 32768, TP: 32768, DP: 32768, PP: 12}, "TP 32768 × DP 32768 × PP 12 = 12884901888 does not equal " +
			"the 32768 devices\ntp_size 32768 does not divide the model's 32 attention heads"},
		{mixture(), layout{Devices: 8, TP: 8, EP: 3}, "EP 3 × MoE-TP 2 × MoE-DP 1 × PP 1 = 6 does not equal the 8 devices"},
		{dense(), layout{Devices: 13, PP: 13}, "pp_size 13 is more than the model's 12 layers"},
		{dense(), layout{Devices: 4, TP: 4, DCP: 3}, "dcp_size 3 does not divide tp_size 4"},
		{dense(), layout{Devices: 3, TP: 3}, "tp_size 3 does not divide the model's 32 attention heads"},
		{wide, layout{Devices: 16, TP: 16, EP: 16}, "ep_size 16 is more than the model's 8 experts"},
	} {
		got := ""
		if err := c.give.Complete(c.model).Check(c.model); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v:\nwant %q\ngot  %q", c.give, c.want, got)
		}
	}
	m := dense()
	m.Kinds[0].Attention.Heads, m.Kinds[0].Attention.KVHeads = 48, 6
	want := "tp_size 4 and the model's 6 key/value heads do not divide one another"
	if err := (layout{Devices: 4, TP: 4}.Complete(m).Check(m)); err == nil || err.Error() != want {
		t.Errorf("want %q, got %v", want, err)
	}
}

// TestGroupsFitTheDevices: in a legal layout the members of every group are
// ranks of the deployment.
func TestGroupsFitTheDevices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := func(name string) int { return rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, name) }
		l := layout{TP: size("TP"), DP: size("DP"), PP: size("PP"), EP: size("EP"), MoEDP: size("MoE-DP")}
		l.DCP = min(l.TP, size("DCP"))
		l.Devices = l.TP * l.DP * l.PP
		l = l.Complete(mixture())
		if err := l.Check(mixture()); err != nil {
			t.Skip(err)
		}
		for _, g := range []parallel.Group{l.TPGroup(), l.DPGroup(), l.MoETPGroup(), l.EPGroup(), l.DCPGroup()} {
			if last := (g.Size - 1) * g.Stride; last >= int32(l.Devices) {
				t.Errorf("%+v: the last of %+v is rank %d", l, g, last)
			}
		}
		if g := l.PPGroup(); l.PP > 1 && (g.Size != 2 || g.Stride >= int32(l.Devices)) {
			t.Errorf("%+v: stages are neighbours in %+v", l, g)
		}
	})
}

func TestGroups(t *testing.T) {
	l := layout{Devices: 32, TP: 4, DP: 4, PP: 2, EP: 8, MoETP: 2, MoEDP: 1, DCP: 2}
	for name, c := range map[string]struct{ want, got parallel.Group }{
		"TP":     {parallel.Group{Size: 4, Stride: 1}, l.TPGroup()},
		"DP":     {parallel.Group{Size: 4, Stride: 8}, l.DPGroup()},
		"EP":     {parallel.Group{Size: 8, Stride: 2}, l.EPGroup()},
		"MoE-TP": {parallel.Group{Size: 2, Stride: 1}, l.MoETPGroup()},
		"DCP":    {parallel.Group{Size: 2, Stride: 1}, l.DCPGroup()},
		"PP":     {parallel.Group{Size: 2, Stride: 4}, l.PPGroup()},
	} {
		if c.got != c.want {
			t.Errorf("%s: want %+v, got %+v", name, c.want, c.got)
		}
	}
}

// TestWord: what is wrong with a layout can be said as its label says it.
func TestWord(t *testing.T) {
	for name, want := range map[field.Name]string{
		"tp_size": "TP", "dcp_size": "DCP", "moe_tp_size": "MoE-TP", "moe_dp_size": "MoE-DP", "shared_expert_tp": "shared expert tp",
	} {
		if got := parallel.Word(name); got != want {
			t.Errorf("%s: want %q, got %q", name, want, got)
		}
	}
}

func TestLabel(t *testing.T) {
	l := layout{Devices: 16, TP: 4, DP: 2, PP: 2, EP: 4, MoETP: 2, MoEDP: 1, DCP: 1}
	for _, c := range []struct {
		experts bool
		dcp     int
		want    string
	}{
		{false, 1, "TP=4 | PP=2 | DP=2"},
		{true, 1, "TP=4 | PP=2 | DP=2 | EP=4 | MOE-TP=2 | MOE-DP=1"},
		{true, 2, "TP=4 | PP=2 | DP=2 | EP=4 | MOE-TP=2 | MOE-DP=1 | DCP=2"},
	} {
		l.DCP = c.dcp
		if got := l.Label(c.experts); got != c.want {
			t.Errorf("want %q, got %q", c.want, got)
		}
	}
}
