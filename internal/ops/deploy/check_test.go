package deploy_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// pool is a pool of a layout with TP alone.
func pool(role deployment.Role, replicas, tp int) deployment.Pool {
	return deployment.Pool{Role: role, Replicas: replicas, Layout: parallel.Layout{Devices: tp, TP: tp}}
}

// planOf is what files are made for.
func planOf(t *testing.T, model, engine string, site launch.Site, o experiment.Option, pools ...deployment.Pool) *launch.Plan {
	t.Helper()
	o.Concurrency = max(4, o.Copies)
	o.Deployment = deployment.Deployment{Model: model, System: "h200_sxm", Engine: deployment.Engine{Name: engine}, Pools: pools}
	p, err := deploy.Plan(new(session.Session), &session.Sources{}, &experiment.Experiment{Input: 512, Output: 64}, &o, site)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestChecked: files in which lint finds an error are refused with the finding, and forced with it; others pass. A target without errors is
// written without those that have some.
func TestChecked(t *testing.T) {
	both, prefill, decode := deployment.Both, deployment.Prefill, deployment.Decode
	for name, c := range map[string]struct {
		plan    *launch.Plan
		change  func(*launch.Plan)
		targets []files.Target
		want    string
		left    string // the targets that are left out
	}{
		"sound":          {plan: planOf(t, "Qwen/Qwen3-32B", "vllm", launch.Site{}, experiment.Option{}, pool(both, 2, 2))},
		"disaggregated":  {plan: planOf(t, "Qwen/Qwen3-32B", "sglang", launch.Site{}, experiment.Option{}, pool(prefill, 2, 1), pool(decode, 1, 2))},
		"units":          {plan: planOf(t, "Qwen/Qwen3-32B", "trtllm", launch.Site{}, experiment.Option{Copies: 2}, pool(prefill, 4, 2), pool(decode, 2, 4))},
		"memory":         {plan: planOf(t, "deepseek-ai/DeepSeek-V3", "sglang", launch.Site{}, experiment.Option{}, pool(both, 1, 2)), want: "leave no room for a KV cache"},
		"ports":          {plan: planOf(t, "Qwen/Qwen3-32B", "sglang", launch.Site{Port: 8898}, experiment.Option{}, pool(prefill, 2, 1), pool(decode, 1, 2)), targets: []files.Target{files.Kubernetes, files.Plain}, want: "port: 8998 is opened 2 times"},
		"other targets":  {plan: planOf(t, "Qwen/Qwen3-32B", "sglang", launch.Site{Port: 8898}, experiment.Option{}, pool(prefill, 2, 1), pool(decode, 1, 2)), want: "port: 8998 is opened 2 times", left: "plain compose"},
		"length":         {plan: planOf(t, "Qwen/Qwen3-32B", "sglang", launch.Site{}, experiment.Option{}, pool(both, 1, 2)), change: func(p *launch.Plan) { p.Resolved.Pools[0].Engine.MaxContext = 300 }, want: "exceed 300"},
		"arithmetic":     {plan: planOf(t, "Qwen/Qwen3-32B", "vllm", launch.Site{}, experiment.Option{}, pool(both, 2, 2)), change: func(p *launch.Plan) { p.Resolved.Pools[0].Replicas = 3 }, want: "devices: 6 start, but the plan has 4"},
		"longest prompt": {plan: planOf(t, "Qwen/Qwen3-32B", "trtllm", launch.Site{}, experiment.Option{}, pool(both, 1, 2)), change: func(p *launch.Plan) { p.Resolved.Pools[0].Engine.MaxContext = 900; p.Longest = 1000 }, want: "exceed 900"},
	} {
		if c.change != nil {
			c.change(c.plan)
		}
		got, err := deploy.Write(t.Context(), new(session.Session), &session.Sources{}, c.plan, false, c.targets...)
		if c.left != "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for target := range strings.FieldsSeq(c.left) {
				ofTarget := func(f launch.File) bool { return strings.HasPrefix(f.Path, target+"/") }
				says := func(text string) bool {
					return strings.HasPrefix(text, target+" files not written") && strings.Contains(text, c.want) && !strings.Contains(text, "\n")
				}
				if slices.ContainsFunc(got.Files, ofTarget) || !slices.ContainsFunc(got.Skipped, says) {
					t.Errorf("%s: %s is not left out for %s: %q", name, target, c.want, got.Skipped)
				}
			}
			if !slices.ContainsFunc(got.Files, func(f launch.File) bool { return f.Path == "kubernetes/deploy.yaml" }) {
				t.Errorf("%s: no other target", name)
			}
		} else if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		unsound, ok := errors.AsType[*deploy.UnsoundError](err)
		if c.left == "" && !ok || ok && !strings.Contains(unsound.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", name, c.want, err)
		}
		forced, err := deploy.Write(t.Context(), new(session.Session), &session.Sources{}, c.plan, true, c.targets...)
		if err != nil || len(forced.Files) == 0 || !strings.Contains(strings.Join(forced.Findings, "\n"), c.want) {
			t.Errorf("%s: forced: %v", name, err)
		}
	}
}

