package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
)

// traceEvent is a complete event of the Trace Event Format, which Perfetto and
// Chrome open. Times are in microseconds.
type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	TS    float64        `json:"ts"`
	Dur   float64        `json:"dur"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Args  map[string]any `json:"args,omitempty"`
}

// The lanes of a trace: arithmetic and memory, communication, layers.
const (
	laneCompute = 0
	laneComm    = 1
	laneLayer   = 2
)

// Trace writes a step as a trace. Layers of a run are written one after
// another; an operator that a layer calls n times is one event.
func Trace(w io.Writer, r *step.Result) error {
	var t tracer
	t.lane(laneCompute, "compute")
	t.lane(laneComm, "communication")
	t.lane(laneLayer, "layers")
	for start := 0; start < len(r.Items); {
		end := start + 1
		for end < len(r.Items) && r.Items[end].Run == r.Items[start].Run {
			end++
		}
		t.run(r.Items[start:end], r.Costs[start:end])
		start = end
	}
	if t.err != nil {
		return t.err
	}
	_, err := fmt.Fprintf(w, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n%s\n]}\n", bytes.Join(t.events, []byte(",\n")))
	return err
}

type tracer struct {
	events [][]byte
	clock  units.Seconds
	layer  int
	err    error
}

func (t *tracer) event(v any) {
	data, err := json.Marshal(v)
	t.events, t.err = append(t.events, data), errors.Join(t.err, err)
}

func (t *tracer) lane(id int, name string) {
	t.event(map[string]any{
		"name": "thread_name", "ph": "M", "pid": 0, "tid": id, "args": map[string]any{"name": name},
	})
}

// run writes the layers of one run, or the operators outside the layers.
func (t *tracer) run(items []op.Item, costs []cost.Estimate) {
	layers := 1
	inside := items[0].Run > 0
	if inside {
		layers = int(items[0].Layers)
	}
	for range layers {
		begin := t.clock
		var before units.Seconds
		for i := range items {
			t.operator(&items[i], &costs[i], items[i].Count/float64(layers), before)
			before = costs[i].Total
		}
		if inside {
			t.event(traceEvent{
				Name: fmt.Sprintf("layer %d", t.layer), Phase: "X",
				TS: begin.Us(), Dur: (t.clock - begin).Us(), TID: laneLayer,
			})
			t.layer++
		}
	}
}

// operator writes one operator called n times.
func (t *tracer) operator(it *op.Item, c *cost.Estimate, n float64, before units.Seconds) {
	lane := laneCompute
	if it.Op.Kind == op.Collective || it.Op.Kind == op.Transfer {
		lane = laneComm
	}
	start, dur := t.clock, c.Total*units.Seconds(n)
	if it.Beside {
		start -= before * units.Seconds(n)
	}
	t.event(traceEvent{
		Name: it.Op.Name.String(), Phase: "X", TS: start.Us(), Dur: dur.Us(), TID: lane,
		Args: map[string]any{
			"calls": n, "bound": c.Bound().String(),
			"cube_us": c.Matrix.Us(), "vector_us": c.Vector.Us(), "memory_us": c.Memory.Us(),
			"comm_us": c.Comm.Us(), "fixed_us": c.Fixed.Us(),
		},
	})
	t.clock = max(t.clock, start+dur)
}
