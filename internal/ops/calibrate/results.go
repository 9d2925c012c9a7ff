package calibrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/evidence/results"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/replica"
)

// ResultsRequest names benchmark results to fit.
type ResultsRequest struct {
	// Folders hold the results, at any depth; a file is a single result.
	Folders []string `json:"folders,omitempty"`
	// Expected is the deployment. Its load and lengths apply to results that state none.
	Expected simulate.Request `json:"expected,omitzero"`
	// Whole means that Expected describes the whole deployment. Otherwise launch files next to
	// the results, or in the nearest folder above that has some, describe it.
	Whole bool `json:"whole,omitempty"`
}

// UsedResult is a run that a fit uses.
type UsedResult struct {
	File   string
	Run    results.Run
	Asked  simulate.Request // as it was simulated
	Row    *measured.Row
	Layout string
	// Launch are the launch files of the deployment, if any.
	Launch []string
}

// UnusedResult is a file or run that a fit cannot use, and the reason.
type UnusedResult struct {
	File string
	Err  error
}

// FoundResults are the runs found in folders, and their deployments.
type FoundResults struct {
	Used   []UsedResult
	Unused []UnusedResult
}

// finder turns results into measured rows.
type finder struct {
	world   *session.Session
	r       *ResultsRequest
	stages  session.Memo
	fleets  map[string]*replica.Fleet
	started map[string]*started // by folder
	// launches are the bytes of the launch files that were read.
	launches int64
	found    FoundResults
	rows     []measured.Prepared
}

// started is the deployment that the files of a folder start; nil files if they start none.
type started struct {
	files []string
	found *launch.Found
	err   error
}

// Find turns results into rows, ready to be predicted: one for each run that is used, in its order.
func Find(ctx context.Context, w *session.Session, r *ResultsRequest) (FoundResults, []measured.Prepared, error) {
	f, err := fromResults(ctx, w, r)
	return f.found, f.rows, err
}

// fromResults turns results into rows, ready to be simulated.
func fromResults(ctx context.Context, w *session.Session, r *ResultsRequest) (*finder, error) {
	f := &finder{world: w, fleets: map[string]*replica.Fleet{}, started: map[string]*started{}}
	return f, f.add(ctx, r)
}

// add turns further results into rows.
func (f *finder) add(ctx context.Context, r *ResultsRequest) error {
	f.r = r
	for _, folder := range r.Folders {
		if err := f.folder(ctx, folder); err != nil {
			return err
		}
	}
	switch {
	case len(f.found.Used) > 0 || len(r.Folders) == 0:
		return nil
	case len(f.found.Unused) == 0:
		return session.BadInput(fmt.Errorf("%s: no benchmark results: no file ends in %s", strings.Join(r.Folders, ", "), strings.Join(resultEndings(), ", ")))
	}
	return session.BadInput(f.found.nothing())
}

// nothing is the error if no result is usable, with each reason once.
func (f *FoundResults) nothing() error {
	var errs []error
	for i, u := range f.Unused {
		same := func(o UnusedResult) bool { return o.Err.Error() == u.Err.Error() }
		if slices.ContainsFunc(f.Unused[:i], same) {
			continue
		}
		files := u.File
		if n := len(slices.DeleteFunc(slices.Clone(f.Unused[i+1:]), func(o UnusedResult) bool { return !same(o) })); n > 0 {
			files += fmt.Sprintf(" and %d more", n)
		}
		errs = append(errs, fmt.Errorf("%s: %w", files, u.Err))
	}
	return errors.Join(errs...)
}

// resultEndings are the extensions of result files.
func resultEndings() []string { return []string{".json", ".jsonl", ".csv"} }

// maxResults bounds the files of a folder.
const maxResults = 10_000

