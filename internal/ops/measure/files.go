package measure

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// RecordFile is the file of a folder that says what was to be measured, ScriptFile the one that measures.
const (
	RecordFile = "measure.json"
	ScriptFile = "measure.sh"
)

// The modes of files.
const (
	plainFile  = 0o644
	scriptFile = 0o755
)

// Files are the files that make the runs: a script, a folder for each server with what starts it, and the record that results are
// compared with.
func (x *Response) Files(ctx context.Context, w *session.Session) ([]launch.File, error) {
	if len(x.Runs) == 0 {
		return nil, session.BadInput(fmt.Errorf("there is no run to write: %s", strings.Join(x.Notes, "; ")))
	}
	record, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return nil, err
	}
	out := []launch.File{{Path: RecordFile, Mode: plainFile, Data: append(record, '\n')}}
	for i := range x.Runs {
		run := &x.Runs[i]
		if i > 0 && x.Runs[i-1].Folder == run.Folder {
			continue
		}
		more, err := x.serve(ctx, w, run)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return append(out, launch.File{Path: ScriptFile, Mode: scriptFile, Data: []byte(x.script())}), nil
}

// serve are the files that start the server of a run.
func (x *Response) serve(ctx context.Context, w *session.Session, run *Run) ([]launch.File, error) {
	most := 0
	for i := range x.Runs {
		if x.Runs[i].Folder == run.Folder {
			most = max(most, x.Runs[i].Concurrency)
		}
	}
	made, err := deploy.Run(ctx, w.Quiet(), deploy.Request{
		Deployment: &run.Deployment, Input: run.Input, Output: run.Output, Concurrency: most, Targets: []files.Target{files.Plain},
		Site: deploy.Site{ModelPath: x.Request.ModelPath, ServedName: x.Request.Plan.Model}, Force: true,
	})
	if err != nil {
		return nil, err
	}
	var out []launch.File
	for _, f := range made.Files {
		name := path.Base(f.Path)
		if name == "node_0.sh" {
			name = "serve.sh"
		}
		f.Path = path.Join(run.Folder, name)
		out = append(out, f)
	}
	return out, nil
}

// frame is what the script begins with: how servers are started and stopped.
//
//go:embed frame.sh
var frame []byte

// script is the script that makes all runs.
func (x *Response) script() string {
	var b bytes.Buffer
	r := &x.Request
	say := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	say("#!/usr/bin/env bash")
	say("# %s of %s on %s: about %.0f minutes.", counted(len(x.Runs)), r.Plan.Model, strings.Join(r.Plan.Systems, ""), math.Ceil(x.Minutes))
	say("# Afterwards: plimsoll measure --from THIS_FOLDER")
	b.Write(frame)
	model, tokenizer := r.Plan.Model, r.Plan.Model
	if r.ModelPath != "" {
		tokenizer = r.ModelPath
	}
	for i := range x.Runs {
		run := &x.Runs[i]
		first := i == 0 || x.Runs[i-1].Folder != run.Folder
		last := i+1 == len(x.Runs) || x.Runs[i+1].Folder != run.Folder
		indent, serves := "", run.Client != TRTLLMBench
		if first {
			say("\n# %s: one copy, on %s.", run.Option, units.Counted(run.GPUs, "GPU"))
			if serves {
				say("if start %s; then", launch.Quote(run.Folder))
			}
		}
		if serves {
			indent = "  "
		}
		tpot := ""
		if t := run.Judged.TPOT; t != nil {
			tpot = fmt.Sprintf(", TPOT %.1f (%.1f to %.1f)", t.Value, t.Low, t.High)
		}
		ttft := run.Judged.TTFT.Zero()
		say("\n%s# Run %d of %d, about %.0f s; predicted: TTFT %.0f ms (%.0f to %.0f)%s.", indent, i+1, len(x.Runs), run.Seconds, ttft.Value, ttft.Low, ttft.High, tpot)
		say("%secho 'run %d of %d: %s'", indent, i+1, len(x.Runs), run.ID)
		if !serves {
			b.WriteString(run.dataset())
		}
		say("%s%s || fail 'the run %s failed'", indent, run.bench(model, tokenizer).Lines(indent+"  "), run.ID)
		if last && serves {
			say("fi\nstop")
		}
	}
	say("\necho \"plimsoll measure --from $PWD reads the results\"")
	say("exit $failed")
	return b.String()
}

func counted(n int) string {
	if n == 1 {
		return "One run"
	}
	return fmt.Sprintf("%d runs", n)
}

// dataset writes the requests that trtllm-bench reads: one a line, random words.
func (run *Run) dataset() string {
	return fmt.Sprintf(`python3 - <<'DATA' > %s
import json, random
random.seed(%d)
words = lambda n: [random.randrange(1000, 30000) for _ in range(n)]
shared = words(%d)
for i in range(%d):
    n, m = (round(x * random.uniform(%g, 1)) for x in (%d, %d))
    print(json.dumps({"task_id": i, "input_ids": shared + words(max(1, n - len(shared))), "output_tokens": max(1, m)}))
DATA
`, launch.Quote(run.ID+".dataset"), run.seed(), run.Prefix, run.Requests, run.LengthLow, run.Input, run.Output)
}
