package launch

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// The engines that files can be written for; their names in internal/describe/engine.
const (
	VLLM   = "vllm"
	SGLang = "sglang"
	TRTLLM = "trtllm"
	MindIE = "mindie"
)

// The ports of engines to Ascend's devices, which read the same flags.
const (
	vllmAscend = "vllm-ascend"
	sglangNPU  = "sglang-npu"
)

// Plan is a deployment to run, with the results of a search for it.
type Plan struct {
	Deployment deployment.Deployment
	Resolved   *deployment.Resolved // of the Deployment
	// Loads is what each pool loads, where that differs between them; nil = the deployment's model.
	Loads []Load
	// Input and Output are the lengths of a request in tokens, on average where they
	// differ; Longest is then the most tokens of a request, 0 = their sum, and Prompt those of
	// a prompt, 0 = Input.
	Input, Output   int
	Longest, Prompt int
	Prefix          int // tokens that all prompts begin with
	// Concurrency is the number of requests in flight in all copies.
	Concurrency int
	// Batch is the most sequences on a rank, for each pool; 0 or none is the engine's
	// max_sequences.
	Batch []int
	// Copies is the number of copies of the whole deployment: units of x prefill and y decode
	// workers that share nothing. 0 = 1.
	Copies    int
	Predicted figures.Figures // of the row, for the comments of files and the benchmark
	Capacity  Capacity
	Profile   *Profile // of a worker of each role, nil where nobody computed it
	Remarks   []string // on what the files run otherwise than predicted, for their comments
	Site      Site
}

// Load is a checkpoint, and the number formats in which an engine runs it where they are not its own.
type Load struct {
	Model   string
	Formats deployment.Formats
}

// Capacity is the most load of the deployment within the limits; zero without limits.
type Capacity struct {
	Concurrency int     // requests in flight in all copies
	KV          float64 // share of the KV cache in use, of the fullest worker that generates
}

// Profile is the speed of one prefill and one decode worker over lengths and loads.
type Profile struct {
	Prefill  []PrefillPoint
	Decode   []DecodePoint
	KVTokens int // that a decode worker holds
}

// PrefillPoint is a prompt alone on a prefill worker.
type PrefillPoint struct {
	Tokens    int
	TTFT      units.Seconds
	PerDevice float64 // prompt tokens per second and device
}

// DecodePoint is a load of a decode worker: the share of its cache in use, and the mean context of
// the sequences that use it.
type DecodePoint struct {
	KV, Context float64
	TPOT        units.Seconds
	PerDevice   float64 // output tokens per second and device
}

// File is a file of a launch.
type File struct {
	Path string // with slashes, relative
	Mode uint32 // permission bits
	Data []byte
}

// Engines lists the engines with files for a vendor's devices. Other vendors' devices
// run ports of the engines with images and flags of their own.
func Engines(v device.Vendor) []string {
	switch v {
	case device.NVIDIA:
		return []string{TRTLLM, VLLM, SGLang}
	case device.AMD:
		return []string{VLLM, SGLang}
	case device.Ascend:
		return []string{MindIE, vllmAscend, sglangNPU}
	default:
		return nil
	}
}

// Units is how many copies the deployment has, 1 at least.
func (p *Plan) Units() int { return max(1, p.Copies) }
