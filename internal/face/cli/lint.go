package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/objects"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
)

// lintFlags are the flags of "plimsoll lint".
type lintFlags struct {
	lint.Request

	json      bool
	format    string
	severity  string
	explain   string
	each      bool
	fix, diff bool
	together  [][]string      // Files: those of a deployment, of a directory, are checked together
	below     map[string]bool // files that were found in a directory
	read      map[string]bool // files that others refer to
}

// newLintCmd makes "plimsoll lint".
func newLintCmd(env *Env) *cobra.Command {
	f := &lintFlags{below: map[string]bool{}, read: map[string]bool{}}
	cmd := &cobra.Command{
		Use:     "lint {FILE... | DIRECTORY | COMMAND | -- COMMAND...}",
		Short:   "Check a launch command, Compose file or manifest",
		GroupID: groupPlan,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
	}
	f.define(cmd.Flags())
	return cmd
}

// define adds the flags.
func (f *lintFlags) define(into *pflag.FlagSet) {
	section(into, simulate.DeploymentSection, func(fs *pflag.FlagSet) {
		fs.StringVar(&f.System, "device", "", "device profile; same as --system (default from the file)")
		fs.StringVar(&f.Model, "model", "", "model, instead of that in the file")
		fs.StringVar(&f.Version, "engine-version", "", "engine `version` (default from the file or its image, or the newest)")
	})
	section(into, "Requests", func(fs *pflag.FlagSet) {
		fs.IntVar(&f.Input, "input-length", 0, fmt.Sprintf("prompt length in tokens (default from the file, or %d)", simulate.DefaultInput))
		fs.IntVar(&f.Output, "output-length", 0, fmt.Sprintf("output length in tokens (default from the file, or %d)", simulate.DefaultOutput))
		fs.IntVar(&f.Concurrency, "concurrency", 0, "requests in flight (default the highest safe concurrency)")
		limitVar(fs, &f.Limits.TTFT, "ttft-limit", "limit on the mean TTFT in `ms`")
		limitVar(fs, &f.Limits.TPOT, "tpot-limit", "limit on the mean TPOT in `ms`")
	})
	section(into, "Output", func(fs *pflag.FlagSet) {
		fs.BoolVar(&f.Static, "static", false, "check only: no prediction, no better settings")
		fs.BoolVar(&f.each, "each", false, "check each FILE separately, and skip files that start no engine")
		fs.BoolVar(&f.fix, "fix", false, "write corrections into the files, and check again; print a corrected COMMAND")
		fs.BoolVar(&f.diff, "diff", false, "print the corrections of --fix as a patch, and write nothing")
		nargs.Var(fs, &f.severity, "severity", nargs.OneOf("error", "warning", "hint"), "exit with status 1 for findings of this `severity` or higher: error, warning or hint (default error)")
		fs.StringVar(&f.explain, "explain", "", "explain a `CODE` such as PL001, or all, and check nothing")
		nargs.Var(fs, &f.format, "format", nargs.OneOf("text", "json", "sarif"), "text, json, or sarif for code hosts (default text)")
		fs.BoolVar(&f.json, "json", false, "same as --format json")
	})
}

// subject takes files, or a command, from the arguments.
func (f *lintFlags) subject(cmd *cobra.Command, args []string) error {
	dash := cmd.ArgsLenAtDash()
	switch {
	case len(args) == 0:
		return withHint(usagef("%s: no FILE or COMMAND given", cmd.CommandPath()), "usage: %s", cmd.UseLine())
	case dash > 0:
		return usagef("%s: unexpected argument %q before --", cmd.CommandPath(), args[0])
	}
	f.subjectOf(args, dash == 0)
	return nil
}

// subjectOf takes words for a command, or one word with a space, or else files.
func (f *lintFlags) subjectOf(args []string, isCommand bool) {
	switch {
	case isCommand:
		words := make([]string, len(args))
		for i, a := range args {
			words[i] = launch.Quote(a)
		}
		f.Command = strings.Join(words, " ")
		if len(args) == 1 {
			f.Command = args[0]
		}
	case len(args) == 1 && strings.ContainsAny(strings.TrimSpace(args[0]), " \t\n"):
		f.Command = args[0]
	default:
		f.Files = args
	}
}

