package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/compat/aiconfigurator"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	launchfiles "github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/ops"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// saveFlags say where the results and the files that run them go.
type saveFlags struct {
	dir, version string
	force        bool
	targets      []string
	site         launch.Site
}

// define adds the flags.
func (f *saveFlags) define(into *pflag.FlagSet) {
	var names []string
	for _, t := range launchfiles.Targets() {
		names = append(names, string(t))
	}
	section(into, "Files", func(fs *pflag.FlagSet) {
		fs.StringVar(&f.dir, "save-dir", f.dir, "write results, and the files that run each row, under this `directory`")
		fs.BoolVar(&f.force, "force", false, "replace what an earlier run saved there")
		nargs.ListVar(fs, &f.targets, "deployment-target", nargs.OneOrMore, nargs.OneOf(append(names, "dynamo-j2", "dynamo-python", "llm-d-helm")...),
			"which files: "+strings.Join(names, ", ")+" (default all that can run the row)")
		fs.StringVar(&f.version, "generated-config-version", "", "engine version that files are written for (default that of the prediction)")
		fs.StringVar(&f.site.Namespace, "namespace", "", "Kubernetes namespace")
		fs.StringVar(&f.site.ServedName, "served-model-name", "", "name under which the model is served (default the model)")
		fs.StringVar(&f.site.Image, "k8s-image", "", "container image (default the engine's of its version)")
		fs.IntVar(&f.site.Port, "port", 0, "port that is served (default 8000)")
	})
}

// save writes the tree of a result: all of it, or nothing.
func (f *saveFlags) save(env *Env, world *session.Session, r *ops.ConfigureResponse, say func(string)) error {
	files, err := f.tree(world, r, say)
	if err != nil {
		return err
	}
	return f.write(env, treeName(&r.Results[0].Experiment), files, say)
}

// saveNeeds writes the tree of a recommendation.
func (f *saveFlags) saveNeeds(env *Env, world *session.Session, r *ops.RecommendResponse, say func(string)) error {
	var files []launch.File
	for i := range r.Results {
		x, asked := r.Results[i].Options(), r.Request.Experiments[i]
		if asked.Devices = x.Experiment.Devices; len(x.Rows) > 0 {
			asked.Devices = x.Rows[0].Used
		}
		more, err := f.experiment(world, &r.Request.Sources, x, asked, func(w io.Writer) error { return report.NeedsCSV(w, &r.Results[i]) }, say)
		if err != nil {
			return err
		}
		files = append(files, more...)
	}
	load := fmt.Sprintf("_rate%g", r.Request.Rate)
	if r.Request.Concurrency > 0 {
		load = fmt.Sprintf("_concurrency%d", r.Request.Concurrency)
	}
	return f.write(env, treeName(&r.Results[0].Experiment)+load, files, say)
}

// write writes a tree.
func (f *saveFlags) write(env *Env, name string, files []launch.File, say func(string)) error {
	target := filepath.Join(env.path(f.dir), name)
	if _, err := os.Stat(target); err == nil && !f.force {
		return usagef("--save-dir: %s is there already; --force replaces it", filepath.Join(f.dir, name))
	}
	if err := writeTree(target, files); err != nil {
		return err
	}
	say(fmt.Sprintf("saved %d files in %s", len(files), filepath.Join(f.dir, name)))
	return nil
}

// treeName is the directory of a result: the same for the same question.
func treeName(e *ops.Experiment) string {
	ms := func(x float64) string { return fmt.Sprintf("%g", x) }
	prefix := ""
	if e.Prefix > 0 {
		prefix = fmt.Sprintf("_prefix%d", e.Prefix)
	}
	return fmt.Sprintf("%s_%s_%s_isl%d_osl%d%s_ttft%s_tpot%s", strings.ReplaceAll(e.Model, "/", "_"), e.System, e.Engine.Name,
		e.Input, e.Output, prefix, ms(e.Limits.TTFT.TypedMs()), ms(e.Limits.TPOT.TypedMs()))
}

