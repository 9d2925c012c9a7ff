package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/nargs"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/face/report"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	launchfiles "github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// newFilesCmd makes "plimsoll files".
func newFilesCmd(env *Env) *cobra.Command {
	var f struct {
		out, contender    string
		list, force, json bool
		targets           targetFlag
		site              launch.Site
	}
	cmd := &cobra.Command{
		Use:     "files [PLAN.json]",
		Short:   "Write the files that run a saved plan, or list the targets",
		GroupID: groupPlan,
		Args:    arguments(0, "PLAN.json"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.list || len(args) == 0 && f.out == "":
				return show(env, f.json, launchfiles.Abouts(), report.Targets)
			case len(args) == 0 || f.out == "":
				return usagef("files: give PLAN.json and --out, or --list")
			}
			saved, err := readPlan(env, args[0])
			if err != nil {
				return err
			}
			r := deploy.Request{Plan: &saved.Request, Contender: f.contender, Targets: f.targets.targets(), Site: deploy.Site(f.site), Force: f.force}
			made, err := watched(cmd.Context(), env, false, deploy.Run, r)
			if err != nil {
				return asked(err)
			}
			if err := env.place("out", f.out, made.Files, f.force); err != nil {
				return err
			}
			notes, lacks := f.targets.about(made)
			for _, text := range append(notes, fmt.Sprintf("wrote %s to %s", units.Counted(len(made.Files), "file"), f.out)) {
				env.Note(text)
			}
			return lacks
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&f.list, "list", false, "list the targets and the releases that their files are written for")
	fs.BoolVar(&f.json, "json", false, "print the list as JSON")
	outputVar(fs, &f.out, aFolder, "out", "write to this `directory`")
	fs.BoolVar(&f.force, "force", false, "replace the files in it, and write files in which lint finds errors")
	fs.StringVar(&f.contender, "contender", "", "deployment of the plan, by `NAME` (default the best)")
	f.targets.define(fs, "all")
	siteFlags(fs, &f.site)
	return cmd
}

// readPlan reads the record of a plan.
func readPlan(env *Env, name string) (*plan.Response, error) {
	data, err := env.ReadFile(name, bound.Record)
	if err != nil {
		return nil, usagef("%v", err)
	}
	out, err := plan.Read(data)
	if err != nil {
		return nil, usagef("%s: %v", name, err)
	}
	return out, nil
}

// siteFlags adds what depends on the user's cluster.
func siteFlags(fs *pflag.FlagSet, s *launch.Site) {
	fs.StringVar(&s.Namespace, "namespace", "", "Kubernetes namespace")
	fs.StringVar(&s.ServedName, "served-model-name", "", "served model name (default the model)")
	fs.StringVar(&s.Image, "k8s-image", "", "container image (default that of the engine version)")
	fs.IntVar(&s.Port, "port", 0, "port of the server (default 8000)")
	fs.StringVar(&s.RDMA, "rdma", "", "Kubernetes `RESOURCE` of the devices for RDMA, as rdma/ib or vpc.amazonaws.com/efa=16 (default none)")
	fs.StringVar(&s.Topology, "topology", "", "`LABEL` of Kubernetes nodes that share a network (default that of a zone or a rack)")
}

// targetFlag is a list of targets; "all" are those that can run something.
type targetFlag []string

// everyTarget is the word for all targets.
const everyTarget = "all"

// define adds the flag, with AIConfigurator's names of some targets, and says the default.
func (f *targetFlag) define(fs *pflag.FlagSet, usual string) {
	names := nargs.Texts(launchfiles.Targets())
	nargs.ListVar(fs, (*[]string)(f), "deployment-target", nargs.OneOrMore, nargs.OneOf(append(names, everyTarget, "dynamo-j2", "dynamo-python", "llm-d-helm")...),
		"targets to write files for: "+join(names)+", or all that can run it (default "+usual+")")
}

// row makes the files of a row of an experiment: those that AIConfigurator writes, or those that the words name.
func (f *targetFlag) row(ctx context.Context, world *session.Session, s *session.Sources, p *launch.Plan, force bool) (*deploy.Response, error) {
	if len(*f) == 0 {
		return deploy.Few(ctx, world, s, p, force)
	}
	return deploy.Write(ctx, world, s, p, force, f.targets()...)
}

// targets are those that the words name, none for all.
func (f *targetFlag) targets() []launchfiles.Target {
	var out []launchfiles.Target
	if slices.Contains(*f, everyTarget) {
		return nil
	}
	for _, word := range *f {
		for _, suffix := range []string{"-j2", "-python", "-helm"} {
			word = strings.TrimSuffix(word, suffix)
		}
		out = append(out, launchfiles.Target(word))
	}
	return out
}

// about is what to say about files that were made. Targets without files are worth a note, and an error if they were asked for.
func (f *targetFlag) about(made *deploy.Response) (notes []string, lacks error) {
	if len(f.targets()) == 0 {
		return slices.Concat(made.Skipped, made.Findings, made.Rests), nil
	}
	for _, why := range made.Skipped {
		lacks = errors.Join(lacks, errors.New(why))
	}
	return slices.Concat(made.Findings, made.Rests), usage(lacks)
}

// completeTarget offers the targets.
func completeTarget(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, a := range launchfiles.Abouts() {
		out = append(out, cobra.CompletionWithDesc(string(a.Target), a.For))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
