package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/face/cli"
	"github.com/plimsoll-project/plimsoll/internal/face/cli/disk"
	"github.com/plimsoll-project/plimsoll/internal/face/cli/disk/disktest"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// writer is a command line that writes to the disk. IN stands for the folder of inputs.
type writer struct {
	args string
	flag string // that names the output, followed by it
	kind string // as the flag says: file, folder, home
	out  string
	// old is what is there before, by name below the output, or "" for the output itself. Folders are replaced with --force.
	old map[string]string
	// derived is set if the output is not the name itself but made of it.
	derived bool
	// varies is set for an output that is not the same twice.
	varies bool
	// like is set for a writer that does what another does. Every seventh of its operations is tried, all of them by "make kills".
	like bool
}

const (
	smallPlan  = "plan Qwen/Qwen3-8B --system h200_sxm --gpus 1 --engine vllm --isl 256 --osl 8 --ttft 1000 --tpot 30 --serving-mode agg --no-changes -q"
	smallCLI   = " --model-path Qwen/Qwen3-8B --system h200_sxm --backend vllm --isl 256 --osl 8 --deployment-target slurm -q"
	smallShape = " Qwen/Qwen3-8B --num-devices 1 --input-length 256 --output-length 8"
	smallRun   = "simulate Qwen/Qwen3-8B --system h200_sxm --engine vllm --concurrency 1 --num-prompts 2 --input-length 64 --output-length 4"
)

// writers are all command lines that write, one for each flag of each command.
func writers() []writer {
	file := func(args, flag, out string) writer {
		return writer{args: args, flag: flag, kind: "file", out: out, old: map[string]string{"": "old\n"}}
	}
	folder := func(args, flag, out string) writer {
		return writer{args: args, flag: flag, kind: "folder", out: out, old: map[string]string{"plan.json": "old\n", "deploy/old/run.sh": "old\n"}}
	}
	within := func(args, flag, out string, files ...string) writer {
		w := writer{args: args, flag: flag, kind: "home", out: out, old: map[string]string{"notes": "of the user\n"}}
		for _, name := range files {
			w.old[name] = "old\n"
		}
		return w
	}
	tree := func(mode, more, name string) writer {
		w := within("cli "+mode+smallCLI+more, "--save-dir", "results", name+"/agg/old.csv")
		w.derived = true
		return w
	}
	like := func(w writer) writer {
		w.like = true
		return w
	}
	all := []writer{
		like(folder(smallPlan+" --deployment-target slurm", "--out", "plan")),
		like(folder("files IN/plan/plan.json --deployment-target slurm", "--out", "deploy")),
		like(folder("measure Qwen/Qwen3-8B --gpus 1 --system h200_sxm --isl 256 --osl 8 --ttft 2000 --tpot 30 --engine vllm --serving-mode agg -q", "--write", "runs")),
		folder("measure --kernels", "--write", "kernels"),
		like(file("measure --kernels --from IN/kernels.json --system h200_sxm", "--out", "mine.yaml")),
		like(tree("default", " --total-gpus 1 --ttft 1000 --tpot 30 --top-n 1", "Qwen_Qwen3-8B_h200_sxm_vllm_isl256_osl8_ttft1000_tpot30")),
		like(tree("generate", " --total-gpus 1", "Qwen_Qwen3-8B_h200_sxm_vllm_isl256_osl8_ttft2000_tpot30")),
		like(tree("recommend", " --target-request-rate 1 --ttft 1000 --tpot 30 --top-n 1", "Qwen_Qwen3-8B_h200_sxm_vllm_isl256_osl8_ttft1000_tpot30_rate1")),
		like(writer{
			args: "cli exp --yaml-path IN/results/Qwen_Qwen3-8B_h200_sxm_vllm_isl256_osl8_ttft2000_tpot30/agg/config.yaml --deployment-target slurm --top-n 1 -q", flag: "--save-dir", kind: "home", out: "saved",
			old: map[string]string{"Qwen_Qwen3-8B_h200_sxm_vllm_isl256_osl8_ttft2000_tpot30/agg/old.csv": "old\n"}, derived: true,
		}),
		file("sweep IN/grid.yaml --jobs 1 -q", "--out", "table.csv"),
		file("sweep IN/grid.yaml --shard 1/2 --jobs 1 -q", "--out", "s.csv"),
		file("sweep merge IN/part.part-0-of-2.jsonl IN/part.part-1-of-2.jsonl -q", "--out", "table.jsonl"),
		like(file("calibrate IN/rows.csv --iterations 1", "--out", "mine.yaml")),
		like(file("calibrate --from-results IN/result.json", "--write-rows", "rows.csv")),
		like(file("accuracy IN/rows.csv -j 1", "--per-row", "rows.csv")),
		like(file("optimize"+smallShape+" --no-terminal-plots", "--csv", "a.csv")),
		like(file("optimize"+smallShape+" --no-terminal-plots", "--plot", "a.svg")),
		file("optimize"+smallShape+" --no-terminal-plots", "--chrome-trace", "a.json"),
		like(file("step Qwen/Qwen3-8B --decode", "--chrome-trace", "a.json")),
		file(smallRun, "--timeline", "a.csv"),
		like(file(smallRun, "--per-request", "a.csv")),
		like(within("pages --engine IN/engine", "--playground", "site", "index.html", "page.js")),
		within("help sweep", "--man-dir", "man", "plimsoll-sweep.1"),
		like(file("version", "--memprofile", "mem.prof")),
		like(file("version", "--cpuprofile", "cpu.prof")),
	}
	for i := range all {
		w := &all[i]
		if strings.Contains(w.args, "--shard") {
			w.derived, w.old = true, map[string]string{}
		}
		w.varies = strings.HasSuffix(w.flag, "profile")
		if w.derived = w.derived || w.args[:2] == "op" && w.flag == "--chrome-trace"; w.derived && w.kind == "file" {
			w.old = map[string]string{}
		}
	}
	fix := file("lint --static", "--fix", "run.sh")
	fix.old[""] = "#!/bin/bash\nvllm serve Qwen/Qwen3-8B --max-num-sequs 256\n"
	return append(all, fix)
}

