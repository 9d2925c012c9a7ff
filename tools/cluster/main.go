// Cluster tries the files of plans for real: it builds an API server, its controllers and those of other projects, makes nodes with devices, applies
// the files, and checks what controllers make of them. Nothing runs in containers: a stand-in for the kubelets says that pods run, and that they
// are ready once what their program waits for has come. KEDA scales by what Prometheus reads from stand-ins for engines; that needs root, since
// the addresses of pods must answer. It needs Linux, the Go proxy at its first run, and for that an hour on two busy cores and ten gigabytes of disk
// with Go's caches.
//
//	make cluster
//	go -C tools run ./cluster -plimsoll ../bin/plimsoll -plans 'vllm-.*'
//
// What it prints, a table of targets and plans with what is wrong, is for docs/deploy.md. The exit status is 1 if something is wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

type options struct {
	plimsoll, cache, work, routers string
	plans                          *regexp.Regexp
	sources                        map[string]string
	schemaOnly                     []string
}

func main() {
	o := options{sources: map[string]string{}}
	user, err := os.UserCacheDir()
	if err != nil {
		user = os.TempDir()
	}
	flag.StringVar(&o.plimsoll, "plimsoll", "../bin/plimsoll", "the program whose files are tried")
	flag.StringVar(&o.cache, "cache", filepath.Join(user, "plimsoll-cluster"), "folder that keeps sources and programs")
	flag.StringVar(&o.work, "work", "", "folder for plans and logs; else one that is removed after a run without a problem")
	expression := flag.String("plans", ".", "regular expression of the plans to try")
	flag.Func("source", "NAME=FOLDER: the source of a component, instead of the Go proxy's", func(s string) error {
		component, dir, ok := strings.Cut(s, "=")
		if !ok {
			return errors.New("not NAME=FOLDER")
		}
		o.sources[component] = dir
		return nil
	})
	flag.StringVar(&o.routers, "routers", "", "folder with the Python packages vllm-router and sglang-router and what they need (pip install --target): they run too; needs root")
	only := flag.String("schema-only", "", "components whose programs are not built, separated by commas: their objects are only checked")
	flag.Parse()
	o.schemaOnly = strings.Split(*only, ",")
	o.plans, err = regexp.Compile(*expression)
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		err = run(ctx, &o, os.Stdout)
		stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// run builds, starts, tries and prints.
func run(ctx context.Context, o *options, out io.Writer) (err error) {
	begun := time.Now()
	say := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "%5.0f s  %s\n", time.Since(begun).Seconds(), fmt.Sprintf(format, args...))
	}
	program, err := filepath.Abs(o.plimsoll)
	if err != nil {
		return err
	}
	c := &cache{dir: o.cache, sources: o.sources, have: map[string]bool{}, runs: map[string]bool{}, say: say}
	var versions []string
	for i := range components {
		p := &components[i]
		err := c.get(p)
		if err == nil {
			c.have[p.name] = true
			versions = append(versions, p.String())
			if !slices.Contains(o.schemaOnly, p.name) {
				err = c.build(p)
				c.runs[p.name] = err == nil && len(p.programs) > 0
			}
			if !c.runs[p.name] {
				versions[len(versions)-1] += " (schema)"
			}
		}
		if err != nil && p.needed {
			return err
		}
		if err != nil {
			say("without %v: %v", p, err)
		}
	}
	built := time.Since(begun)
	work := o.work
	if work == "" {
		if work, err = os.MkdirTemp("", "cluster"); err != nil {
			return err
		}
		defer func() {
			if err == nil {
				err = os.RemoveAll(work)
			} else {
				say("plans and logs are in %s", work)
			}
		}()
	}
	results, err := try(ctx, c, o, program, work, say)
	if err != nil {
		return err
	}
	wrong, err := report(out, results)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\n%s; %s. Built in %.0f s, tried in %.0f s.\n", time.Now().UTC().Format("2006-01-02"), strings.Join(versions, ", "),
		built.Seconds(), (time.Since(begun) - built).Seconds())
	if err == nil && wrong > 0 {
		err = fmt.Errorf("%d of %d trials have problems", wrong, len(results))
	}
	return err
}