// run lints and prints.
func (f *lintFlags) run(cmd *cobra.Command, env *Env, args []string) error {
	if f.explain != "" {
		return explainRules(env, f.explain, f.json || f.format == "json")
	}
	err := f.subject(cmd, args)
	if err == nil {
		err = errors.Join(zeros(cmd.Flags(), "input_length", "output_length", "concurrency"), f.open(env))
	}
	if err == nil && f.each && f.Command != "" {
		err = usagef("--each needs files, and a command was given")
	}
	if err != nil {
		return err
	}
	if f.json {
		f.format = "json"
	}
	if !f.each {
		r, err := f.checked(cmd.Context(), env, f.Request)
		if err != nil || r == nil {
			return err
		}
		return f.print(env, []*lint.Response{r}, nil)
	}
	return f.runEach(cmd.Context(), env)
}

// runEach lints files one by one and prints.
func (f *lintFlags) runEach(ctx context.Context, env *Env) error {
	if f.System != "" { // no problem of a file
		if _, err := env.world().Device(f.System, ""); err != nil {
			return asked(err)
		}
	}
	all, unread, err := f.checkedEach(ctx, env)
	if err != nil || f.diff {
		return err
	}
	return f.print(env, all, unread)
}

// scripts are the endings of shell scripts, and isManifest is 1 for other files.
func scripts() []string { return []string{".sh", ".bash", ".sbatch", ".slurm"} }

func isManifest(name string) int {
	if slices.Contains(scripts(), filepath.Ext(name)) {
		return 0
	}
	return 1
}

// open puts the files that may start an engine in place of the directories they are in or below, to be checked one by one.
func (f *lintFlags) open(env *Env) error {
	for _, name := range f.Files {
		dir := env.DirFS(name)
		if at, err := fs.Stat(dir, "."); name == "-" || err != nil || !at.IsDir() {
			f.together = append(f.together, []string{name})
			continue
		}
		var found []string
		err := bound.Walk(dir, func(path string, d fs.DirEntry) (bool, error) {
			switch {
			case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
				return false, fs.SkipDir
			case d.IsDir() || !slices.Contains(append(scripts(), ".yaml", ".yml"), filepath.Ext(path)):
				return false, nil
			}
			found = append(found, filepath.Join(name, path))
			return true, nil
		})
		if err != nil {
			return usagef("%s: %w", name, err)
		}
		for _, path := range found {
			f.below[path] = true
		}
		f.together, f.each = append(f.together, ofOneDeployment(env, found)...), true
	}
	f.Files = slices.Concat(f.together...)
	return nil
}

// ofOneDeployment puts files together that were written for the same deployment, such as the scripts of its nodes: those of a directory
// with the same comment, scripts and manifests apart, since each start all of it. Manifests that start no engine go with those of their
// directory that do, if these are of one deployment. Other files that start no engine are left out.
func ofOneDeployment(env *Env, files []string) [][]string {
	var out [][]string
	type kind struct {
		dir, note string
		manifest  int
	}
	at := map[kind]int{}
	engines, beside := map[string][]int{}, map[string][]string{} // by directory
	for _, name := range files {
		data, err := env.ReadFile(name, bound.Launch) // one that cannot be read says so when it is checked
		dir := filepath.Dir(name)
		if found, why := launch.Read(launch.File{Path: name, Data: data}); err == nil && errors.Is(why, launch.ErrNoLaunch) {
			if slices.ContainsFunc(found.Objects, func(o objects.Object) bool { return o.Kind != "" }) {
				beside[dir] = append(beside[dir], name)
			}
			continue
		}
		note := launch.Noted(data)
		key := kind{dir, note, isManifest(name)}
		if i, known := at[key]; known && err == nil && note != "" {
			out[i] = append(out[i], name)
			continue
		}
		if isManifest(name) == 1 {
			engines[dir] = append(engines[dir], len(out))
		}
		at[key] = len(out)
		out = append(out, []string{name})
	}
	for _, dir := range slices.Sorted(maps.Keys(beside)) {
		if of := engines[dir]; len(of) == 1 {
			out[of[0]] = append(out[of[0]], beside[dir]...)
		} else {
			out = append(out, beside[dir])
		}
	}
	return out
}