// plain is the command line with an output of some name, and without --force.
func (w *writer) plain(inputs, out string) []string {
	return append(strings.Fields(strings.ReplaceAll(w.args, "IN/", filepath.ToSlash(inputs)+"/")), w.flag, out)
}

// line is the command line.
func (w *writer) line(inputs string) []string {
	args := w.plain(inputs, w.out)
	if w.old["plan.json"] != "" || w.flag == "--save-dir" {
		args = append(args, "--force")
	}
	return args
}

// laboratory is what tests of writers share: inputs, and simulations that are known.
type laboratory struct {
	inputs string
	memo   *session.Memo
}

func newLaboratory(t *testing.T) *laboratory {
	t.Helper()
	l := &laboratory{t.TempDir(), memo()}
	at := func(name string) string { return filepath.Join(l.inputs, name) }
	must(t, at("grid.yaml"), "ask: predict\nmodels: [Qwen/Qwen3-8B]\nsystems: [h200_sxm]\nworkloads: [{isl: 64, osl: 4}]\nconcurrency: [1, 2]\nwith: {num_prompts: 2}\n", 0o600)
	must(t, at("kernels.json"), `{"schema": "plimsoll/kernels/1", "device": "NVIDIA H200", "kernels": [{"kind": "gemm", "format": "bf16", "m": 16, "n": 5120, "k": 5120, "us": 16.736}]}`, 0o600)
	must(t, at("rows.csv"), "id,backend,model_path,system,isl,osl,tp_size,concurrency,num_prompts,silicon_ttft_ms,silicon_tpot_ms\n"+
		"a,vllm,Qwen/Qwen3-8B,h200_sxm,64,4,1,1,2,80,8\nb,vllm,Qwen/Qwen3-8B,h200_sxm,64,4,1,2,4,80,14\n", 0o600)
	must(t, at("engine/engine.bin"), "engine", 0o600)
	must(t, at("engine/wasm_exec.js"), "//", 0o600)
	if err := writeTables(at("kernels")); err != nil {
		t.Fatal(err)
	}
	l.succeeds(t, l.inputs, strings.Fields(smallPlan+" --deployment-target slurm --out plan")...)
	l.succeeds(t, l.inputs, strings.Fields("cli generate"+smallCLI+" --total-gpus 1 --save-dir results")...)
	for _, shard := range []string{"0/2", "1/2"} {
		l.succeeds(t, l.inputs, strings.Fields("sweep grid.yaml -q --out part.csv --shard "+shard)...)
	}
	must(t, at("result.json"), l.succeeds(t, l.inputs, strings.Fields(smallRun+" --json")...), 0o600)
	return l
}

// outcome is how a run ends.
type outcome struct {
	code        int
	out, talk   string
	errors      []string // lines
	unexplained []string // lines of stderr that are not messages
}