// tree makes the files of a result.
func (f *saveFlags) tree(world *session.Session, r *ops.ConfigureResponse, say func(string)) ([]launch.File, error) {
	var files []launch.File
	var errs []error
	add := func(name string, write func(io.Writer) error) {
		var b bytes.Buffer
		errs = append(errs, write(&b))
		files = append(files, launch.File{Path: name, Mode: 0o644, Data: b.Bytes()})
	}
	for _, format := range []string{"png", "svg"} {
		add("pareto_frontier."+format, func(w io.Writer) error { return report.ParetoFile(w, format, r) })
	}
	for i := range r.Results {
		x := &r.Results[i]
		more, err := f.experiment(world, &r.Request.Sources, x, r.Request.Experiments[i], func(w io.Writer) error { return report.OptionsCSV(w, x) }, say)
		errs = append(errs, err)
		files = append(files, more...)
		add(path.Join(x.Experiment.Name, "pareto.csv"), func(w io.Writer) error { return report.ParetoCSV(w, x) })
	}
	return files, errors.Join(errs...)
}

// experiment makes the files of one experiment: its rows as CSV, itself to be run again,
// and what runs each row.
func (f *saveFlags) experiment(world *session.Session, s *session.Sources, x *ops.ExperimentResult, asked ops.Experiment, rows func(io.Writer) error, say func(string)) ([]launch.File, error) {
	var table bytes.Buffer
	errs := []error{rows(&table)}
	files := []launch.File{
		{Path: path.Join(asked.Name, "best_config_topn.csv"), Mode: 0o644, Data: table.Bytes()},
		{Path: path.Join(asked.Name, "config.yaml"), Mode: 0o644, Data: aiconfigurator.Write(asked)},
	}
	for k := range x.Rows {
		more, err := f.row(world, s, x, k, say)
		errs = append(errs, err)
		files = append(files, more...)
	}
	return files, errors.Join(errs...)
}

// row makes the files that run one row.
func (f *saveFlags) row(world *session.Session, s *session.Sources, x *ops.ExperimentResult, k int, say func(string)) ([]launch.File, error) {
	o := x.Rows[k]
	if f.version != "" {
		o.Deployment.Engine.Version = f.version
	}
	plan, err := ops.On(world).DeployPlan(s, &x.Experiment, &o, f.site)
	if err != nil {
		return nil, err
	}
	var targets []launchfiles.Target
	for _, t := range f.targets {
		t = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(t, "-j2"), "-python"), "-helm")
		targets = append(targets, launchfiles.Target(t))
	}
	files, skipped, err := launchfiles.Write(plan, targets...)
	top := path.Join(x.Experiment.Name, fmt.Sprintf("top%d", k+1))
	for _, why := range skipped {
		say(fmt.Sprintf("%s: %v", top, why))
	}
	for i := range files {
		under := string(x.Experiment.Mode)
		if path.Base(files[i].Path) == "generator_config.yaml" {
			under = ""
		}
		files[i].Path = path.Join(top, under, files[i].Path)
	}
	return files, err
}

// writeTree writes files into a new directory beside the target, which then takes its name: nobody sees half a tree.
func writeTree(target string, files []launch.File) (err error) {
	beside := fmt.Sprintf("%s.%016x", target, rand.Uint64())
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(beside))
		}
	}()
	for _, f := range files {
		name := filepath.Join(beside, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return fmt.Errorf("writing --save-dir: %w", cause(err))
		}
		if err := os.WriteFile(name, f.Data, fs.FileMode(f.Mode)); err != nil {
			return fmt.Errorf("writing --save-dir: %w", cause(err))
		}
	}
	old := beside + ".old"
	switch err := os.Rename(target, old); {
	case errors.Is(err, fs.ErrNotExist):
		return os.Rename(beside, target)
	case err != nil:
		return err
	}
	if err := os.Rename(beside, target); err != nil {
		return errors.Join(err, os.Rename(old, target))
	}
	return os.RemoveAll(old)
}

// cause is why an operation on a file failed, without the name of a file that the user never asked for.
func cause(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}
