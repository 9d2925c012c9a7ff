package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// The engines that files can be written for; their names in internal/describe/engine.
const (
	vllm   = "vllm"
	sglang = "sglang"
	trtllm = "trtllm"
	mindie = "mindie"
)

// told is what an engine is told, in its own terms: some count a size over all
// ranks that another counts on one. Its zero fields are not told.
type told struct {
	Model, ServedName, Checkpoint string

	TP, PP, DP, EP, MoETP, MoEDP, DCP int
	AttentionRanks                    int  // SGLang since 0.5.22: instead of DP and AttentionDP
	ExpertParallel                    bool // vLLM: experts are distributed over all ranks
	AttentionDP                       bool // data-parallel ranks share the experts
	Waits                             bool // and their prompts wait for each other

	Sequences, TokenBudget, PrefillLimit, MaxLength int
	MemoryShare                                     float64
	KV                                              string
	ChunkedPrefill, PrefixCaching                   bool
	Graphs                                          []int
	NoGraphs                                        bool
	MTP, MTPWidth, MTPDraft                         int
	MTPMethod                                       string
	Speculative, Transfer, Role                     string
	TransferTokens                                  int
	NoOverlap                                       bool
}

// ErrLayout is part of errors about layouts that no server of the engine runs.
var ErrLayout = errors.New("the engine cannot run this layout")

// tell says values in an engine's terms, or why it cannot be told them.
func (v *Values) tell() (told, error) {
	t := told{
		Model: v.Model, TP: v.Layout.TP, PP: v.Layout.PP, DP: v.Layout.DP, MaxLength: v.MaxLength, Sequences: v.Batch,
		TokenBudget: v.TokenBudget, MemoryShare: v.MemoryShare, KV: v.KV, ChunkedPrefill: v.ChunkedPrefill,
		PrefixCaching: v.PrefixCaching, Graphs: v.Graphs, NoGraphs: len(v.Graphs) == 0 && !v.OwnGraphs, MTP: v.MTP,
		Waits: slices.ContainsFunc(v.Extras, func(s string) bool {
			steps, asked := strings.CutPrefix(s, "attention_dp.wait_steps=")
			return asked && steps != "0"
		}),
	}
	if v.Layout.DCP > 1 {
		t.DCP = v.Layout.DCP
		if v.option("layout.dcp") == "" {
			return t, fmt.Errorf("%w: %s %s has no context parallelism in decoding (DCP %d)", ErrLayout, v.Engine, v.Version, t.DCP)
		}
	}
	switch v.Engine {
	case vllm:
		return t, v.tellVLLM(&t)
	case sglang:
		return t, v.tellSGLang(&t)
	case trtllm:
		return t, v.tellTRTLLM(&t)
	case mindie:
		t.EP, t.MoETP = v.Layout.EP, v.Layout.MoETP
		return t, nil
	}
	return t, fmt.Errorf("there are no files for the engine %s", v.Engine)
}

// option is the engine's name of something in the version of the values.
func (v *Values) option(key string) string { return v.profile.Option(key, v.Version) }

// tellVLLM: experts are sliced over all ranks, or distributed over all of them.
// Sizes of graphs count tokens, of which a sequence has one more than it drafts.
func (v *Values) tellVLLM(t *told) error {
	l := &v.Layout
	if v.Experts {
		switch {
		case l.MoEDP > 1, l.EP > 1 && l.EP != l.TP*l.DP:
			return fmt.Errorf("%w: vLLM distributes experts over all TP × DP = %d ranks or slices them over all; got EP %d, MoE-TP %d, MoE-DP %d",
				ErrLayout, l.TP*l.DP, l.EP, l.MoETP, l.MoEDP)
		case l.EP > 1:
			t.ExpertParallel = true
		}
	}
	t.Checkpoint = onTheFly(v.Checkpoint)
	t.Graphs = scaled(v.Graphs, 1+v.MTP)
	if v.MTP > 0 {
		t.Speculative = compact(speculative{"mtp", v.MTP})
	}
	switch v.Role {
	case deployment.Prefill:
		t.Transfer = compact(transfer{"NixlConnector", "kv_producer"})
	case deployment.Decode:
		t.Transfer = compact(transfer{"NixlConnector", "kv_consumer"})
	case deployment.Both:
	}
	return nil
}

// speculative is the JSON of --speculative-config: the method "mtp" stands for the
// model's own modules (vllm/config/speculative.py).
type speculative struct {
	Method string `json:"method"`
	Tokens int    `json:"num_speculative_tokens"`
}

