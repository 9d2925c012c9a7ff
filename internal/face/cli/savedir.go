package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/compat/nvidia"
	"github.com/plimsoll-project/plimsoll/internal/draw/chart"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/configure"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/recommend"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// saveFlags are the output directory and what goes into the files.
type saveFlags struct {
	dir, version string
	force        bool
	targets      targetFlag
	site         launch.Site
	target       string   // the tree of the results, below dir
	said         []remark // about rows
	started      int      // rows with files
}

// remark is a text about the files of some rows.
type remark struct {
	text string
	rows []string
}

// about notes a text about a row, once for all rows that it is true of.
func (f *saveFlags) about(row, text string) {
	i := slices.IndexFunc(f.said, func(r remark) bool { return r.text == text })
	if i < 0 {
		i = len(f.said)
		f.said = append(f.said, remark{text: text})
	}
	f.said[i].rows = append(f.said[i].rows, row)
}

// String names one row, and counts the others.
func (r *remark) String() string {
	who := r.rows[0]
	if n := len(r.rows) - 1; n > 0 {
		who += " and " + units.Counted(n, "more row")
	}
	return who + ": " + r.text
}

// define adds the flags.
func (f *saveFlags) define(into *pflag.FlagSet) {
	section(into, "Files", func(fs *pflag.FlagSet) {
		outputVar(fs, &f.dir, aHome, "save-dir", "write the results and the files that run each row below this `directory`")
		fs.BoolVar(&f.force, "force", false, "replace the files of an earlier run, and write files in which lint finds errors")
		f.targets.define(fs, "dynamo and bench, or plain where Dynamo cannot run the row")
		fs.StringVar(&f.version, "generated-config-version", "", "engine version of the files (default that of the prediction)")
		siteFlags(fs, &f.site)
	})
}

// aim names the tree of experiments under a load, and refuses one that exists, before anything is searched.
func (f *saveFlags) aim(env *Env, experiments []experiment.Experiment, load string) error {
	if f.dir == "" || len(experiments) == 0 {
		return nil
	}
	first := experiments[0]
	first.Complete()
	f.target = filepath.Join(f.dir, treeName(&first)+load)
	return env.try(aFolder, "save-dir", f.target, f.force)
}

// save writes the tree of a result: all of it, or nothing.
func (f *saveFlags) save(ctx context.Context, env *Env, r *configure.Response, say func(string)) error {
	files, err := f.tree(ctx, env.world(), r)
	if err != nil {
		return err
	}
	return f.write(env, files, say)
}

// saveNeeds writes the tree of a recommendation.
func (f *saveFlags) saveNeeds(ctx context.Context, env *Env, r *recommend.Response, say func(string)) error {
	var t tree
	world := env.world()
	for i := range r.Results {
		x, asked := &r.Results[i], r.Request.Experiments[i]
		if asked.Devices = x.Experiment.Devices; len(x.Rows) > 0 {
			asked.Devices = x.Rows[0].Used
		}
		t.join(f.experiment(ctx, world, &r.Request.Sources, x, asked, func(w io.Writer) error { return report.NeedsCSV(w, &r.Results[i]) }))
	}
	if t.err != nil {
		return t.err
	}
	return f.write(env, t.files, say)
}

// write writes a tree.
func (f *saveFlags) write(env *Env, files []launch.File, say func(string)) error {
	if err := env.place("save-dir", f.target, files, f.force); err != nil {
		return err
	}
	for i := range f.said {
		say(f.said[i].String())
	}
	say(fmt.Sprintf("saved %d files in %s", len(files), f.target))
	if len(f.targets) > 0 && f.started == 0 && len(f.said) > 0 {
		return fmt.Errorf("--deployment-target %s: no row has files; %s", strings.Join(f.targets, " "), f.said[0].String())
	}
	return nil
}