// folder reads the results of a folder, or a single one.
func (f *finder) folder(ctx context.Context, name string) error {
	if f.world.Dir == nil || f.world.Open == nil {
		return session.BadInput(fmt.Errorf("%s: %w", name, session.ErrNoFiles))
	}
	dir := f.world.Dir(name)
	if at, err := fs.Stat(dir, "."); err != nil || !at.IsDir() {
		if _, wrong := f.world.ReadFile(name, bound.Result); wrong != nil {
			return session.BadInput(fmt.Errorf("reading results: %w", wrong))
		}
		f.file(filepath.Dir(name), ".", filepath.Base(name))
		return nil
	}
	n := 0
	err := bound.Walk(dir, func(at string, d fs.DirEntry) (bool, error) {
		hidden := strings.HasPrefix(d.Name(), ".") && at != "."
		if hidden && d.IsDir() {
			return false, fs.SkipDir
		}
		if hidden || !isResult(dir, at, d) {
			return false, nil
		}
		if n++; n > maxResults {
			return false, fmt.Errorf("more than %d files", maxResults)
		}
		f.file(name, path.Dir(at), path.Base(at))
		return true, ctx.Err()
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return session.BadInput(fmt.Errorf("reading the results in %s: %w", name, err))
	}
	return nil
}

// isResult reports whether an entry of a folder is a file of results by its name, and no copy of another.
func isResult(dir fs.FS, at string, d fs.DirEntry) bool {
	return !d.IsDir() && slices.Contains(resultEndings(), strings.ToLower(path.Ext(at))) && !isCopy(dir, at)
}

// isCopy reports whether a file is of a run whose summary is in another one: AIPerf and genai-perf write x.csv beside x.json with the same
// figures, and AIPerf the requests in x.jsonl beside x_aiperf.json. Others may have such names too: what it holds decides.
func isCopy(dir fs.FS, at string) bool {
	end := path.Ext(at)
	of := map[string]struct {
		summary string
		format  results.Format
	}{".csv": {".json", results.AIPerf}, ".jsonl": {"_aiperf.json", results.Records}}[strings.ToLower(end)]
	if of.summary == "" {
		return false
	}
	if _, err := fs.Stat(dir, strings.TrimSuffix(at, end)+of.summary); err != nil {
		return false
	}
	data, err := bound.File(dir, at, bound.Result)
	if err != nil {
		return false // reported when it is read
	}
	runs, err := results.Parse(data)
	return err == nil && runs[0].Format == of.format
}

// file reads the results of a file below one of the folders.
func (f *finder) file(root, folder, base string) {
	name := filepath.Join(root, filepath.FromSlash(folder), base)
	data, err := f.world.ReadFile(name, bound.Result)
	if err == nil {
		var runs []results.Run
		if runs, err = results.Parse(data); err == nil {
			f.runs(runs, f.launched(root, folder), name)
			return
		}
	}
	f.found.Unused = append(f.found.Unused, UnusedResult{name, err})
}

// runs turns the runs of a file into rows.
func (f *finder) runs(runs []results.Run, s *started, name string) {
	for i := range runs {
		of := name
		if len(runs) > 1 {
			of = fmt.Sprintf("%s#%d", name, i+1)
		}
		if err := f.run(&runs[i], s, of); err != nil {
			f.found.Unused = append(f.found.Unused, UnusedResult{of, err})
		}
	}
}

// launched is the deployment of the launch files in the folder of a result, or in the nearest folder above.
func (f *finder) launched(root, folder string) *started {
	if f.r.Whole {
		return nil
	}
	at := filepath.Join(root, filepath.FromSlash(folder))
	if s, ok := f.started[at]; ok {
		return s
	}
	s := f.launch(root, folder)
	if s == nil && folder != "." {
		s = f.launched(root, path.Dir(folder))
	}
	f.started[at] = s
	return s
}

// launch reads the launch files of one folder.
func (f *finder) launch(root, folder string) *started {
	entries, err := fs.ReadDir(f.world.Dir(root), folder)
	if err != nil {
		return nil // reported by the walk
	}
	var files []launch.File
	var names []string
	for _, e := range entries {
		name := filepath.Join(root, filepath.FromSlash(folder), e.Name())
		if e.IsDir() || !slices.Contains([]string{".sh", ".yaml", ".yml"}, strings.ToLower(path.Ext(name))) {
			continue
		}
		data, err := f.world.ReadFile(name, bound.Launch)
		if f.launches += int64(len(data)); f.launches > bound.FolderBytes {
			return &started{err: bound.Over(bound.FolderBytes, "bytes of launch files")}
		}
		if err != nil {
			continue
		}
		// A file that starts no engine may be a config file that another one references.
		if _, err := launch.Read(launch.File{Path: name, Data: data}); err != nil && !errors.Is(err, launch.ErrNoLaunch) {
			continue
		}
		files, names = append(files, launch.File{Path: name, Data: data}), append(names, name)
	}
	found, err := launch.Read(files...)
	if errors.Is(err, launch.ErrNoLaunch) {
		return nil
	}
	if err == nil {
		err = oneDeployment(found)
	}
	return &started{names, found, err}
}

// oneDeployment reports files that start workers of the same role: they may belong to
// several deployments, and it is unknown which one a result is of.
func oneDeployment(f *launch.Found) error {
	for i := range f.Launches {
		for j := range i {
			if a, b := &f.Launches[j], &f.Launches[i]; a.Role == b.Role && a.File != b.File {
				return fmt.Errorf("%s and %s both start %s: put the results of each into a separate folder", a.File, b.File, a.Engine)
			}
		}
	}
	return nil
}

// run turns a run into a row.
func (f *finder) run(run *results.Run, s *started, name string) error {
	asked, err := f.expected(run, s)
	if err != nil {
		return err
	}
	if err := usable(run, &asked); err != nil {
		return err
	}
	w := *f.world
	w.Memo = &f.stages
	stage, err := simulate.Prepare(&w, &asked)
	if err != nil {
		return err
	}
	if n := asked.Deployment.Devices(); run.GPUs > 0 && run.GPUs != n {
		return field.Errorf("the run used %d devices, the deployment has %d: give %s", run.GPUs, n, field.Name("tp_size"))
	}
	d, err := asked.Deployment.Resolve(stage.Parts)
	if err != nil {
		return err
	}
	client, err := simulate.Client(&w, stage, &asked.Traffic)
	if err != nil {
		return err
	}
	key := fmt.Sprintf("%+v %+v", asked.Deployment, asked.Sources)
	fleet := f.fleets[key]
	if fleet == nil {
		if fleet, err = replica.NewFleet(d, stage.Coster); err != nil {
			return err
		}
		f.fleets[key] = fleet
	}
	prices, err := stage.Coster(d.Generates())
	if err != nil {
		return err
	}
	row := rowOf(run, &asked, name)
	result := measured.Result{Row: row, Deployment: d, Fleet: fleet, Client: client, Prices: prices}
	f.rows = append(f.rows, result.Prepare())
	serves := d.Generates()
	used := UsedResult{File: name, Run: *run, Asked: asked, Row: row, Layout: serves.Spec.Layout.Label(d.Model.HasExperts())}
	if s != nil {
		used.Launch = s.files
	}
	f.found.Used = append(f.found.Used, used)
	return nil
}