// TestOldReleases: files of a release that no image of Dynamo has pass the check of their own release, and Dynamo's that of the one in its
// image.
func TestOldReleases(t *testing.T) {
	for _, release := range []string{"0.20.0", "0.21.0", "1.0.0rc0", "1.0.0rc2", "1.0.0rc3", "1.0.0rc6"} {
		o := experiment.Option{Concurrency: 8, Deployment: deployment.Deployment{
			Model: "Qwen/Qwen3-32B-FP8", System: "h200_sxm", Engine: deployment.Engine{Name: "trtllm", Version: release},
			Pools: []deployment.Pool{pool(deployment.Prefill, 1, 2), pool(deployment.Decode, 1, 4)},
		}}
		p, err := deploy.Plan(new(session.Session), &session.Sources{}, &experiment.Experiment{Input: 512, Output: 64}, &o, launch.Site{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := deploy.Write(t.Context(), new(session.Session), &session.Sources{}, p, false, files.Plain, files.Dynamo, files.Kubernetes)
		if err != nil || len(got.Files) == 0 {
			t.Errorf("%s: %v", release, err)
		}
	}
}

// TestUnits: the copies of a disaggregated row are units with routers of their own, as predicted, and scripts are those of one.
func TestUnits(t *testing.T) {
	p := planOf(t, "Qwen/Qwen3-32B", "vllm", launch.Site{}, experiment.Option{Copies: 8}, pool(deployment.Prefill, 32, 1), pool(deployment.Decode, 8, 4))
	all, _, err := files.Write(p, files.Plain, files.Kubernetes, files.Dynamo)
	if err != nil {
		t.Fatal(err)
	}
	scripts := 0
	for _, f := range all {
		text := string(f.Data)
		if strings.HasSuffix(f.Path, ".sh") {
			scripts++
			if !strings.Contains(text, "# One of 8 units") {
				t.Errorf("%s does not say for which units it is", f.Path)
			}
		}
		if n := strings.Count(text, "kind: DynamoGraphDeployment"); f.Path == "k8s_deploy.yaml" && n != 8 {
			t.Errorf("want 8 graphs, got %d", n)
		}
	}
	if scripts != 2 {
		t.Errorf("want a script of one node for Dynamo and one without, got %d", scripts)
	}
}

// TestRunChecks: a request for files is answered with files that were checked, or with the findings.
func TestRunChecks(t *testing.T) {
	r := deploy.Request{
		Deployment: &deployment.Deployment{
			Model: "Qwen/Qwen3-8B", System: "h200_sxm", Engine: deployment.Engine{Name: "sglang"},
			Pools: []deployment.Pool{pool(deployment.Prefill, 1, 1), pool(deployment.Decode, 1, 1)},
		},
		Input: 512, Output: 64, Concurrency: 4, Site: deploy.Site{Port: 8898},
	}
	r.Targets = []files.Target{files.Plain}
	_, err := deploy.Run(t.Context(), new(session.Session), r)
	if _, ok := errors.AsType[*deploy.UnsoundError](err); !ok {
		t.Errorf("want findings, got %v", err)
	}
	if _, ok := errors.AsType[*session.InputError](err); !ok {
		t.Errorf("want an error in the request, got %v", err)
	}
	r.Force = true
	if out, err := deploy.Run(t.Context(), new(session.Session), r); err != nil || len(out.Findings) == 0 {
		t.Errorf("forced: %v", err)
	}
	r.Force, r.Site.Port = false, 0
	if out, err := deploy.Run(t.Context(), new(session.Session), r); err != nil || len(out.Findings) > 0 {
		t.Errorf("sound: %v", err)
	}
}