// treeName is the directory of a result: the same for the same request.
func treeName(e *experiment.Experiment) string {
	ms := func(x float64) string { return fmt.Sprintf("%g", x) }
	prefix := ""
	if e.Prefix > 0 {
		prefix = fmt.Sprintf("_prefix%d", e.Prefix)
	}
	latency := ""
	if l := e.Limits.Latency; l > 0 {
		latency = "_latency" + ms(l.TypedMs())
	}
	return fmt.Sprintf("%s_%s_%s_isl%d_osl%d%s_ttft%s_tpot%s%s", strings.ReplaceAll(e.Model, "/", "_"), e.System, e.Engine.Name,
		e.Input, e.Output, prefix, ms(e.Limits.TTFT.TypedMs()), ms(e.Limits.TPOT.TypedMs()), latency)
}

// tree makes the files of a result.
func (f *saveFlags) tree(ctx context.Context, world *session.Session, r *configure.Response) ([]launch.File, error) {
	var t tree
	for _, format := range chart.Formats() {
		t.add("pareto_frontier."+format, func(w io.Writer) error { return report.ParetoFile(w, format, r) })
	}
	for i := range r.Results {
		x := &r.Results[i]
		t.join(f.experiment(ctx, world, &r.Request.Sources, x, r.Request.Experiments[i], func(w io.Writer) error { return report.OptionsCSV(w, x) }))
		t.add(path.Join(x.Experiment.Name, "pareto.csv"), func(w io.Writer) error { return report.ParetoCSV(w, x) })
	}
	return t.files, t.err
}

// experiment makes the files of one experiment: its rows as CSV, the experiment as YAML, and the files that run each row.
func (f *saveFlags) experiment(ctx context.Context, world *session.Session, s *session.Sources, x *experiment.Result, asked experiment.Experiment, rows func(io.Writer) error) ([]launch.File, error) {
	var t tree
	t.add(path.Join(asked.Name, "best_config_topn.csv"), rows)
	t.join([]launch.File{{Path: path.Join(asked.Name, "config.yaml"), Mode: 0o644, Data: nvidia.Write(asked)}}, nil)
	for k := range x.Rows {
		t.join(f.row(ctx, world, s, x, k))
	}
	return t.files, t.err
}

// row makes the files that run one row.
func (f *saveFlags) row(ctx context.Context, world *session.Session, s *session.Sources, x *experiment.Result, k int) ([]launch.File, error) {
	o := x.Rows[k]
	if f.version != "" {
		o.Deployment.Engine.Version = f.version
	}
	top := path.Join(x.Experiment.Name, fmt.Sprintf("top%d", k+1))
	var made *deploy.Response
	plan, err := deploy.Plan(world, s, &x.Experiment, &o, f.site)
	if err == nil {
		made, err = f.targets.row(ctx, world, s, plan, f.force)
	}
	unsound, ok := errors.AsType[*deploy.UnsoundError](err)
	switch { // the tables and the other rows are of use without its files
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case ok:
		f.about(top, "files "+unsound.Line())
		return nil, nil
	case err != nil:
		f.about(top, "no files: "+strings.ReplaceAll(err.Error(), "\n", "; "))
		return nil, nil
	}
	f.started++
	for _, text := range slices.Concat(made.Skipped, made.Findings, made.Rests) {
		f.about(top, text)
	}
	for i := range made.Files {
		under := string(x.Experiment.Mode)
		if path.Base(made.Files[i].Path) == "generator_config.yaml" {
			under = ""
		}
		made.Files[i].Path = path.Join(top, under, made.Files[i].Path)
	}
	return made.Files, nil
}

// tree collects the files of a result.
type tree struct {
	files []launch.File
	err   error
}

// add adds a file.
func (t *tree) add(name string, write func(io.Writer) error) {
	var b bytes.Buffer
	t.err = errors.Join(t.err, write(&b))
	t.files = append(t.files, launch.File{Path: name, Mode: 0o644, Data: b.Bytes()})
}

// join adds files that were made elsewhere.
func (t *tree) join(files []launch.File, err error) {
	t.err = errors.Join(t.err, err)
	t.files = append(t.files, files...)
}
