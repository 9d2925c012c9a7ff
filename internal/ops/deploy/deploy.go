package deploy

import (
	"context"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// Request asks for the files that run a deployment: one of those that a plan finds, or a
// given one.
type Request struct {
	// Plan finds the deployment, Contender says which of its contenders, by name; "" =
	// the best.
	Plan      *plan.Request `json:"plan,omitempty"`
	Contender string        `json:"contender,omitempty"`

	// Deployment is the one to run, in place of a plan, under requests of these lengths
	// in tokens and so many of them in flight.
	Deployment  *deployment.Deployment `json:"deployment,omitempty"`
	Input       int                    `json:"isl,omitempty" minimum:"0" maximum:"100000000"`
	Output      int                    `json:"osl,omitempty" minimum:"0" maximum:"100000000"`
	Concurrency int                    `json:"concurrency,omitempty" minimum:"0" maximum:"131072"`

	// Targets are plain, compose, kubernetes, keda, dynamo, planner, llm-d, kserve, slurm, skypilot
	// and bench; nil = all that can run it.
	Targets []files.Target `json:"targets,omitempty"`
	Site    Site           `json:"site,omitzero"`
	// Force gives files in which lint finds errors, and lists those.
	Force bool `json:"force,omitempty"`
	Jobs  int  `json:"-"` // workers of the plan, which no answer depends on; 0 = 8
}

// Site is what depends on the user's cluster.
type Site struct {
	Namespace  string `json:"namespace,omitempty"`
	ServedName string `json:"served_model_name,omitempty"`
	ModelPath  string `json:"model_path,omitempty"` // what the engine loads; "" = the model
	Image      string `json:"image,omitempty"`
	Port       int    `json:"port,omitempty" minimum:"0" maximum:"65535"`
	RDMA       string `json:"rdma,omitempty"`     // resource of the devices for RDMA, and "=" how many a pod takes
	Topology   string `json:"topology,omitempty"` // label of nodes that share a network
}

// Response is the files.
type Response struct {
	Files    []launch.File
	Skipped  []string // targets that cannot run it, with the reason
	Findings []string // errors that lint finds in files which are forced
	Rests    []string // what the prediction rests on and files do not bring about
}

// Run makes the files.
func Run(ctx context.Context, s *session.Session, r Request) (*Response, error) {
	site := launch.Site(r.Site)
	if err := site.Check(); err != nil {
		return nil, session.BadInput(err)
	}
	of, err := found(ctx, s, &r)
	if err != nil {
		return nil, err
	}
	p, err := Plan(s, &of.sources, &of.experiment, &of.option, site)
	if err != nil {
		return nil, err
	}
	out, err := Write(ctx, s, &of.sources, p, r.Force, r.Targets...)
	return session.Finish(ctx, out, err)
}

// subject is what files are made for.
type subject struct {
	sources    session.Sources
	experiment experiment.Experiment
	option     experiment.Option
}

// found is the subject of a request.
func found(ctx context.Context, s *session.Session, r *Request) (*subject, error) {
	switch {
	case (r.Plan == nil) == (r.Deployment == nil):
		return nil, session.BadInput(field.At("plan", "", "give one of plan and deployment"))
	case r.Deployment != nil:
		return given(ctx, s, r)
	}
	request := *r.Plan
	request.NoChanges, request.Jobs = true, r.Jobs
	s, err := plan.Given(s, &request)
	if err != nil {
		return nil, err
	}
	out, err := plan.Run(ctx, s, request)
	if err != nil {
		return nil, err
	}
	c, err := contender(out, r.Contender)
	if err != nil {
		return nil, session.BadInput(err)
	}
	return &subject{out.Request.Sources, c.Found.Experiment, c.Found.Option}, nil
}

// given is a deployment that was given, with the figures of its simulation.
func given(ctx context.Context, s *session.Session, r *Request) (*subject, error) {
	q := simulate.Request{Deployment: *r.Deployment, Protocol: simulate.Benchmark} // the files hold the script of a benchmark
	q.Input, q.Output, q.Concurrency = r.Input, r.Output, max(1, r.Concurrency)
	out, err := simulate.Run(ctx, s, q)
	if err != nil {
		return nil, err
	}
	q = out.Request
	return &subject{q.Sources, experiment.Experiment{Input: q.Input, Output: q.Output}, experiment.Option{
		Deployment: q.Deployment, Concurrency: q.Concurrency, Run: out, Figures: out.Result.Figures(0),
	}}, nil
}

// contender finds one by its name, as a plan has it.
func contender(r *plan.Response, name string) (*plan.Contender, error) {
	var names []string
	for i := range r.Contenders {
		names = append(names, r.Contenders[i].Name)
		if name == "" || name == names[i] {
			return &r.Contenders[i], nil
		}
	}
	if len(names) == 0 {
		return nil, field.At("plan", "", "the plan has no deployment that can be run")
	}
	wrong := field.At("contender", name, "contender must be one of %s, got %q", strings.Join(names, ", "), name)
	wrong.Allowed = names
	return nil, wrong
}