// checkedEach checks the files one by one, or those of a deployment together. Of those that were found in a directory it passes over what
// starts no engine, and settings, which are checked with the script that refers to them.
func (f *lintFlags) checkedEach(ctx context.Context, env *Env) (all []*lint.Response, unread []report.Unread, err error) {
	slices.SortStableFunc(f.together, func(a, b []string) int { return cmp.Compare(isManifest(a[0]), isManifest(b[0])) })
	for _, files := range f.together {
		refers := func(name string) bool { return f.below[name] && f.read[name] }
		if files = slices.DeleteFunc(files, refers); len(files) == 0 {
			continue
		}
		request, name := f.Request, files[0]
		request.Files = files
		r, err := f.checked(ctx, env, request)
		switch {
		case err == nil && r == nil:
		case err == nil:
			all = append(all, r)
		case errors.Is(err, launch.ErrNoLaunch) && f.below[name]:
		case errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil:
			return nil, nil, err
		default:
			unread = append(unread, report.Unread{File: name, Why: strings.TrimPrefix(err.Error(), name+": ")})
		}
	}
	all = f.inOrder(all)
	if len(all)+len(unread) == 0 && !f.diff {
		return nil, nil, usagef("no file in the directory starts an engine")
	}
	return all, unread, nil
}

// inOrder are responses in the order of the files, without those to what others refer to.
func (f *lintFlags) inOrder(all []*lint.Response) []*lint.Response {
	referred := func(r *lint.Response) bool {
		return len(r.Request.Files) == 1 && f.below[r.Request.Files[0]] && f.read[r.Request.Files[0]]
	}
	all = slices.DeleteFunc(all, referred)
	slices.SortFunc(all, func(a, b *lint.Response) int {
		return cmp.Compare(slices.Index(f.Files, a.Request.Files[0]), slices.Index(f.Files, b.Request.Files[0]))
	})
	return all
}

// checked checks one target. With --fix it is corrected first; with --diff the corrections are printed, and there is no response.
func (f *lintFlags) checked(ctx context.Context, env *Env, r lint.Request) (*lint.Response, error) {
	const rounds = 5 // a corrected flag may show what is wrong with its value
	files := f.written(env, &r)
	before := slices.Clone(files)
	for round := 0; ; round++ {
		world := env.world().Until(ctx)
		if round > 0 {
			world = world.Over(overlaid(files))
		}
		var others []string
		world.Open = f.noting(world.Open, append(names(files), r.Files...), &others)
		out, err := lint.Run(ctx, world, r)
		if err != nil {
			return nil, asked(err)
		}
		for _, name := range others {
			if data, err := env.ReadFile(name, bound.Launch); err == nil {
				files, before = append(files, launch.File{Path: name, Data: data}), append(before, launch.File{Path: name, Data: data})
			}
		}
		mended := []launch.File(nil)
		if f.fix || f.diff {
			mended = out.Mended(files)
		}
		if len(mended) == 0 || round == rounds {
			return f.corrected(env, out, before, files)
		}
		for _, m := range mended {
			files[slices.IndexFunc(files, func(o launch.File) bool { return o.Path == m.Path })] = m
			if m.Path == "" {
				r.Command = string(m.Data)
			}
		}
	}
}

// written are the files of a request as they are, or its command.
func (f *lintFlags) written(env *Env, r *lint.Request) []launch.File {
	if !f.fix && !f.diff {
		return nil
	}
	if r.Command != "" {
		return []launch.File{{Data: []byte(r.Command)}}
	}
	var out []launch.File
	for _, name := range r.Files {
		if f.fix {
			env.disk().Clear(env.target(name))
		}
		if data, err := env.ReadFile(name, bound.Launch); err == nil {
			out = append(out, launch.File{Path: name, Data: data})
		}
	}
	return out
}

// overlaid are files as they are corrected.
func overlaid(files []launch.File) func(string) ([]byte, bool) {
	return func(name string) ([]byte, bool) {
		i := slices.IndexFunc(files, func(f launch.File) bool { return f.Path == name })
		if i < 0 {
			return nil, false
		}
		return files[i].Data, true
	}
}

// noting opens files, and notes those that a request does not name itself.
func (f *lintFlags) noting(open func(string) (io.ReadCloser, error), named []string, others *[]string) func(string) (io.ReadCloser, error) {
	return func(name string) (io.ReadCloser, error) {
		file, err := open(name)
		if err == nil && !slices.Contains(named, name) && !slices.Contains(*others, name) {
			f.read[name] = true
			*others = append(*others, name)
		}
		return file, err
	}
}

// names are the paths of files.
func names(files []launch.File) []string {
	out := make([]string, len(files))
	for i := range files {
		out[i] = files[i].Path
	}
	return out
}

