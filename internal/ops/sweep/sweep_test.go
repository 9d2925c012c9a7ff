package sweep_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/sweep"
)

// predictions are cheap: sixteen requests each. One of the models does not fit one device of l40s.
const predictions = `
ask: predict
models: [Qwen/Qwen3-8B, Qwen/Qwen3-32B]
systems: [h200_sxm, l40s]
workloads: [{isl: 512, osl: 16}, {preset: chat}]
concurrency: [1, 8]
limits: [{tpot_ms: 8}, {tpot_ms: 100}]
prices: [list, 2]
with: {num_prompts: 16}
`

const plans = `
ask: plan
models: [Qwen/Qwen3-8B]
systems: [h200_sxm]
engines: [vllm]
workloads: [{isl: 512, osl: 16}]
gpus: [1]
limits: [{ttft_ms: 500, tpot_ms: 20}, {ttft_ms: 1, tpot_ms: 1}]
prices: [list, 3]
with: {modes: [agg]}
`

func ready(t *testing.T, text string) *sweep.Sweep {
	t.Helper()
	g, err := sweep.Read([]byte(text), "grid.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := sweep.Check(&session.Session{}, g)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// part runs a shard and returns its part, with its rows in the order in which they ended.
func part(t *testing.T, s *sweep.Sweep, p sweep.Shard, workers int) []byte {
	t.Helper()
	var b bytes.Buffer
	write := func(text []byte, err error) error {
		b.Write(text)
		return err
	}
	if err := write(s.Heading("test", p).Line()); err != nil {
		t.Fatal(err)
	}
	err := s.Run(t.Context(), &session.Session{}, slices.Collect(s.In(p)), workers, func(r *sweep.Row) error { return write(r.Line()) })
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t *testing.T, data []byte) *sweep.Part {
	t.Helper()
	p, err := sweep.ReadPart(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func merge(t *testing.T, format sweep.Format, parts ...[]byte) []byte {
	t.Helper()
	var all []*sweep.Part
	for _, p := range parts {
		all = append(all, read(t, p))
	}
	var b bytes.Buffer
	if err := sweep.Merge(all, &b, format); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func rows(t *testing.T, table []byte) []sweep.Row {
	t.Helper()
	var out []sweep.Row
	for line := range bytes.Lines(table) {
		var r sweep.Row
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// TestConcurrentSameBytes: the table is the same for any number of workers and shards, in every format.
func TestConcurrentSameBytes(t *testing.T) {
	t.Parallel()
	s := ready(t, predictions)
	alone := part(t, s, sweep.Shard{Of: 1}, 1)
	var shards [][]byte
	for i := range 3 {
		shards = append(shards, part(t, s, sweep.Shard{Index: i, Of: 3}, 4))
	}
	slices.Reverse(shards)
	for _, f := range []sweep.Format{sweep.CSV, sweep.JSONL, sweep.Parquet} {
		if a, b := merge(t, f, alone), merge(t, f, shards...); !bytes.Equal(a, b) {
			t.Errorf("%s: one worker gives %d bytes, three shards other %d", f, len(a), len(b))
		}
	}
}

// TestRows: every cell has its row in the order of the grid, a cell that does not fit has its reason, and the request of a row
// gives its figures again, whatever was remembered of other cells.
func TestRows(t *testing.T) {
	t.Parallel()
	s := ready(t, predictions)
	all := rows(t, merge(t, sweep.JSONL, part(t, s, sweep.Shard{Of: 1}, 4)))
	if len(all) != s.Cells || s.Cells != 64 {
		t.Fatalf("%d rows of %d cells, want 64", len(all), s.Cells)
	}
	seen := map[sweep.Status]int{}
	keys := map[string]bool{}
	for i, r := range all {
		seen[r.Status]++
		if !keys[r.Key] {
			keys[r.Key] = true
		} else if r.Index%2 == 0 { // a prediction does not depend on the price, which is not in its request
			t.Errorf("cell %d has the key of another", i)
		}
		if r.Index != int64(i) {
			t.Fatalf("row %d is of cell %d", i, r.Index)
		}
		if r.Status == sweep.Failed {
			if r.Model != "Qwen/Qwen3-32B" || r.System != "l40s" || !strings.Contains(r.Reason, "weights") || r.TTFT != nil {
				t.Errorf("%s on %s failed: %s", r.Model, r.System, r.Reason)
			}
			continue
		}
		if i%5 != 0 { // a sample is enough
			continue
		}
		var q simulate.Request
		if err := json.Unmarshal(r.Request, &q); err != nil {
			t.Fatal(err)
		}
		a, err := simulate.Run(t.Context(), &session.Session{}, q)
		if err != nil {
			t.Fatal(err)
		}
		same := func(row *float64, full float64) bool { return *row == units.Rounded(full) }
		if !same(r.TTFT, a.TTFT.Mean) || !same(r.TPOT, a.TPOT.Mean) || !same(r.TPOTHigh, a.TPOT.High) || !same(r.Chance, *a.Judged.Chance) || !same(r.Tokens, a.OutputRate.Value) {
			t.Errorf("cell %d: the row has TTFT %g, TPOT %g and chance %g, its request gives %g, %g and %g", i, *r.TTFT, *r.TPOT, *r.Chance, a.TTFT.Mean, a.TPOT.Mean, *a.Judged.Chance)
		}
	}
	if d := cmp.Diff(map[sweep.Status]int{sweep.Failed: 16, sweep.OK: seen[sweep.OK], sweep.OverLimits: 48 - seen[sweep.OK]}, seen); d != "" || seen[sweep.OverLimits] == 0 || seen[sweep.OK] == 0 {
		t.Errorf("(-want +got):\n%s", d)
	}
	if cheap, list := all[1], all[0]; *cheap.Price != 2 || *list.Price == 2 || *cheap.Million >= *list.Million || *cheap.TTFT != *list.TTFT {
		t.Errorf("the list price %g gives %g, 2 gives %g", *list.Price, *list.Million, *cheap.Million)
	}
}

// TestPlans: cells that are plans have the figures of the plan.
func TestPlans(t *testing.T) {
	t.Parallel()
	s := ready(t, plans)
	all := rows(t, merge(t, sweep.JSONL, part(t, s, sweep.Shard{Of: 1}, 2)))
	if len(all) != 4 || all[0].Status != sweep.OK || all[2].Status != sweep.OverLimits || all[2].Reason == "" {
		t.Fatalf("%+v", all)
	}
	for _, r := range all {
		var q plan.Request
		if err := json.Unmarshal(r.Request, &q); err != nil {
			t.Fatal(err)
		}
		a, err := plan.Run(t.Context(), &session.Session{}, q)
		if err != nil {
			t.Fatal(err)
		}
		c := &a.Contenders[0]
		same := func(row *float64, full float64) bool { return *row == units.Rounded(full) }
		if !same(r.Tokens, c.Tokens.Value) || !same(r.TPOT, c.Mean.TPOT.Value) || !same(r.Million, c.Cost.PerMillion.Value) || r.Deployment != c.Deployment || !same(r.Price, c.Cost.PerGPUHour) {
			t.Errorf("cell %d: %s with %g tokens/s, the plan has %s with %g", r.Index, r.Deployment, *r.Tokens, c.Deployment, c.Tokens.Value)
		}
	}
}

// TestFormats: CSV and Parquet hold what JSON holds.
func TestFormats(t *testing.T) {
	t.Parallel()
	one := part(t, ready(t, plans), sweep.Shard{Of: 1}, 2)
	want := rows(t, merge(t, sweep.JSONL, one))
	data := merge(t, sweep.Parquet, one)
	got, err := parquet.Read[sweep.Row](bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Parquet (-want +got):\n%s", d)
	}
	records, err := csv.NewReader(bytes.NewReader(merge(t, sweep.CSV, one))).ReadAll()
	if err != nil || len(records) != len(want)+1 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	at := func(name string) string { return records[1][slices.Index(records[0], name)] }
	if at("model") != want[0].Model || at("tokens_per_second") != fmt.Sprint(*want[0].Tokens) || at("request") != string(want[0].Request) || at("rate") != "" {
		t.Errorf("%q", records[1])
	}
	for i, x := range records[1] {
		if _, err := strconv.ParseFloat(x, 64); err == nil && len(strings.Trim(x, "-0.")) > units.Digits+1 {
			t.Errorf("%s has the digits %s", records[0][i], x)
		}
	}
	for f := range reflect.TypeFor[sweep.Row]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("parquet"), ","); name != f.Tag.Get("json") {
			t.Errorf("%s is %q in Parquet and %q in JSON", f.Name, name, f.Tag.Get("json"))
		}
	}
}

// TestResumes: a part that was cut anywhere is continued to the same table.
func TestResumes(t *testing.T) {
	t.Parallel()
	s := ready(t, predictions)
	whole := part(t, s, sweep.Shard{Of: 1}, 3)
	want := merge(t, sweep.JSONL, whole)
	heading := bytes.IndexByte(whole, '\n') + 1
	rapid.Check(t, func(rt *rapid.T) {
		cut := whole[:rapid.IntRange(heading, len(whole)).Draw(rt, "cut")]
		p := read(t, cut)
		if p.Size > int64(len(cut)) || cut[p.Size-1] != '\n' {
			rt.Fatalf("of %d bytes %d are whole rows", len(cut), p.Size)
		}
		again := slices.Clone(cut[:p.Size])
		missing := 0
		for line := range bytes.Lines(whole[heading:]) {
			var r sweep.Row
			if err := json.Unmarshal(line, &r); err != nil {
				rt.Fatal(err)
			}
			if !p.Has(int(r.Index)) {
				missing++
				again = append(again, line...)
			}
		}
		if missing+p.Rows() != s.Cells || (p.Complete() == nil) != (missing == 0) {
			rt.Fatalf("%d rows and %d missing of %d", p.Rows(), missing, s.Cells)
		}
		if !bytes.Equal(merge(t, sweep.JSONL, again), want) {
			rt.Fatal("another table")
		}
	})
}

// resealed gives lines the sums that fit them.
func resealed(data []byte) []byte {
	return regexp.MustCompile(`(?m)^(.*)(,"sum":")[0-9a-f]{8}("})$`).ReplaceAllFunc(data, func(line []byte) []byte {
		inner := line[:len(line)-len(`,"sum":"00000000"}`)]
		return fmt.Appendf(nil, `%s,"sum":"%08x"}`, inner, crc32.Checksum(inner, crc32.MakeTable(crc32.Castagnoli)))
	})
}

// TestDamaged: whatever happens to bytes of the rows of a part, the rows that are found are as they were written, and those of other lines are found.
func TestDamaged(t *testing.T) {
	t.Parallel()
	s := ready(t, predictions)
	whole := part(t, s, sweep.Shard{Of: 1}, 3)
	heading := bytes.IndexByte(whole, '\n') + 1
	written := map[string]bool{}
	for line := range bytes.Lines(whole) {
		written[string(line)] = true
	}
	rapid.Check(t, func(rt *rapid.T) {
		data := slices.Clone(whole)
		at := rapid.IntRange(heading, len(data)-1).Draw(rt, "at")
		end := min(len(data), at+rapid.IntRange(1, 3000).Draw(rt, "length"))
		hit := bytes.Count(data[at:end], []byte("\n")) + 1 // lines
		if data[end-1] == '\n' {
			hit++ // the next is joined to what is before
		}
		switch rapid.SampledFrom([]string{"zeros", "cut out", "doubled", "noise", "lines"}).Draw(rt, "damage") {
		case "zeros":
			clear(data[at:end])
		case "cut out":
			data = slices.Delete(data, at, end)
		case "doubled":
			data = slices.Insert(data, at, data[at:end]...)
		case "noise":
			copy(data[at:end], rapid.SliceOfN(rapid.Byte(), end-at, end-at).Draw(rt, "bytes"))
		case "lines":
			for i := range data[at:end] {
				data[at+i] = '\n'
			}
		}
		p := read(t, data)
		if lost := s.Cells - p.Rows(); lost > hit {
			rt.Fatalf("%d rows are lost in %d lines", lost, hit)
		}
		var b bytes.Buffer
		if err := p.Sorted(&b); err != nil {
			rt.Fatal(err)
		}
		for line := range bytes.Lines(b.Bytes()) {
			if !written[string(line)] {
				rt.Fatalf("%s", line)
			}
		}
		if !bytes.Equal(data, whole) && p.Rows() < s.Cells && p.Damaged == 0 && p.Size == int64(len(data)) && len(data) >= len(whole) {
			rt.Fatal("rows are missing and nothing is said")
		}
	})
	// A line longer than any row, as of a file system that lost its end, is one damaged line.
	long := slices.Concat(whole[:heading], make([]byte, 1<<24+5), []byte("\n"), whole[heading:])
	if p := read(t, long); p.Rows() != s.Cells || p.Damaged != 1 || p.Size != int64(len(long)) {
		t.Errorf("%d rows, %d damaged", p.Rows(), p.Damaged)
	}
}

// TestShards: every cell is in exactly one shard, and cells that share simulations are in the same.
func TestShards(t *testing.T) {
	t.Parallel()
	s := ready(t, predictions)
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 100).Draw(rt, "shards")
		var all []int
		for i := range n {
			cells := slices.Collect(s.In(sweep.Shard{Index: i, Of: n}))
			if len(cells)%4 != 0 {
				rt.Fatalf("shard %d of %d has %v", i, n, cells)
			}
			all = append(all, cells...)
		}
		slices.Sort(all)
		for i, cell := range all {
			if i != cell || len(all) != s.Cells {
				rt.Fatalf("%d shards have %v", n, all)
			}
		}
	})
}

// TestMergeRefuses: no row is lost, doubled or changed, and all are of one sweep.
func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	s := ready(t, plans)
	shards := [][]byte{part(t, s, sweep.Shard{Index: 0, Of: 2}, 1)}
	other := part(t, ready(t, strings.ReplaceAll(plans, "prices: [list, 3]", "prices: [list, 4]")), sweep.Shard{Index: 1, Of: 2}, 1)
	second := part(t, s, sweep.Shard{Index: 1, Of: 2}, 1)
	change := func(old, now string) []byte { // by a program that writes the right sums
		return resealed(bytes.Replace(slices.Clone(shards[0]), []byte(old), []byte(now), 1))
	}
	for _, c := range []struct {
		parts [][]byte
		want  string
	}{
		{nil, "no parts were found"},
		{[][]byte{shards[0]}, "shard 1 of 2 is missing"},
		{[][]byte{shards[0], shards[0], second}, "shard 0 of 2 appears twice"},
		{[][]byte{shards[0], other}, "shard 1 is of a different grid"},
		{[][]byte{change(`"program":"test"`, `"program":"next"`), second}, "shard 1 is of the program test, not next"},
		{[][]byte{change(`"gpus":1,"workloads"`, `"gpus":2,"workloads"`), second}, "the key is not that of its request"},
		{[][]byte{shards[0][:len(shards[0])-2], second}, "shard 0 of 2 lacks 1 of its 4 rows, the first is that of cell 3; 1 line damaged"},
		{[][]byte{bytes.Replace(slices.Clone(shards[0]), []byte(`"gpus":1,"workloads"`), []byte(`"gpus":2,"workloads"`), 1), second}, "shard 0 of 2 lacks 1 of its 4 rows, the first is that of cell 0; 1 line damaged"},
	} {
		var all []*sweep.Part
		for _, p := range c.parts {
			all = append(all, read(t, p))
		}
		if err := sweep.Merge(all, &bytes.Buffer{}, sweep.CSV); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
	sealed := func(text string) string {
		return string(shards[0]) + string(resealed([]byte(text[:len(text)-1]+`,"sum":"00000000"}`+"\n")))
	}
	for text, want := range map[string]string{
		"":                                     "it is empty",
		"{}\n":                                 "not a part of a sweep of this program, or its first line is damaged",
		`{"schema":"plimsoll/sweep/1"}` + "\n": "it has the format plimsoll/sweep/1 of another version of the program",
		string(change(`"cells":4`, `"cells":-4`)):                                     "not a part of a sweep",
		string(bytes.Replace(shards[0], []byte(`"cells":4`), []byte(`"cells":6`), 1)): "its first line is damaged",
		string(shards[0]) + "no\n":                                                    "",
		string(shards[0]) + `{"index":9`:                                              "",
		sealed(`{"index":"a"}`):                                                       "is not a row",
		sealed(`{"index":99}`):                                                        "which is not in shard 0 of 2",
	} {
		_, err := sweep.ReadPart(strings.NewReader(text), int64(len(text)))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestGridRefuses: a mistake has its line, its key and the nearest word.
func TestGridRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, now, want string }{
		{"models:", "model:", "grid.yaml:3: model: unknown key; nearest: models"},
		{"ask: plan", "ask: plans", `grid.yaml:2: ask: must be plan or predict, got the text plans; nearest: plan`},
		{"gpus: [1]", "gpus: [1]\nrates: [2]", "grid.yaml:8: rates: give gpus or rates"},
		{"gpus: [1]", "", "grid.yaml:2: gpus or rates is missing"},
		{"gpus: [1]", "gpus: [0]", "grid.yaml:7: gpus[0]: must be at least 1, got 0"},
		{"gpus: [1]", "gpus: [1]\nlayouts: [{tp: 1}]", "grid.yaml:8: layouts: is not an axis of ask: plan"},
		{"isl: 512", "isls: 512", "grid.yaml:6: workloads[0]: unknown field isls with value 512"},
		{"gpus: [1]", "gpus: [1, 1]", "grid.yaml:7: gpus[1]: 1 appears twice, first on line 7"},
		{"gpus: [1]", "gpus: 1", "grid.yaml:7: gpus: must be a list of at least one value, got 1"},
		{"[list, 3]", "[list, -3]", "grid.yaml:9: prices[1]: a price must be positive, got -3"},
		{"[list, 3]", "[cheap]", `a price is a number of US dollars, a mapping of systems to them, or "list", got "cheap"`},
		{"{modes: [agg]}", "{mode: [agg]}", "grid.yaml:10: with: unknown field mode"},
		{"{modes: [agg]}", "{gpus: 8}", "grid.yaml:10: with: gpus has an axis of its own, gpus"},
		{"models: [Qwen/Qwen3-8B]", "models: []", "grid.yaml:3: models: must be a list of at least one value"},
	} {
		_, err := sweep.Read([]byte(strings.Replace(plans, c.old, c.now, 1)), "grid.yaml")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", c.now, c.want, err)
		}
	}
	for _, c := range []struct{ old, now, want string }{
		{"Qwen/Qwen3-8B", "Qwen/Qwen3-8C", "Qwen/Qwen3-8B"},
		{"h200_sxm]", "h200_sxn]", "h200_sxm"},
		{"[vllm]", "[vlm]", "vllm"},
		{"{isl: 512, osl: 16}", "{preset: chatt}", "chat"},
		{"[list, 3]", "[{b200_sxm: 3}]", "prices[0]: b200_sxm is not one of the systems"},
		{"{isl: 512, osl: 16}", "{trace: none.jsonl}", "workloads[0]"},
	} {
		g, err := sweep.Read([]byte(strings.Replace(plans, c.old, c.now, 1)), "grid.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sweep.Check(&session.Session{}, g); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", c.now, c.want, err)
		}
	}
}