// try starts a control plane and tries all plans in it.
func try(ctx context.Context, c *cache, o *options, program, work string, say func(string, ...any)) (results []*result, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p, err := start(ctx, c, filepath.Join(work, "plane"))
	defer func() { err = errors.Join(err, p.stop()) }()
	if err != nil {
		return nil, err
	}
	l := &lab{plane: p, kubelet: newKubelet(p.api), program: program, makers: map[string]bool{}, say: say}
	unreachable := podAddresses("replace")
	if unreachable == nil {
		defer func() { err = errors.Join(err, podAddresses("del")) }()
	}
	if o.routers != "" {
		if unreachable != nil {
			return nil, unreachable
		}
		if l.packages, err = filepath.Abs(o.routers); err != nil {
			return nil, err
		}
	}
	go l.kubelet.serve(ctx, func(err error) { say("stand-in kubelet: %v", err) })
	for i := range components {
		if component := &components[i]; c.have[component.name] && component.kinds != "" {
			if err := l.definitions(ctx, c, component); err != nil {
				return nil, err
			}
		}
	}
	if c.runs["lws"] {
		if err := l.startLWS(ctx, c); err != nil {
			return nil, err
		}
	}
	if c.runs["kserve"] {
		if err := l.startKServe(ctx, c); err != nil {
			return nil, err
		}
	}
	switch {
	case !c.runs["keda"] || !c.runs["prometheus"] || !c.runs["prometheus-operator"]:
	case unreachable != nil:
		say("KEDA scales nothing, because Prometheus cannot read engines: %v", unreachable)
	default:
		if err := errors.Join(l.startPrometheus(ctx, c), l.startKEDA(ctx, c)); err != nil {
			return nil, err
		}
	}
	written := map[string]string{} // plan: its folder
	for i := range plans {
		p := &plans[i]
		if !o.plans.MatchString(p.name) {
			continue
		}
		say("%s", p.name)
		dir := filepath.Join(work, "plans", p.name)
		if err := p.write(ctx, program, dir); err != nil {
			r := &result{target: "plan", plan: p.name}
			r.problem("%v", err)
			results = append(results, r)
			continue
		}
		written[p.name] = dir
		for _, trial := range []func(context.Context, *plan, string) ([]*result, error){l.kubernetes, l.others} {
			more, err := trial(ctx, p, dir)
			results = append(results, more...)
			if err != nil {
				return results, err
			}
		}
	}
	r, err := l.together(ctx, written)
	if r != nil {
		results = append(results, r)
	}
	return results, err
}

// report writes the table, then the problems, and counts the results that have some.
func report(out io.Writer, results []*result) (wrong int, err error) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	lines := []string{"target\tplan\tobjects\taccepted\tstarted\talso\tproblems"}
	var problems []string
	for _, r := range results {
		started := "–"
		if r.started > 0 {
			started = fmt.Sprintf("%.0f s", r.started.Seconds())
		}
		accepted := map[bool]string{true: "yes", false: "no"}[r.accepted]
		lines = append(lines, fmt.Sprintf("%s\t%s\t%d\t%s\t%s\t%s\t%d", r.target, r.plan, r.objects, accepted, started, strings.Join(r.tried, ", "), len(r.problems)))
		if len(r.problems) > 0 {
			wrong++
			problems = append(problems, fmt.Sprintf("\n%s of %s:", r.target, r.plan))
			for _, p := range r.problems {
				problems = append(problems, "  - "+p)
			}
		}
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return wrong, err
		}
	}
	if err := w.Flush(); err != nil {
		return wrong, err
	}
	for _, p := range problems {
		if _, err := fmt.Fprintln(out, p); err != nil {
			return wrong, err
		}
	}
	return wrong, nil
}
