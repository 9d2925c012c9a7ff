package launch_test

import (
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// TestSiteCheck: what files, engines and Kubernetes take, and one line with the field for what they do not.
func TestSiteCheck(t *testing.T) {
	for _, s := range []launch.Site{
		{},
		{ServedName: "Qwen/Qwen3-32B", Namespace: "team-a", Image: "registry:5000/vllm/vllm-openai:v0.24.0@sha256:ab", Port: 65535},
		{RDMA: "rdma/ib", Topology: "nvidia.com/gpu.clique"},
		{RDMA: "vpc.amazonaws.com/efa=16", Topology: "rack"},
		{ServedName: "./models/a_b", ModelPath: "/data/my models/$x"},
	} {
		if err := s.Check(); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
	for want, s := range map[string]launch.Site{
		`served_model_name must be letters, digits and . _ / : @ + = -, 256 at most, and not begin with - : @ + =, got "$(touch x)"`: {ServedName: "$(touch x)"},
		"served_model_name must be":                             {ServedName: "-x"},
		"served_model_name must be l":                           {ServedName: strings.Repeat("x", 257)},
		"rdma must be a resource of Kubernetes such as rdma/ib": {RDMA: "ib"},
		`rdma must be a resource of Kubernetes such as rdma/ib, with "=" and a number where a pod takes several, got "rdma/ib=0"`: {RDMA: "rdma/ib=0"},
		"topology must be the key of a label": {Topology: "a/b/c"},
		"namespace must be":                   {Namespace: "Team"},
		"namespace must be a":                 {Namespace: strings.Repeat("a", 64)},
		"image must be":                       {Image: "${IMAGE}"},
		`model_path must be UTF-8 without control characters and not begin with a hyphen, got "a\nb"`: {ModelPath: "a\nb"},
		"port must be from 1 to 65535, got 65536":                                                     {Port: 65536},
		"port must be from 1 to 65535, got -1":                                                        {Port: -1},
	} {
		if err := s.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if err := (&launch.Site{Port: 65500}).CheckPorts(8); err == nil || err.Error() != "port must be at most 65427 for 8 workers, got 65500" {
		t.Errorf("%v", err)
	}
}
