package step_test

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// pass is one forward pass as TensorCast computes it, with the arguments of its
// text_generate command.
type pass struct {
	Name       string
	Args       string
	Total      float64 `json:"total_s"`
	Weights    float64 `json:"weight_gib"`
	KV         float64 `json:"kv_gib"`
	Activation float64 `json:"activation_gib"`
	Operators  operators
}

// request reads the arguments. Those it does not know fail the test.
func (p *pass) request(t *testing.T) step.Request {
	t.Helper()
	args := strings.Fields(p.Args)
	f := flat{Model: args[0], Fusion: deployment.Eager, LinearAction: dtype.W8A8Dynamic, AttentionAction: dtype.Disabled}
	f.Layout.TP, f.Layout.EP = 1, 1
	var height, width, images int
	var multistream, dispatch bool
	sizes := map[string]*int{
		"--num-devices": &f.Layout.Devices, "--tp-size": &f.Layout.TP, "--dp-size": &f.Layout.DP, "--ep-size": &f.Layout.EP,
		"--dcp-size": &f.Layout.DCP, "--num-queries": &f.Queries, "--query-length": &f.QueryLength,
		"--context-length": &f.ContextLength, "--image-height": &height, "--image-width": &width,
		"--image-batch-size": &images, "--num-mtp-tokens": &f.MTP,
	}
	for i := 1; i < len(args); i++ {
		value := func() string { i++; return args[i] }
		switch name := args[i]; name {
		case "--device":
			f.Device = value()
		case "--compile":
			f.Fusion = deployment.Compiled
		case "--decode":
			f.Decode = true
		case "--quantize-linear-action":
			f.LinearAction = dtype.Action(value())
		case "--quantize-attention-action":
			f.AttentionAction = dtype.Action(value())
		case "--compilation-config":
			switch pass := value(); pass {
			case "enable_multistream":
				multistream = true
			case "enable_dispatch_ffn_combine":
				dispatch = true
			default:
				t.Fatalf("pass %s", pass)
			}
		default:
			n, err := strconv.Atoi(value())
			if sizes[name] == nil || err != nil {
				t.Fatalf("argument %s: %v", name, err)
			}
			*sizes[name] = n
		}
	}
	r := f.request()
	r.Multistream, r.ImageHeight, r.ImageWidth, r.ImageBatch = multistream, height, width, images
	r.Deployment.Modelling.DispatchCombine = dispatch
	return r
}

// drafts reports whether a pass predicts further tokens.
func (p *pass) drafts() bool { return strings.Contains(p.Args, "--num-mtp-tokens") }

func passes(t *testing.T, file string) []pass {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var all []pass
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTensorCastFamilies holds whole passes of other families, and of passes of
// its compiler, to TensorCast's numbers: the total, calls and time of every
// operator, weights and cache. The second file has other models, layouts, formats
// and phases of the same families; it was made with commit 84fec85 of msmodeling
// 0.2.0, torch 2.10 and transformers 5.13.
func TestTensorCastFamilies(t *testing.T) {
	for _, file := range []struct {
		name   string
		passes int
	}{
		{"tensorcast-families.json", 15},
		{"tensorcast-more-families.json", 20},
	} {
		all := passes(t, file.name)
		if len(all) != file.passes {
			t.Fatalf("%s: %d passes, want %d", file.name, len(all), file.passes)
		}
		for _, p := range all {
			t.Run(p.Name, p.holds)
		}
	}
}

// holds evaluates the pass and compares. In one with predicted tokens torch 2.10 has a
// few small operators other than torch 2.14, which the other vectors were made with.
func (p *pass) holds(t *testing.T) {
	const exact = 1e-6
	total := exact
	if p.drafts() {
		total = 1e-3
	}
	var w session.Session
	r, err := step.Run(t.Context(), &w, p.request(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what      string
		want, got float64
		tolerance float64
	}{
		{"total", p.Total, float64(r.Result.Time), total},
		{"weights", p.Weights, r.Weights.GiB(), 1e-3},
		{"KV", p.KV, r.KV.GiB(), exact},
	} {
		if off := c.got/c.want - 1; math.Abs(off) > c.tolerance {
			t.Errorf("%s: want %.9g, got %.9g (%+.4f %%)", c.what, c.want, c.got, 100*off)
		}
	}
	if !p.drafts() {
		compareOperators(t, p.Operators, r)
	}
}
