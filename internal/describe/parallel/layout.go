package parallel

import (
	"errors"
	"fmt"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
)

// Layout is how a model is split over devices. Attention is sharded over TP and
// replicated over DP; experts are distributed over EP (whole experts) and sharded
// over MoETP, and replicated over MoEDP; PP splits the layers; DCP the context of a
// decode step inside a TP group.
type Layout struct {
	Devices int `json:"devices,omitempty" minimum:"1" maximum:"32768"`
	TP      int `json:"tp,omitempty" minimum:"1" maximum:"32768"`
	DP      int `json:"dp,omitempty" minimum:"1" maximum:"32768"`
	PP      int `json:"pp,omitempty" minimum:"1" maximum:"32768"`
	EP      int `json:"ep,omitempty" minimum:"1" maximum:"32768"`
	MoETP   int `json:"moe_tp,omitempty" minimum:"1" maximum:"32768"`
	MoEDP   int `json:"moe_dp,omitempty" minimum:"1" maximum:"32768"`
	DCP     int `json:"dcp,omitempty" minimum:"1" maximum:"32768"`
}

// Group is a set of ranks that communicate: Size ranks, Stride apart, starting
// at rank zero. The cost of a collective depends on nothing else.
type Group struct {
	Size   int32
	Stride int32
}

// Complete fills the sizes left zero: TP, PP, EP, MoE-DP and DCP are 1, DP is
// what remains of the devices, MoE-TP what remains for the experts. A dense
// model has no expert dimensions.
func (l Layout) Complete(m *model.Model) Layout {
	l = l.Filled()
	if !m.HasExperts() {
		l.EP, l.MoETP, l.MoEDP = 1, 1, 1
		return l
	}
	if l.MoETP == 0 {
		l.MoETP = max(1, l.Devices/l.PP/l.EP/l.MoEDP)
	}
	return l
}

// Filled is the layout with the sizes that do not depend on the model filled in.
func (l Layout) Filled() Layout {
	for _, p := range []*int{&l.Devices, &l.TP, &l.PP, &l.EP, &l.MoEDP, &l.DCP} {
		if *p == 0 {
			*p = 1
		}
	}
	if l.DP == 0 {
		l.DP = max(1, l.Devices/l.TP/l.PP)
	}
	return l
}

// Short is the layout without the sizes that [Layout.Filled] fills in: a size of one is said, so that it reads the same everywhere, but not
// the number of devices, or what follows from it.
func (l Layout) Short() Layout {
	l = l.Filled()
	if l.MoETP == max(1, l.Devices/l.PP/l.EP/l.MoEDP) || l.EP*l.MoETP*l.MoEDP == 1 { // the latter of a model without experts
		l.MoETP = 0
	}
	if l.DP == max(1, l.Devices/l.TP/l.PP) {
		l.DP = 0
	}
	if l.Devices == 1 {
		l.Devices = 0
	}
	return l
}

// tpSize is the field that most messages name.
const tpSize field.Name = "tp_size"

// MaxPerRank is the number of requests on the fullest rank when n requests are distributed
// evenly over equal ranks.
func MaxPerRank(n, ranks int) int { return (n + ranks - 1) / ranks }

// PerRank is the number of requests on the fullest data-parallel rank.
func (l Layout) PerRank(requests int) int { return MaxPerRank(requests, l.DP) }

// PerMicroBatch is the same for one of the micro-batches that fill a pipeline, one
// for each stage.
func (l Layout) PerMicroBatch(requests int) int { return MaxPerRank(requests, l.DP*l.PP) }

// maxSize bounds each size: far above any machine, and products of four stay
// exact.
const maxSize = 1 << 15