// runs runs the program in a folder, on a disk.
func (l *laboratory) runs(dir string, sys disk.System, args ...string) *outcome {
	var out, talk bytes.Buffer
	o := &outcome{}
	o.code = cli.Main(&cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &talk, Getenv: func(string) string { return "" },
		WorkDir: dir, Now: time.Now, Memo: l.memo, Disk: sys,
	})
	o.out, o.talk = out.String(), talk.String()
	for line := range strings.Lines(o.talk) {
		switch {
		case strings.HasPrefix(line, "plimsoll: error: "):
			o.errors = append(o.errors, strings.TrimSuffix(strings.TrimPrefix(line, "plimsoll: error: "), "\n"))
		case !strings.HasPrefix(line, "plimsoll: note: ") && !strings.HasPrefix(line, "plimsoll: hint: "):
			o.unexplained = append(o.unexplained, line)
		}
	}
	return o
}

// succeeds runs the program and returns what it prints.
func (l *laboratory) succeeds(t *testing.T, dir string, args ...string) string {
	t.Helper()
	o := l.runs(dir, nil, args...)
	if o.code != 0 {
		t.Fatalf("%v: exit %d: %s", args, o.code, o.talk)
	}
	return o.out
}

// start is a folder with what a writer finds.
func (w *writer) start(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range w.old {
		must(t, filepath.Join(dir, w.out, name), text, 0o644)
	}
	return dir
}

// files are the files below a folder, apart from workspaces; left are the files of those.
func files(t *testing.T, dir string) (found map[string]string, left []string) {
	t.Helper()
	found = map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		rel = filepath.ToSlash(rel)
		if strings.Contains(rel, ".plimsoll-") {
			left = append(left, rel)
			return nil
		}
		if e.IsDir() {
			return nil
		}
		data, err := os.ReadFile(name)
		found[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found, left
}

// states are what a writer finds and what it makes of it.
type states struct{ before, after map[string]string }

// states runs a writer without faults, and counts its operations.
func (w *writer) states(t *testing.T, l *laboratory) (states, int) {
	t.Helper()
	dir := w.start(t)
	var s states
	s.before, _ = files(t, dir)
	sys := &disktest.Faults{System: disk.OS{}}
	if o := l.runs(dir, sys, w.line(l.inputs)...); o.code != 0 {
		t.Fatalf("exit %d: %s", o.code, o.talk)
	}
	var left []string
	if s.after, left = files(t, dir); len(left) > 0 || maps.Equal(s.before, s.after) {
		t.Fatalf("left %v, wrote %v", left, slices.Sorted(maps.Keys(s.after)))
	}
	return s, len(sys.Ops())
}

// whole reports whether files are as before or as after: all of a folder that is written as a whole, else each.
func (w *writer) whole(s states, got map[string]string) error {
	seen := maps.Clone(got)
	maps.DeleteFunc(seen, func(name, _ string) bool {
		return strings.HasSuffix(name, ".journal") || strings.HasSuffix(name, ".lock")
	})
	if w.kind != "home" && !w.derived || w.flag == "--save-dir" {
		if w.varies && seen[w.out] != s.before[w.out] && seen[w.out] != "" || maps.Equal(seen, s.before) || maps.Equal(seen, s.after) {
			return nil
		}
		return fmt.Errorf("neither old nor new: %v", slices.Sorted(maps.Keys(seen)))
	}
	for name, text := range seen {
		if was, ok := s.before[name]; (!ok || was != text) && s.after[name] != text {
			return fmt.Errorf("%s is neither old nor new", name)
		}
	}
	for name := range s.before {
		if _, ok := seen[name]; !ok {
			return fmt.Errorf("%s is gone", name)
		}
	}
	return nil
}

// again runs a writer after one that failed: it succeeds, and clears what that left.
func (w *writer) again(t *testing.T, l *laboratory, s states, dir string) {
	t.Helper()
	if o := l.runs(dir, nil, w.line(l.inputs)...); o.code != 0 {
		t.Errorf("the next run: exit %d: %s", o.code, o.talk)
	}
	got, left := files(t, dir)
	if len(left) > 0 || !w.varies && !maps.Equal(got, s.after) {
		t.Errorf("the next run leaves %v (-want +got):\n%s", left, cmp.Diff(s.after, got))
	}
}

// TestWriterFaults: whichever operation of whichever writer fails or is its last, its output is old or new and nothing else is left
// but by a killed run, one line says why, and the next run succeeds and clears.
func TestWriterFaults(t *testing.T) {
	t.Parallel()
	l := newLaboratory(t)
	for i, w := range writers() {
		t.Run(w.name(), func(t *testing.T) {
			t.Parallel()
			s, n := w.states(t, l)
			stride, all := 1, kills(t) > 0
			if w.like && !all {
				stride = 7
			}
			for at := 1 + i%stride; at <= n && !t.Failed(); at += stride {
				if at%2 == 0 || all {
					w.fails(t, l, s, at)
				}
				if at%2 == 1 || all {
					w.stops(t, l, s, at)
				}
			}
			t.Logf("%s: %d operations", w.name(), n)
		})
	}
}

// name is the command and the flag.
func (w *writer) name() string {
	words := strings.Fields(w.args)
	if len(words) > 1 && !strings.ContainsAny(words[1], "/-") {
		words[0] += " " + words[1]
	}
	return words[0] + " " + w.flag
}

// TestPutBack: a run that was killed between two renames, where the system has no exchange, leaves no folder; the next run puts the old
// one back before it looks, and says so.
func TestPutBack(t *testing.T) {
	t.Parallel()
	l := newLaboratory(t)
	i := slices.IndexFunc(writers(), func(w writer) bool { return w.name() == "files --out" })
	w := writers()[i]
	dir := w.start(t)
	sys := &disktest.Faults{System: disk.OS{}, NoExchange: true}
	if o := l.runs(dir, sys, w.line(l.inputs)...); o.code != 0 {
		t.Fatal(o.talk)
	}
	at := slices.Index(sys.Ops(), "rename "+w.out) + 1
	dir = w.start(t)
	before, _ := files(t, dir)
	_ = l.runs(dir, &disktest.Faults{System: disk.OS{}, NoExchange: true, At: at, Stop: true}, w.line(l.inputs)...)
	if _, err := os.Stat(filepath.Join(dir, w.out)); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("operation %d is not between the renames: %q", at, sys.Ops())
	}
	o := l.runs(dir, nil, w.plain(l.inputs, w.out)...)
	want := "plimsoll: note: put back " + filepath.Join(dir, w.out) + ", which a killed run had moved aside\n" +
		"plimsoll: error: --out " + w.out + ": is not empty; --force replaces it\n"
	after, left := files(t, dir)
	if d := cmp.Diff(before, after); o.code != cli.ExitUsage || o.talk != want || d != "" || len(left) > 0 {
		t.Errorf("exit %d: %s\nleft %v (-want +got):\n%s", o.code, o.talk, left, d)
	}
}

