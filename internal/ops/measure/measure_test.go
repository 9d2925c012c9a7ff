package measure

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// question is a choice between layouts and engines.
func question(gpus int, engines ...string) Request {
	r := plan.Request{
		Model: "Qwen/Qwen3-8B", Systems: []string{"h200_sxm"}, Devices: gpus, Engines: engines, Modes: []experiment.ServingMode{experiment.Aggregated},
		Workloads: []session.Workload{{Input: 1024, Output: 32}}, Limits: workload.Limits{TTFT: 0.5, TPOT: 0.02},
	}
	return Request{Plan: r}
}

// remembers is a session that tests share, so that they simulate a deployment once.
var remembers = &session.Session{Memo: &session.Memo{Size: 10_000}}

// memory is a session whose files are in memory.
func memory(files fstest.MapFS) *session.Session {
	return &session.Session{
		Memo: remembers.Memo,
		Dir: func(dir string) fs.FS {
			sub, err := fs.Sub(files, filepath.ToSlash(dir))
			if err != nil {
				panic(err)
			}
			return sub
		},
		Open: func(name string) (io.ReadCloser, error) { return files.Open(filepath.ToSlash(name)) },
	}
}

// written is a folder with the files of a proposal.
func written(t *testing.T, x *Response) fstest.MapFS {
	t.Helper()
	all, err := x.Files(t.Context(), &session.Session{})
	if err != nil {
		t.Fatal(err)
	}
	out := fstest.MapFS{}
	for _, f := range all {
		out["runs/"+f.Path] = &fstest.MapFile{Data: f.Data}
	}
	return out
}

// measured writes a result for each run, so many times as slow as predicted.
func measured(t *testing.T, files fstest.MapFS, x *Response, slower func(*Run) float64) {
	t.Helper()
	for i := range x.Runs {
		run := &x.Runs[i]
		by := slower(run)
		if by == 0 {
			continue
		}
		data, err := json.Marshal(map[string]any{
			"backend": run.Client, "model_id": x.Request.Plan.Model, "num_prompts": run.Requests, "completed": run.Requests, "max_concurrency": run.Concurrency,
			"total_input_tokens": run.Requests * run.Input, "total_output_tokens": run.Requests * run.Output, "output_throughput": run.Tokens.Value / by,
			"mean_ttft_ms": run.Judged.TTFT.Value * by, "mean_tpot_ms": run.Judged.TPOT.Value * by,
		})
		if err != nil {
			t.Fatal(err)
		}
		files["runs/"+run.result()] = &fstest.MapFile{Data: data}
	}
}

// TestPropose: the runs fit into the time, lower the chance of a wrong choice, and the best option is that of the plan.
func TestPropose(t *testing.T) {
	t.Parallel()
	r := question(2, "vllm", "sglang")
	for _, minutes := range []float64{4, 10} {
		r.Minutes = minutes
		x, err := Propose(t.Context(), remembers, r)
		if err != nil {
			t.Fatal(err)
		}
		if len(x.Runs) == 0 || x.Minutes > minutes || x.WrongAfter >= x.Wrong || x.UnsureAfter >= x.Unsure {
			t.Errorf("%g minutes: %d runs take %.1f; wrong %.2f → %.2f", minutes, len(x.Runs), x.Minutes, x.Wrong, x.WrongAfter)
		}
		sum := 0.0
		for _, o := range x.Options {
			sum += o.Best
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("chances of being best sum up to %g", sum)
		}
	}
	r.Minutes = 1
	if x, err := Propose(t.Context(), remembers, r); err != nil || len(x.Runs) != 0 || len(x.Notes) == 0 {
		t.Errorf("one minute is too short for a server: %v, %+v", err, x)
	}
	found, err := plan.Run(t.Context(), remembers, r.Plan)
	if err != nil {
		t.Fatal(err)
	}
	x, _ := Propose(t.Context(), remembers, r)
	best := found.Contenders[0]
	// Between the loads that were simulated the option's figure is interpolated, and its servers accept more sequences than the plan's.
	if want := best.Engine + " agg: " + best.Deployment; x.Options[0].Name != want || math.Abs(x.Options[0].Tokens.Value/best.TokensPerGPU.Value-1) > 0.05 {
		t.Errorf("the best is %s with %.0f, the plan's %s with %.0f", x.Options[0].Name, x.Options[0].Tokens.Value, want, best.TokensPerGPU.Value)
	}
}