// Check reports everything that makes a complete layout illegal for a model.
func (l Layout) Check(m *model.Model) error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, field.Errorf(format, a...)) }
	for _, s := range []struct {
		name field.Name
		size int
	}{
		{"num_devices", l.Devices},
		{tpSize, l.TP},
		{"dp_size", l.DP},
		{"pp_size", l.PP},
		{"ep_size", l.EP},
		{"moe_tp_size", l.MoETP},
		{"moe_dp_size", l.MoEDP},
		{"dcp_size", l.DCP},
	} {
		if s.size < 1 || s.size > maxSize {
			bad("%s must be between 1 and %d, got %d", s.name, maxSize, s.size)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if l.TP*l.DP*l.PP != l.Devices {
		bad("TP %d × DP %d × PP %d = %d does not equal the %d devices", l.TP, l.DP, l.PP, l.TP*l.DP*l.PP, l.Devices)
	}
	if m.HasExperts() && l.EP*l.MoETP*l.MoEDP*l.PP != l.Devices {
		bad("EP %d × MoE-TP %d × MoE-DP %d × PP %d = %d does not equal the %d devices",
			l.EP, l.MoETP, l.MoEDP, l.PP, l.EP*l.MoETP*l.MoEDP*l.PP, l.Devices)
	}
	if l.PP > len(m.Layers) {
		bad("%s %d is more than the model's %d layers", field.Name("pp_size"), l.PP, len(m.Layers))
	}
	if l.TP%l.DCP != 0 {
		bad("%s %d does not divide %s %d", field.Name("dcp_size"), l.DCP, tpSize, l.TP)
	}
	errs = append(errs, l.checkHeads(m)...)
	return errors.Join(errs...)
}

// checkHeads reports head and expert counts that the layout cannot divide, each
// once.
func (l Layout) checkHeads(m *model.Model) []error {
	var heads, experts error
	for _, k := range m.Kinds {
		a, e := &k.Attention, k.FFN.Experts
		if heads == nil {
			heads = l.checkAttention(a)
		}
		if experts == nil && e > 0 && l.EP > e {
			experts = field.Errorf("%s %d is more than the model's %d experts", field.Name("ep_size"), l.EP, e)
		}
	}
	return []error{heads, experts} // nil ones vanish when joined
}

// checkAttention reports heads that TP cannot divide.
func (l Layout) checkAttention(a *model.Attention) error {
	switch kv := a.KVHeads; {
	case a.Heads%l.TP != 0:
		return field.Errorf("%s %d does not divide the model's %d attention heads", tpSize, l.TP, a.Heads)
	case a.Kind == model.GQA && kv%l.TP != 0 && l.TP%kv != 0:
		return field.Errorf("%s %d and the model's %d key/value heads do not divide one another", tpSize, l.TP, kv)
	}
	return nil
}

// TPGroup is the group of one tensor-parallel rank set.
func (l Layout) TPGroup() Group { return Group{int32(l.TP), 1} }

// DPGroup is the group of equal TP positions over data-parallel ranks.
func (l Layout) DPGroup() Group { return Group{int32(l.DP), int32(l.TP * l.PP)} }

// EPGroup is the group that exchanges tokens between experts.
func (l Layout) EPGroup() Group { return Group{int32(l.EP), int32(l.MoETP)} }

// MoETPGroup is the group that shares the slices of each expert.
func (l Layout) MoETPGroup() Group { return Group{int32(l.MoETP), 1} }

// DCPGroup is the group that shares the context of a decode step.
func (l Layout) DCPGroup() Group { return Group{int32(l.DCP), 1} }

// PPGroup is a pair of neighbouring pipeline stages.
func (l Layout) PPGroup() Group { return Group{2, int32(l.TP)} }

// Word is the layout name of a field ("TP" for tp_size), for messages about a candidate of
// a search.
func Word(name field.Name) string {
	switch name {
	case "moe_tp_size":
		return "MoE-TP"
	case "moe_dp_size":
		return "MoE-DP"
	}
	if size, ok := strings.CutSuffix(string(name), "_size"); ok {
		return strings.ToUpper(size)
	}
	return strings.ReplaceAll(string(name), "_", " ")
}

// Label is the layout as printed in tables. A model with experts shows the
// expert dimensions always, the context dimension only where it is in use.
func (l Layout) Label(experts bool) string {
	s := fmt.Sprintf("TP=%d | PP=%d | DP=%d", l.TP, l.PP, l.DP)
	if experts {
		s += fmt.Sprintf(" | EP=%d | MOE-TP=%d | MOE-DP=%d", l.EP, l.MoETP, l.MoEDP)
	}
	if l.DCP > 1 {
		s += fmt.Sprintf(" | DCP=%d", l.DCP)
	}
	return s
}