// TestIdentity: a grid is another one when a file that it names is.
func TestIdentity(t *testing.T) {
	t.Parallel()
	hash := func(trace string) string {
		g, err := sweep.Read([]byte("ask: predict\nmodels: [Qwen/Qwen3-8B]\nsystems: [h200_sxm]\nworkloads: [{trace: t.jsonl}]\n"), "grid.yaml")
		if err != nil {
			t.Fatal(err)
		}
		s, err := sweep.Check((&session.Session{}).Over(func(string) ([]byte, bool) { return []byte(trace), true }), g)
		if err != nil {
			t.Fatal(err)
		}
		return s.Hash
	}
	const one = `{"timestamp": 0, "input_length": 100, "output_length": 10}` + "\n"
	if a, b := hash(one), hash(one+one); a == b || a != hash(one) {
		t.Errorf("the hashes are %s and %s", a, b)
	}
}

// TestStops: an error of the keeper, or a cancelled context, ends a sweep.
func TestStops(t *testing.T) {
	t.Parallel()
	s := ready(t, predictions)
	cells := slices.Collect(s.In(sweep.Shard{Of: 1}))
	full := fmt.Errorf("the disk is full")
	if err := s.Run(t.Context(), &session.Session{}, cells, 2, func(*sweep.Row) error { return full }); err != full { //nolint:errorlint // itself
		t.Errorf("want %v, got %v", full, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := s.Run(ctx, &session.Session{}, cells, 2, func(*sweep.Row) error {
		if n++; n == 5 {
			cancel()
		}
		return nil
	})
	if err == nil || n == len(cells) {
		t.Errorf("%d rows, %v", n, err)
	}
}

// TestJobs: the script parses and the manifest is what the API server accepts.
func TestJobs(t *testing.T) {
	t.Parallel()
	j := sweep.Job{Name: "plimsoll-sweep", Grid: "my grid.yaml", Text: []byte(plans), Out: "table.csv", Shards: 8, CPUs: 2, Image: "plimsoll:1", Claim: "results", Namespace: "fleet"}
	script := j.Slurm()
	if _, err := syntax.NewParser().Parse(bytes.NewReader(script), "job"); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"#SBATCH --array=0-7\n", "#SBATCH --requeue\n", "'my grid.yaml'", "--shard auto/8", "--cpus-per-task=2"} {
		if !bytes.Contains(script, []byte(want)) {
			t.Errorf("the script lacks %q:\n%s", want, script)
		}
	}
	manifest, err := j.Kubernetes()
	if err != nil {
		t.Fatal(err)
	}
	const file = "../../launch/files/testdata/schemas/kubernetes.json"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4)
	if err := c.AddResource("k8s.json", schemas); err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(manifest))
	for _, kind := range []string{"v1/ConfigMap", "batch/v1/Job"} {
		var doc map[string]any
		if err := decoder.Decode(&doc); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(doc["apiVersion"], "/", doc["kind"]) != kind {
			t.Errorf("want %s, got %v %v", kind, doc["apiVersion"], doc["kind"])
		}
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.MustCompile("k8s.json#/$defs/" + strings.ReplaceAll(kind, "/", "~1")).Validate(value); err != nil {
			t.Error(err)
		}
		if kind == "v1/ConfigMap" && doc["data"].(map[string]any)["grid.yaml"] != plans {
			t.Errorf("the grid changed: %v", doc["data"])
		}
	}
}

// FuzzRead: no grid makes the reader panic, and what it reads has cells.
func FuzzRead(f *testing.F) {
	f.Add([]byte(plans))
	f.Add([]byte(predictions))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := sweep.Read(data, "grid.yaml")
		if err == nil && len(g.Models)*len(g.Systems)*len(g.Workloads) == 0 {
			t.Errorf("no cells in %q", data)
		}
	})
}

// FuzzPart: no part makes the reader panic.
func FuzzPart(f *testing.F) {
	f.Add(resealed([]byte(`{"schema":"plimsoll/sweep/2","cells":2,"group":1,"shard":0,"of":1,"sum":"00000000"}` + "\n" + `{"index":1,"status":"ok","sum":"00000000"}` + "\n{")))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := sweep.ReadPart(bytes.NewReader(data), int64(len(data)))
		if err == nil && (p.Size > int64(len(data)) || p.Rows() > p.Heading.Cells) {
			t.Errorf("%d bytes and %d rows of %q", p.Size, p.Rows(), data)
		}
	})
}