// TestSameAgain: the same question has the same answer, with and without a memory.
func TestSameAgain(t *testing.T) {
	t.Parallel()
	var texts [2]string
	for i, w := range []*session.Session{remembers, {}} {
		x, err := Propose(t.Context(), w, question(2, "vllm"))
		if err != nil {
			t.Fatal(err)
		}
		data, _ := json.Marshal(x)
		texts[i] = string(data)
	}
	if texts[0] != texts[1] {
		t.Error("two answers differ")
	}
}

// TestRead: results as predicted leave the decision as it is and narrow its intervals; a best deployment that turns out to be
// slow is given up.
func TestRead(t *testing.T) {
	t.Parallel()
	r := question(1, "vllm", "sglang")
	r.Minutes = 40 // enough for several runs of each engine: a fit is tested on one that it has not seen
	x, err := Propose(t.Context(), remembers, r)
	if err != nil {
		t.Fatal(err)
	}
	files := written(t, x)
	measured(t, files, x, func(*Run) float64 { return 1 })
	same, err := Read(t.Context(), memory(files), "runs")
	if err != nil {
		t.Fatal(err)
	}
	if same.Changed || !strings.HasPrefix(same.Sentence, "Your decision did not change") || same.Wrong[1] >= same.Wrong[0] || len(same.Runs) != len(x.Runs) {
		t.Errorf("as predicted: %s", same.Sentence)
	}
	for _, run := range same.Runs {
		if !run.Inside {
			t.Errorf("%s is what was predicted, yet outside: %+v", run.ID, run.Figures)
		}
	}
	for _, o := range same.Options {
		if o.Runs > 0 && o.After.High/o.After.Low >= o.Before.High/o.Before.Low {
			t.Errorf("%s: %v before, %v after", o.Name, o.Before, o.After)
		}
	}

	engine := x.Options[0].Engine
	measured(t, files, x, func(run *Run) float64 {
		if strings.HasPrefix(run.Option, engine) {
			return 1.5
		}
		return 1
	})
	other, err := Read(t.Context(), memory(files), "runs")
	if err != nil {
		t.Fatal(err)
	}
	if !other.Changed || strings.HasPrefix(other.Best[1], engine) || !strings.HasPrefix(other.Sentence, "Your decision changed") || other.Overlay == nil {
		t.Errorf("%s is half as slow again: %s %q", engine, other.Sentence, other.Notes)
	}
	for _, run := range other.Runs {
		for k := range run.Figures {
			before, after := math.Abs(math.Log(run.Figures[k].Ratio)), math.Abs(math.Log(run.Refitted[k].Ratio))
			if strings.HasPrefix(run.Option, engine) && after >= before {
				t.Errorf("%s %s: the fit leaves %.2f of %.2f", run.ID, run.Figures[k].Name, after, before)
			}
		}
	}
}

