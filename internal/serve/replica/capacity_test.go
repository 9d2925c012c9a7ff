package replica

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/memory"
	"github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// TestPublishedCapacities compares with what engines logged, and holds the summary
// in docs/accuracy.md to it. With -v it prints every log.
func TestPublishedCapacities(t *testing.T) {
	cases, one, two := published(t), 0, 0
	for _, c := range cases {
		b := capacity(t, c)
		want, got, unit := number(t, c["gib"]), b.KV.GiB(), "%.2f GiB"
		if c["tokens"] != "" {
			want, got, unit = number(t, c["tokens"]), float64(b.Tokens), "%.0f tokens"
		}
		off := math.Abs(got/want - 1)
		t.Logf("%s %s, %s on %s, TP %s, %s: logged "+unit+", predicted "+unit+" (%+.1f %%), %s", c["engine"], c["version"],
			c["model"], c["device"], c["tp"], c["settings"], want, got, 100*(got/want-1), c["source"])
		if off > number(t, c["within"]) {
			t.Errorf("%s %s, %s: off by %.4f, more than %s", c["engine"], c["version"], c["model"], off, c["within"])
		}
		if off < 0.01 {
			one++
		}
		if off < 0.02 {
			two++
		}
	}
	docs, err := os.ReadFile("../../../docs/accuracy.md")
	if err != nil {
		t.Fatal(err)
	}
	if said := fmt.Sprintf("All %d are within 2 %%, %d within 1 %%.", two, one); two != len(cases) || !bytes.Contains(docs, []byte(said)) {
		t.Errorf("docs/accuracy.md does not say %q of %d logs", said, len(cases))
	}
}

// published are the cases, each by column.
func published(t *testing.T) []map[string]string {
	t.Helper()
	data, err := os.ReadFile("testdata/capacity.csv")
	if err != nil {
		t.Fatal(err)
	}
	in := csv.NewReader(bytes.NewReader(data))
	in.Comment = '#'
	rows, err := in.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var cases []map[string]string
	for _, row := range rows[1:] {
		c := map[string]string{}
		for i, h := range rows[0] {
			c[h] = row[i]
		}
		cases = append(cases, c)
	}
	return cases
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	if s == "" {
		return 0
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// capacity is how a replica of a case divides its memory.
func capacity(t *testing.T, c map[string]string) engine.Budget {
	t.Helper()
	m, err := model.Lookup(c["model"])
	if err != nil {
		t.Fatal(err)
	}
	d, err := device.Lookup(c["device"])
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.LookupVersion(c["engine"], c["version"])
	if err != nil {
		t.Fatal(err)
	}
	if e, err = e.With(strings.Fields(c["settings"])...); err != nil {
		t.Fatal(err)
	}
	tp, ep := int(number(t, c["tp"])), int(number(t, c["ep"]))
	l := parallel.Layout{Devices: tp, TP: tp, DP: 1, EP: ep}.Complete(m)
	s := graph.Spec{Model: m, Layout: l, Policy: graph.Physical(), Compile: true, Vision: m.Vision != nil}
	s.Quant = graph.Resolve(m, s.Policy, graph.Actions{})
	if e.KVFormat != dtype.None {
		s.Quant.KV = e.KVFormat
	}
	g, err := graph.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return budget(memory.New(&s), step.NewCurve(g, nil), d, e.On(d, engine.Use{Devices: tp, Model: s.Model}))
}