// fails lets an operation fail.
func (w *writer) fails(t *testing.T, l *laboratory, s states, at int) {
	t.Helper()
	cause := []error{syscall.ENOSPC, syscall.EIO, syscall.EACCES}[at%3]
	dir := w.start(t)
	sys := &disktest.Faults{System: disk.OS{}, At: at, Err: cause}
	o := l.runs(dir, sys, w.line(l.inputs)...)
	op := sys.Failed()
	got, left := files(t, dir)
	wantCode := cli.ExitFailure
	if errors.Is(cause, syscall.EACCES) {
		wantCode = cli.ExitUsage
	}
	undone := strings.HasPrefix(op, "remove ") || op == "close lock"
	if err := w.whole(s, got); err != nil {
		t.Errorf("operation %d, %s: %v", at, op, err)
	}
	switch {
	case op == "":
		t.Errorf("operation %d did not come", at)
	case len(o.unexplained) > 0:
		t.Errorf("operation %d, %s: said %q", at, op, o.talk)
	case o.code == 0 && (len(o.errors) > 0 || !w.varies && !includes(got, s.after)):
		t.Errorf("operation %d, %s: success, and said %q", at, op, o.talk)
	case o.code != 0 && (o.code != wantCode || len(o.errors) != 1 || !strings.HasPrefix(o.errors[0], w.flag+" ") || !strings.HasSuffix(o.errors[0], ": "+cause.Error())):
		t.Errorf("operation %d, %s: exit %d: %s", at, op, o.code, o.talk)
	case len(left) > 0 && !undone:
		t.Errorf("operation %d, %s: left %v", at, op, left)
	}
	if o.code != 0 && len(left) == 0 && maps.Equal(got, s.before) {
		return // as if it had not run
	}
	w.again(t, l, s, dir)
	if t.Failed() {
		t.Logf("operation %d, %s", at, op)
	}
}

// includes reports whether all of want is in got.
func includes(got, want map[string]string) bool {
	for name, text := range want {
		if x, ok := got[name]; !ok || x != text {
			return false
		}
	}
	return true
}

// stops lets an operation be the last.
func (w *writer) stops(t *testing.T, l *laboratory, s states, at int) {
	t.Helper()
	dir := w.start(t)
	sys := &disktest.Faults{System: disk.OS{}, At: at, Stop: true}
	_ = l.runs(dir, sys, w.line(l.inputs)...)
	got, _ := files(t, dir)
	if err := w.whole(s, got); err != nil {
		t.Errorf("stopped at operation %d, %s: %v", at, sys.Failed(), err)
	}
	w.again(t, l, s, dir)
	if t.Failed() {
		t.Logf("stopped at operation %d, %s", at, sys.Failed())
	}
}
