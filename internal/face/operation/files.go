package operation

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops"
	opssimulate "github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// FilesRequest asks for the files that run a deployment: one of those that a plan finds,
// or a given one.
type FilesRequest struct {
	// Plan finds the deployment, Contender says which of its contenders, by name; "" =
	// the best.
	Plan      *ops.PlanRequest `json:"plan,omitempty"`
	Contender string           `json:"contender,omitempty"`

	// Deployment is the one to run, in place of a plan, under requests of these lengths
	// in tokens and so many of them in flight.
	Deployment  *deployment.Deployment `json:"deployment,omitempty"`
	Input       int                    `json:"isl,omitempty"`
	Output      int                    `json:"osl,omitempty"`
	Concurrency int                    `json:"concurrency,omitempty"`

	// Targets are plain, compose, kubernetes, dynamo, llm-d and bench; nil = all that can
	// run it.
	Targets []launch.Target `json:"targets,omitempty"`
	Site    Site            `json:"site,omitzero"`
	// Folder is where to write, relative to the folder that the user named at start.
	Folder string `json:"folder,omitempty"`
}

// Site is what depends on the user's cluster.
type Site struct {
	Namespace  string `json:"namespace,omitempty"`
	ServedName string `json:"served_model_name,omitempty"`
	ModelPath  string `json:"model_path,omitempty"` // what the engine loads; "" = the model
	Image      string `json:"image,omitempty"`
	Port       int    `json:"port,omitempty"`
}

// Files are files that run a deployment.
type Files struct {
	Folder  string   `json:"folder,omitempty"`
	Files   []File   `json:"files"`
	Skipped []string `json:"skipped"` // targets that cannot run it, with the reason
	Caution string   `json:"caution"`

	data []launch.File
}

// File is one of the files.
type File struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
}

// Data are the files themselves.
func (f *Files) Data() []launch.File { return f.data }

const filesCaution = "These files follow from a model of the deployment. Read them before you apply them, and measure under your own load."

func filesOperation() Operation {
	o := define("write_files", "Write deployment files", `Write the files that run a plan's best deployment, or a given one (launch scripts, Docker Compose, Kubernetes, Dynamo,
llm-d, benchmark), into a folder below the one that the user named at start. Ask before writing.`, writeFiles)
	o.Writes = true
	return o
}

func writeFiles(ctx context.Context, k *Kit, r FilesRequest) (*Files, error) {
	if k.Write == nil {
		return nil, document.Wrong("no folder was named at start: start \"plimsoll mcp --dir FOLDER\"", "folder")
	}
	out, err := MakeFiles(ctx, k, r)
	if err != nil {
		return nil, err
	}
	out.Folder = cmp.Or(r.Folder, ".")
	if err := k.Write(out.Folder, out.data); err != nil {
		return nil, document.Wrong(fmt.Sprintf("writing %s: %v", out.Folder, err), "folder")
	}
	return out, nil
}

// MakeFiles makes the files and writes none.
func MakeFiles(ctx context.Context, k *Kit, r FilesRequest) (*Files, error) {
	p, err := deployPlan(ctx, k, &r)
	if err != nil {
		return nil, document.Corrected(err, "write_files")
	}
	data, skipped, err := launch.Write(p, r.Targets...)
	if err != nil {
		return nil, document.Wrong(err.Error())
	}
	out := &Files{Files: []File{}, Skipped: []string{}, Caution: filesCaution, data: data}
	for _, f := range data {
		out.Files = append(out.Files, File{f.Path, len(f.Data)})
	}
	for _, why := range skipped {
		out.Skipped = append(out.Skipped, why.Error())
	}
	return out, nil
}

// deployPlan is what files are made for.
func deployPlan(ctx context.Context, k *Kit, r *FilesRequest) (*launch.Plan, error) {
	site := launch.Site{Namespace: r.Site.Namespace, ServedName: r.Site.ServedName, ModelPath: r.Site.ModelPath, Image: r.Site.Image, Port: r.Site.Port}
	switch {
	case (r.Plan == nil) == (r.Deployment == nil):
		return nil, document.Wrong("give one of plan and deployment", "plan", "deployment")
	case r.Deployment != nil:
		return given(ctx, k, r, site)
	}
	request := *r.Plan
	request.NoChanges, request.Jobs = true, k.Jobs
	out, err := ops.On(k.World).Plan(ctx, request)
	if err != nil {
		return nil, err
	}
	c, err := contender(out, r.Contender)
	if err != nil {
		return nil, err
	}
	return ops.On(k.World).DeployPlan(&out.Request.Sources, &c.Experiment, &c.Option, site)
}

// given is a deployment that was given, with the figures of its simulation.
func given(ctx context.Context, k *Kit, r *FilesRequest, site launch.Site) (*launch.Plan, error) {
	q := opssimulate.Request{Deployment: *r.Deployment}
	q.Input, q.Output, q.Concurrency = r.Input, r.Output, max(1, r.Concurrency)
	out, err := opssimulate.Run(ctx, k.World, q)
	if err != nil {
		return nil, err
	}
	q = out.Request
	s := &out.Result
	return ops.On(k.World).DeployPlan(&q.Sources, &ops.Experiment{Input: q.Input, Output: q.Output}, &ops.Option{
		Deployment: q.Deployment, Concurrency: q.Concurrency, TTFT: s.TTFT.Mean, TPOT: s.TPOT.Mean, Throughput: s.OutputRate,
	}, site)
}

// contender finds one by its name, as a plan has it.
func contender(r *ops.PlanResponse, name string) (*ops.Contender, error) {
	var names []string
	for i := range r.Contenders {
		names = append(names, r.Contenders[i].Name())
		if name == "" || name == names[i] {
			return &r.Contenders[i], nil
		}
	}
	if len(names) == 0 {
		return nil, document.Wrong("the plan has no deployment that can be run")
	}
	wrong := field.At("contender", name, "contender must be one of %s, got %q", strings.Join(names, ", "), name)
	wrong.Allowed = names
	return nil, document.NewInputError(wrong, "write_files")
}