// corrected writes what was corrected, or prints it.
func (f *lintFlags) corrected(env *Env, out *lint.Response, before, after []launch.File) (*lint.Response, error) {
	for i := range after {
		was, is := string(before[i].Data), string(after[i].Data)
		name := after[i].Path
		switch {
		case was == is:
		case f.diff:
			fmt.Fprint(env.Stdout, patch(cmp.Or(name, "command"), was, is))
		case name == "" || name == "-":
			env.Note("corrected: " + strings.TrimSuffix(is, "\n"))
		default:
			err := env.create("fix", name, func(w io.Writer) error {
				_, err := io.WriteString(w, is)
				return err
			})
			if err != nil {
				return nil, err
			}
			env.Note("corrected " + name)
		}
	}
	if f.diff {
		return nil, nil //nolint:nilnil // the patch is all that is printed
	}
	return out, nil
}

// patch is the differences of a file's lines in the unified form, which "patch -p1" applies.
func patch(name, before, after string) string {
	ended := func(text string) []byte { return []byte(strings.TrimSuffix(text, "\n") + "\n") }
	_, text, _ := strings.Cut(string(diff.Diff("a/"+name, ended(before), "b/"+name, ended(after))), "\n") // without the command in its first line
	return text
}

// eachFile is a file in the JSON of --each.
type eachFile struct {
	File   string         `json:"file"`
	Error  string         `json:"error,omitempty"`
	Answer *lint.Response `json:"answer,omitempty"`
}

// print prints the responses, and fails if a finding is as severe as is asked for.
func (f *lintFlags) print(env *Env, all []*lint.Response, unread []report.Unread) error {
	var err error
	switch {
	case f.format == "sarif":
		err = env.JSON(report.LintSARIF(env.version().Version, all, unread))
	case f.format == "json" && !f.each:
		err = env.JSON(all[0])
	case f.format == "json":
		list := []eachFile{}
		for _, r := range all {
			list = append(list, eachFile{File: r.Request.Files[0], Answer: r})
		}
		for _, u := range unread {
			list = append(list, eachFile{File: u.File, Error: u.Why})
		}
		slices.SortFunc(list, func(a, b eachFile) int {
			return cmp.Compare(slices.Index(f.Files, a.File), slices.Index(f.Files, b.File))
		})
		err = env.JSON(list)
	default:
		f.texts(env, all)
		for _, u := range unread {
			env.Note(u.File + ": " + u.Why)
		}
	}
	if err != nil {
		return err
	}
	return f.verdict(all)
}

// texts prints the answers. Files with the same answer share it.
func (f *lintFlags) texts(env *Env, all []*lint.Response) {
	if !f.each {
		env.print(func(w io.Writer) { report.Lint(w, all[0]) })
		return
	}
	var texts []string
	files := map[string][]string{}
	for _, r := range all {
		var b strings.Builder
		report.Lint(&b, r)
		if files[b.String()] == nil {
			texts = append(texts, b.String())
		}
		files[b.String()] = append(files[b.String()], r.Request.Files...)
	}
	for i, text := range texts {
		env.print(func(w io.Writer) {
			fmt.Fprintf(w, "%s%s:\n%s", strings.Repeat("\n", min(i, 1)), strings.Join(files[text], "\n"), text)
		})
	}
}

// verdict is an error if there are findings of the severity that is asked for.
func (f *lintFlags) verdict(all []*lint.Response) error {
	order := []string{"error", "warning", "hint"}
	worst := max(0, slices.Index(order, f.severity))
	n := 0
	for _, r := range all {
		for i := range r.Findings {
			if slices.Index(order, string(r.Findings[i].Severity)) <= worst {
				n++
			}
		}
	}
	switch {
	case n == 0:
		return nil
	case worst == 0:
		return fmt.Errorf("%s of severity error", units.Counted(n, "finding"))
	}
	return fmt.Errorf("%s of severity %s or worse", units.Counted(n, "finding"), f.severity)
}

// explainRules prints what a code means.
func explainRules(env *Env, code string, asJSON bool) error {
	rules := lint.Rules()
	if code != "all" {
		rule := lint.RuleOf(strings.ToUpper(code))
		if rule == nil {
			var codes []string
			for _, r := range rules {
				codes = append(codes, r.Code)
			}
			near, _ := nearest.Match(code, codes)
			return withHint(usagef("--explain: no finding has the code %q; nearest: %s", code, cmp.Or(near, codes[0])), `"plimsoll lint --explain all" lists the codes`)
		}
		rules = []lint.Rule{*rule}
	}
	return show(env, asJSON, rules, report.Rules)
}