// TestReadRefuses: what is missing or wrong is named; results of some runs are enough.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	x, err := Propose(t.Context(), remembers, question(1, "vllm"))
	if err != nil {
		t.Fatal(err)
	}
	files := written(t, x)
	fails := func(want string) {
		t.Helper()
		if _, err := Read(t.Context(), memory(files), "runs"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	fails("runs has no results: run measure.sh first")
	measured(t, files, x, func(run *Run) float64 {
		if run.ID == x.Runs[0].ID {
			return 1
		}
		return 0
	})
	if o, err := Read(t.Context(), memory(files), "runs"); err != nil || len(o.Runs) != 1 || len(o.Missing) != len(x.Runs)-1 {
		t.Errorf("one result: %v", err)
	}
	files["runs/"+x.Runs[0].result()].Data = []byte(`{"mean_ttft_ms":5,"mean_tpot_ms":5,"max_concurrency":3,"completed":3,"num_prompts":3}`)
	fails("the result is of 3 requests in flight")
	files["runs/"+RecordFile].Data = []byte(`{"schema":"other"}`)
	fails(`schema is "other"`)
	delete(files, "runs/"+RecordFile)
	fails(RecordFile)
}

// TestRefuses: questions that no run answers.
func TestRefuses(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*Request){
		"minutes must be above 0": func(r *Request) { r.Minutes = -1 },
		"client":                  func(r *Request) { r.Client = "curl" },
		"one system":              func(r *Request) { r.Plan.Systems = []string{"h200_sxm", "h100_sxm"} },
		"give gpus or rate":       func(r *Request) { r.Plan.Devices, r.Plan.Daily = 0, []float64{1, 2} },
		"cannot replay sessions":  func(r *Request) { r.Plan.Workloads = []session.Workload{{Preset: "agentic"}} },
	} {
		r := question(1, "vllm")
		change(&r)
		if _, err := Propose(t.Context(), &session.Session{}, r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestScripts: scripts of every client parse, name their results, and the launch files beside them start what was predicted.
func TestScripts(t *testing.T) {
	t.Parallel()
	prefixed := question(1, "vllm", "sglang", "trtllm")
	prefixed.Plan.Workloads[0].Prefix, prefixed.Plan.Workloads[0].LengthLow = 256, 0.8
	for _, r := range []Request{question(2, "vllm", "sglang"), prefixed} {
		x, err := Propose(t.Context(), remembers, r)
		if err != nil {
			t.Fatal(err)
		}
		for _, client := range append(Clients(), "") {
			for i := range x.Runs {
				x.Runs[i].Client = cmp.Or(client, clientOf(x.Runs[i].Deployment.Engine.Name))
			}
			checkScripts(t, x, written(t, x))
		}
	}
}

func checkScripts(t *testing.T, x *Response, files fstest.MapFS) {
	t.Helper()
	for name, f := range files {
		if strings.HasSuffix(name, ".sh") {
			if _, err := launch.Read(launch.File{Path: name, Data: f.Data}); err != nil && !errors.Is(err, launch.ErrNoLaunch) {
				t.Error(err)
			}
		}
	}
	script := string(files["runs/"+ScriptFile].Data)
	for i := range x.Runs {
		run := &x.Runs[i]
		if !strings.Contains(script, run.ID) {
			t.Errorf("the script does not name %s", run.ID)
		}
		if name := "runs/" + run.Folder + "/serve.sh"; run.Deployment.Engine.Name != launch.TRTLLM {
			found, err := launch.Read(launch.File{Path: name, Data: files[name].Data})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got, want := found.Deployment.Pools[0].Layout.TP, run.Deployment.Pools[0].Layout.TP; got != want {
				t.Errorf("%s starts TP %d, predicted was %d", name, got, want)
			}
		}
	}
}

// TestBelief: what is known after runs is never less than before, exact where it was measured, and nothing without runs.
func TestBelief(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var points []point
		for d := range rapid.IntRange(1, 4).Draw(t, "deployments") {
			engine := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "engine")
			for range rapid.IntRange(1, 4).Draw(t, "loads") {
				s := rapid.Float64Range(0.05, 1)
				points = append(points, point{d, engine, rapid.Float64Range(1, 500).Draw(t, "load"), [quantities]float64{s.Draw(t, "ttft"), s.Draw(t, "tpot")}})
			}
		}
		b := newBelief(points)
		at := rapid.SliceOfNDistinct(rapid.IntRange(0, len(points)-1), 0, min(3, len(points)), rapid.ID).Draw(t, "measured")
		for q := range quantities {
			w := b.weights(q, at)
			for i := range points {
				left, before := b.left(q, i, at, w), points[i].sigma[q]
				if left > before+1e-6 || len(at) == 0 && math.Abs(left-before) > 1e-9 {
					t.Errorf("%d of %v: %g before, %g left", i, at, before, left)
				}
			}
			for _, i := range at {
				if left := b.left(q, i, at, w); left > noise(q)+1e-6 {
					t.Errorf("measured, and %g is left", left)
				}
			}
		}
	})
}

