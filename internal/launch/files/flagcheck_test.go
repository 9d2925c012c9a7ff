package files_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
)

// A flag of the test binary has to exist before the testing package parses its
// command line.
var dump = flag.String("dump", "", "write plain scripts of several releases under this directory, for tools/flagcheck")

// TestDump writes six plans for each release: what -dump keeps for tools/flagcheck. All
// are written but those that a release has no flags for.
func TestDump(t *testing.T) {
	into := *dump
	if into == "" {
		into = t.TempDir()
	}
	const dense, moe, on = "Qwen/Qwen3-32B", "deepseek-ai/DeepSeek-V3", "h200_sxm"
	for e, releases := range map[string][]string{
		"trtllm": {"0.20.0", "0.21.0", "1.0.0rc3", "1.0.0rc6", "1.1.0rc6", "1.2.0rc8", "1.3.0rc2", "1.3.0rc23"},
		"vllm":   {"0.9.2", "0.10.2", "0.11.0", "0.12.0", "0.14.1", "0.17.0", "0.19.1", "0.22.0", "0.24.0", "0.26.0", "0.27.1"},
		"sglang": {"0.5.3", "0.5.6.post2", "0.5.9", "0.5.12", "0.5.14", "0.5.16", "0.5.20", "0.5.23"},
	} {
		for _, v := range releases {
			drafts, whole := both(1, wide(8)), both(1, tp(8))
			drafts.MTP, drafts.AcceptanceRates = 1, []float64{0.85}
			drafts.Settings = []string{"kv_format=fp8", "prefix_caching=false"}
			whole.Settings = []string{"graph.max_batch=0", "block_tokens=64", "chunked_prefill=false", "token_budget=9000"}
			for name, p := range map[string]*launch.Plan{
				"agg-dense":    planned(t, e, v, dense, on, []int{28}, both(2, tp(4))),
				"disagg-dense": planned(t, e, v, dense, on, []int{1, 64}, prefill(4, tp(1)), decode(1, tp(4))),
				"agg-moe":      planned(t, e, v, moe, on, []int{64}, drafts),
				"disagg-moe":   planned(t, e, v, moe, on, []int{1, 64}, prefill(1, wide(8)), decode(1, wide(16))),
				"whole":        planned(t, e, v, dense, on, []int{64}, whole),
				"two-nodes":    planned(t, e, v, dense, on, []int{64}, both(1, tp(16))),
			} {
				all, _, err := files.Write(p, files.Plain)
				if lacks := name == "two-nodes" && e == "vllm" && version.Compare(v, "0.11.1") < 0; lacks == (err == nil) {
					t.Errorf("%s %s, %s: %v", e, v, name, err)
				}
				if err == nil {
					allowed(t, v, name, all)
				}
				for _, f := range all {
					path := filepath.Join(into, e, v, name, filepath.FromSlash(f.Path))
					if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, f.Data, 0o666); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

// allowed checks that a release has every flag, and every key of a config file, in some
// files.
func allowed(t *testing.T, release, name string, all []launch.File) {
	t.Helper()
	for target, group := range byTarget(all) {
		found, err := launch.Read(group...)
		if err != nil {
			t.Fatalf("%s, %s: %v", name, target, err)
		}
		problems := found.Problems
		at := release
		if isDynamo(group) {
			at = found.Deployment.Engine.Version
		}
		for i := range found.Launches {
			problems = append(problems, found.Launches[i].Lacks(at)...)
		}
		for i := range problems {
			t.Errorf("%s, %s for %s: %+v", name, target, release, problems[i])
		}
	}
}

// TestFlagsAllowed: every flag and key in the trees of all targets is one that the release
// they are written for has.
func TestFlagsAllowed(t *testing.T) {
	for name, p := range cases(t) {
		all, _, err := files.Write(p)
		if err != nil {
			t.Fatal(err)
		}
		allowed(t, p.Deployment.Engine.Version, name, all)
	}
}
