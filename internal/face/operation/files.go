package operation

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
)

// FilesRequest is a request for the files that run a deployment: one that a plan finds, or a
// given one.
type FilesRequest struct {
	_ struct{} `anyOf:"plan,deployment"`

	deploy.Request

	// Folder is where to write, relative to the folder named when the server was started.
	Folder string `json:"folder,omitempty"`
}

// Files are files that run a deployment.
type Files struct {
	Folder  string   `json:"folder,omitempty"`
	Files   []File   `json:"files"`
	Skipped []string `json:"skipped"` // targets that cannot run it, with the reason
	// Findings are errors that lint finds in files that were forced.
	Findings []string `json:"findings,omitempty"`
	// Rests are what the prediction rests on and files do not bring about: their figures are others.
	Rests   []string `json:"rests,omitempty"`
	Caution string   `json:"caution"`

	data []launch.File
}

// File is one of the files.
type File struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
}

const filesCaution = "These files are generated from a prediction. Review them before you apply them, and measure under your own load."

func filesOperation() Operation {
	o := define("write_files", "Write deployment files", `Write the files that run a plan's best deployment, or a given one (launch scripts, Docker Compose, Kubernetes, KEDA, Dynamo
and tables for its planner, llm-d, KServe, Slurm, SkyPilot, benchmark), into a folder below the one named when the server was started. Ask before writing.`, writeFiles, filesWork)
	o.Writes = true
	return o
}

func writeFiles(ctx context.Context, env *Env, r FilesRequest) (*Files, error) {
	if env.Write == nil {
		return nil, document.Wrong("the server has no folder to write to: start \"plimsoll mcp --dir FOLDER\"", "folder")
	}
	out, err := makeFiles(ctx, env, r)
	if err != nil {
		return nil, err
	}
	out.Folder = cmp.Or(r.Folder, ".")
	if err := env.Write(out.Folder, out.data); err != nil {
		return nil, document.Wrong(fmt.Sprintf("writing %s: %v", out.Folder, err), "folder")
	}
	return out, nil
}

// makeFiles makes the files and writes none.
func makeFiles(ctx context.Context, env *Env, r FilesRequest) (*Files, error) {
	r.Jobs = env.Jobs
	names := "write_files"
	if r.Deployment != nil {
		names = document.FilesOfDeployment
	}
	made, err := document.Run(ctx, names, r.Request, func(ctx context.Context, r deploy.Request) (*deploy.Response, error) {
		return deploy.Run(ctx, env.Session, r)
	})
	if err != nil {
		return nil, err
	}
	out := &Files{Files: []File{}, Skipped: append([]string{}, made.Skipped...), Findings: made.Findings, Rests: made.Rests, Caution: filesCaution, data: made.Files}
	for _, f := range made.Files {
		out.Files = append(out.Files, File{f.Path, len(f.Data)})
	}
	return out, nil
}

// AskFiles reads a request for files whose answer is an archive; the request of a plan may be sent as it is.
func (d *Runner) AskFiles(data []byte) (*Question, error) {
	o := filesOperation()
	return d.Ask(&o, "zip", plainPlan(data), func(ctx context.Context, env *Env, request any) ([]byte, error) {
		made, err := makeFiles(ctx, env, request.(FilesRequest))
		if err != nil {
			return nil, err
		}
		return made.archive()
	})
}

// plainPlan puts the request of a plan, sent as it is, where a request for files has it.
func plainPlan(data []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || fields["workloads"] == nil && fields["model"] == nil {
		return data
	}
	return slices.Concat([]byte(`{"plan":`), data, []byte(`}`))
}

// archive packs the files. It has no times in it: the same files are the same bytes.
func (f *Files) archive() ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range f.data {
		h := &zip.FileHeader{Name: f.Path, Method: zip.Deflate}
		h.SetMode(fs.FileMode(f.Mode))
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}
