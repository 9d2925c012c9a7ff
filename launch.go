package plimsoll

import (
	"context"
	"encoding/json"
	"io/fs"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
)

// File is a file by its path, with slashes.
type File struct {
	Path string
	Data []byte
	Mode fs.FileMode // permissions of one that was made
}

// LintRequest is a command, or the files of one deployment.
type LintRequest struct {
	Command string `json:"command,omitempty"`
	Files   []File `json:"-"`
	// Model, System and Version are taken in place of those that the files say.
	Model   string `json:"model,omitempty"`
	System  string `json:"device,omitempty"`
	Version string `json:"engine_version,omitempty"`
	// Input and Output are lengths in tokens; 0 are those of the files, or 1024 and 256.
	Input  int    `json:"input_length,omitempty"`
	Output int    `json:"output_length,omitempty"`
	Limits Limits `json:"limits,omitzero"`
	// Static leaves out what takes simulations: the prediction and better settings.
	Static bool `json:"static,omitempty"`
}

// MarshalJSON writes the fields, with the content of the files.
func (r LintRequest) MarshalJSON() ([]byte, error) {
	type fields LintRequest
	whole := struct {
		fields

		Files []operation.Content `json:"files,omitempty"`
	}{fields: fields(r)}
	for _, f := range r.Files {
		whole.Files = append(whole.Files, operation.Content{Name: f.Path, Content: string(f.Data)})
	}
	return json.Marshal(whole)
}

// Lint is what files or a command will do, and what is wrong with them.
type Lint struct {
	Model    string    `json:"model"`
	System   string    `json:"device"`
	Engine   string    `json:"engine"`
	Version  string    `json:"engine_version"`
	Devices  int       `json:"devices"`
	Findings []Finding `json:"findings"` // the worst first
	// Prediction is at the highest safe concurrency, nil if the deployment cannot be predicted or the request is static.
	Prediction *Prediction `json:"prediction"`
	// JSON is the whole answer, as "plimsoll lint --json" prints it, with better settings.
	JSON json.RawMessage `json:"-"`
}

// Finding is a problem in files or a command.
type Finding struct {
	Code     string `json:"code"`     // of the rule: PL001
	Severity string `json:"severity"` // error, warning or hint
	File     string `json:"file"`
	Line     int    `json:"line"`
	Where    string `json:"where"` // a flag or key of the engine
	What     string `json:"what"`
	Better   string `json:"better"` // the correction, if there is one
}

// Lint says what files or a command that start an engine will do. What is wrong with them
// is a finding; an error is about the request, or files that start nothing.
func (p *Planner) Lint(ctx context.Context, r LintRequest) (*Lint, error) {
	out := &Lint{}
	data, err := ask[operation.LintRequest](ctx, p, "lint", r, out)
	if err != nil {
		return nil, err
	}
	out.JSON = data
	return out, nil
}

// FilesRequest asks for the files that run a deployment under requests of these lengths in tokens, with so many of them in
// flight.
type FilesRequest struct {
	Deployment  Deployment `json:"deployment"`
	Input       int        `json:"isl,omitempty"`
	Output      int        `json:"osl,omitempty"`
	Concurrency int        `json:"concurrency,omitempty"`
	// Targets are plain, compose, kubernetes, keda, dynamo, planner, llm-d, kserve, slurm, skypilot and bench; nil is all that
	// can run the deployment.
	Targets []string `json:"targets,omitempty"`
	// More is further fields in JSON: site, force.
	More json.RawMessage `json:"-"`
}

// MarshalJSON writes the fields and those of More.
func (r FilesRequest) MarshalJSON() ([]byte, error) {
	type fields FilesRequest
	return withMore(fields(r), r.More)
}

// Files are the files that run a deployment.
type Files struct {
	Files []File
	// Skipped are the targets that cannot run it, with the reason; Rests what the prediction rests on and files do not bring about.
	Skipped, Rests []string
}

// Files makes the files that run a deployment. It writes nothing.
func (p *Planner) Files(ctx context.Context, r FilesRequest) (*Files, error) {
	var asked deploy.Request
	data, err := json.Marshal(r)
	if err == nil {
		err = field.Decode(data, &asked)
	}
	if err != nil {
		return nil, corrected(document.NewInputError(err, document.FilesOfDeployment))
	}
	made, err := document.Run(ctx, document.FilesOfDeployment, asked, func(ctx context.Context, r deploy.Request) (*deploy.Response, error) {
		return deploy.Run(ctx, p.session(ctx), r)
	})
	if err != nil {
		return nil, corrected(err)
	}
	out := &Files{Skipped: made.Skipped, Rests: made.Rests}
	for _, f := range made.Files {
		out.Files = append(out.Files, File{Path: f.Path, Data: f.Data, Mode: fs.FileMode(f.Mode)})
	}
	return out, nil
}