// transfer is the JSON of --kv-transfer-config (vLLM's guide to the NIXL connector).
type transfer struct {
	Connector string `json:"kv_connector"`
	Role      string `json:"kv_role"`
}

// compact is the JSON of a value that always has one.
func compact(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

// onTheFly is the conversion that vLLM and SGLang make while loading.
func onTheFly(checkpoint string) string {
	if checkpoint == "fp8" {
		return checkpoint
	}
	return ""
}

// scaled multiplies sizes.
func scaled(sizes []int, by int) []int {
	out := make([]int, len(sizes))
	for i, n := range sizes {
		out[i] = n * by
	}
	return out
}

// tellSGLang: with data-parallel attention TP counts all ranks and the limit of
// sequences holds for all together; without, DP makes whole copies
// (model_runner.py: requests per worker are max_running_requests // dp_size).
func (v *Values) tellSGLang(t *told) error {
	l := &v.Layout
	copies := !v.Experts || l.DP > 1 && l.MoEDP == l.DP
	if v.Experts {
		t.EP = l.EP
		if l.MoEDP > 1 && !copies {
			t.MoEDP = l.MoEDP
			if v.option("layout.moe_dp") == "" {
				return fmt.Errorf("%w: SGLang %s has no data parallelism of experts (MoE-DP %d)", ErrLayout, v.Version, l.MoEDP)
			}
		}
	}
	if l.DP > 1 && !copies {
		t.TP, t.Sequences = l.TP*l.DP, v.Batch*l.DP
		if v.option("layout.attention_dp") != "" {
			t.AttentionRanks, t.DP = l.DP, 1
		} else {
			t.AttentionDP = true
		}
	}
	if !v.ChunkedPrefill {
		t.TokenBudget, t.PrefillLimit = -1, v.TokenBudget // a chunk of −1 is no chunks
	}
	if v.KV == "fp8" {
		t.KV = "fp8_e4m3"
	}
	t.Checkpoint = onTheFly(v.Checkpoint)
	if v.MTP > 0 { // a chain: one candidate at each of the steps, and the token before them
		t.MTPMethod, t.MTPWidth, t.MTPDraft = "NEXTN", 1, v.MTP+1
	}
	if v.Role != deployment.Both {
		t.Role, t.Transfer = string(v.Role), "nixl"
	}
	return nil
}

// tellTRTLLM: attention is tensor-parallel or data-parallel, over all ranks.
func (v *Values) tellTRTLLM(t *told) error {
	l := &v.Layout
	if l.DP > 1 && l.TP > 1 || v.Experts && l.MoEDP > 1 {
		return fmt.Errorf("%w: TensorRT-LLM has attention with TP or with DP and no copies of experts; got TP %d, DP %d, MoE-DP %d",
			ErrLayout, l.TP, l.DP, l.MoEDP)
	}
	t.TP, t.DP, t.AttentionDP = l.TP*l.DP, 0, l.DP > 1
	if v.Experts {
		t.EP, t.MoETP = l.EP, l.MoETP
	}
	if v.MTP > 0 {
		t.MTPMethod = "MTP"
	}
	if v.Role != deployment.Both {
		t.Transfer, t.TransferTokens = "DEFAULT", v.MaxLength
		if version.Compare(v.Version, "1.1.0rc1") < 0 { // written in lower case before
			t.Transfer = "default"
		}
		// The overlap scheduler does not run in workers that only prefill.
		t.NoOverlap = v.Role == deployment.Prefill
	}
	return nil
}

// hear is the way back: the layout and the sequences on a rank. What was not told
// stays zero.
func (t *told) hear(name string) (l parallel.Layout, batch int) {
	one := func(n int) int { return max(1, n) }
	l, batch = parallel.Layout{TP: t.TP, PP: t.PP, DP: t.DP, EP: t.EP, MoETP: t.MoETP, MoEDP: t.MoEDP, DCP: t.DCP}, t.Sequences
	switch name {
	case vllm:
		if t.ExpertParallel {
			l.EP = one(t.TP) * one(t.DP)
		}
	case sglang:
		ranks := t.AttentionRanks
		if t.AttentionDP {
			ranks = t.DP
		}
		switch {
		case ranks > 1:
			l.TP, l.DP, batch = one(t.TP)/ranks, ranks, t.Sequences/ranks
		case t.DP > 1:
			l.MoEDP = t.DP // copies, of the experts too
		}
	case trtllm:
		if t.AttentionDP {
			l.TP, l.DP = 1, one(t.TP)
		}
	}
	l.DP = one(l.DP)
	l.Devices = one(l.TP) * l.DP * one(l.PP)
	return l, batch
}