// TestKernels: kernels as fast as predicted lie at their predictions, and the profile can be read.
func TestKernels(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/kernels-h200.json")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"k.json": {Data: data}}
	got, err := Kernels(t.Context(), memory(files), KernelsRequest{File: "k.json", System: "h200_sxm"})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range got.Groups {
		if g.Median < 0.7 || g.Median > 1.4 || g.Low > g.Median || g.High < g.Median {
			t.Errorf("measured on an H200: %+v", g)
		}
	}
	if got.Compute < 0.5 || got.Compute > 1 || got.Memory < 0.5 || got.Memory > 1 || got.Link != 0 {
		t.Errorf("shares of the peaks: %g, %g, %g", got.Compute, got.Memory, got.Link)
	}
	var profile strings.Builder
	if err := got.Write(&profile); err != nil {
		t.Fatal(err)
	}
	files["mine.yaml"] = &fstest.MapFile{Data: []byte(profile.String())}
	d, err := memory(files).Device("", "mine.yaml")
	if err != nil || math.Abs(d.ComputeEfficiency-got.Compute) > 1e-3 || math.Abs(d.MemoryEfficiency-got.Memory) > 1e-3 {
		t.Errorf("profile: %v\n%s", err, profile.String())
	}
	for _, wrong := range []string{"", "{}", `{"schema":"plimsoll/kernels/1","kernels":[{"kind":"gemm","us":1}]}`, `{"schema":"plimsoll/kernels/1","kernels":[{"kind":"copy","bytes":9,"us":0}]}`, `{"schema":"plimsoll/kernels/1","kernels":[{"kind":"sort","us":1}]}`} {
		if _, _, err := ReadKernels([]byte(wrong)); err == nil {
			t.Errorf("%q: no error", wrong)
		}
	}
}

// FuzzReadKernels: no file makes the reader fail other than by an error, and what it accepts can be priced.
func FuzzReadKernels(f *testing.F) {
	f.Add([]byte(`{"schema":"plimsoll/kernels/1","device":"x","kernels":[{"kind":"gemm","format":"bf16","m":1,"n":2,"k":3,"us":4}]}`))
	f.Add([]byte(`{"schema":"plimsoll/kernels/1","kernels":[{"kind":"all_reduce","ranks":8,"bytes":1024,"us":4},{"kind":"decode","batch":1,"tokens":2,"heads":4,"kv_heads":1,"head_dim":8,"us":1e-3}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, all, err := ReadKernels(data)
		if err != nil {
			return
		}
		files := fstest.MapFS{"k.json": {Data: data}}
		got, err := Kernels(t.Context(), memory(files), KernelsRequest{File: "k.json", System: "h200_sxm"})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Kernels) > len(all) {
			t.Error("more kernels than were read")
		}
		for _, g := range got.Groups {
			if !(g.Median > 0) || math.IsInf(g.Median, 0) {
				t.Error(fmt.Sprint(g))
			}
		}
	})
}

// left is the standard deviation that remains at a point after some were measured.
func (b *belief) left(q quantity, at int, measured []int, weights [][]float64) float64 {
	v := b.prior[q][at][at]
	for j, y := range measured {
		v -= weights[at][j] * b.prior[q][at][y]
	}
	return math.Sqrt(max(0, v))
}
