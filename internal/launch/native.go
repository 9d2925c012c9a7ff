package launch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// native is the settings of an engine in its own terms: some engines count a size over
// all ranks that others count on one. Zero fields are not set. The tags are the keys that
// engines name the settings with, the fields in the order of the files.
type native struct {
	Model          string  `key:"model"`
	ServedName     string  `key:"served_name"`
	Checkpoint     string  `key:"checkpoint"`
	DType          string  `key:"dtype"`
	TP             int     `key:"layout.tp"`
	PP             int     `key:"layout.pp"`
	DP             int     `key:"layout.dp"`
	AttentionRanks int     `key:"layout.attention_dp"`  // SGLang since 0.5.22: instead of DP and AttentionDP
	AttentionDP    bool    `key:"attention_dp.switch"`  // data-parallel ranks share the experts
	Waits          bool    `key:"attention_dp.waits"`   // and their prompts wait for each other
	ExpertParallel bool    `key:"layout.expert_switch"` // vLLM: experts are distributed over all ranks
	EP             int     `key:"layout.ep"`
	MoETP          int     `key:"layout.moe_tp"`
	MoEDP          int     `key:"layout.moe_dp"`
	DCP            int     `key:"layout.dcp"`
	MaxLength      int     `key:"max_context"`
	Sequences      int     `key:"max_sequences"`
	TokenBudget    int     `key:"token_budget"`
	PrefillLimit   int     `key:"prefill_limit"`
	ChunkedPrefill bool    `key:"chunked_prefill"`
	MemoryShare    float64 `key:"memory_share"`
	KV             string  `key:"kv_format"`
	PrefixCaching  bool    `key:"prefix_caching"`
	Graphs         []int   `key:"graph.sizes"`
	NoGraphs       bool    `key:"graph.off"`
	MTPMethod      string  `key:"mtp.method"`
	MTP            int     `key:"mtp.tokens"`
	MTPWidth       int     `key:"mtp.width"`
	MTPDraft       int     `key:"mtp.draft"`
	DraftModel     string  `key:"draft.model"`
	DraftTokens    int     `key:"draft.tokens"`
	Role           string  `key:"role"`
	Transfer       string  `key:"transfer"`
	TransferTokens int     `key:"transfer_tokens"`
	NoOverlap      bool    `key:"overlap_off"`
	HostSwitch     bool    `key:"host_cache.switch"`
	HostCache      string  `key:"host_cache.size"` // in the engine's unit, of its processes
	HostBackend    string  `key:"host_cache.backend"`

	Speculative string // vLLM: drafts as JSON
}

// ErrLayout is part of errors about layouts that no server of the engine runs.
var ErrLayout = errors.New("the engine cannot run this layout")

// native is the values in the engine's own terms, or an error if it cannot run them.
func (v *Values) native() (native, error) {
	t := native{
		Model: v.Model, DType: v.dtype(), TP: v.Layout.TP, PP: v.Layout.PP, DP: v.Layout.DP, MaxLength: v.MaxLength, Sequences: v.Batch,
		TokenBudget: v.TokenBudget, MemoryShare: v.MemoryShare, KV: v.KV, ChunkedPrefill: v.ChunkedPrefill,
		PrefixCaching: v.PrefixCaching, Graphs: v.Graphs, NoGraphs: len(v.Graphs) == 0 && !v.OwnGraphs, MTP: v.MTP,
		Waits: slices.ContainsFunc(v.Extras, func(s string) bool {
			steps, asked := strings.CutPrefix(s, "attention_dp.wait_steps=")
			return asked && steps != "0"
		}),
	}
	if v.Layout.DCP > 1 {
		t.DCP = v.Layout.DCP
		if v.Option("layout.dcp") == "" {
			return t, fmt.Errorf("%w: %s %s has no context parallelism in decoding (DCP %d)", ErrLayout, v.Engine, v.Version, t.DCP)
		}
	}
	v.hostCache(&t)
	switch v.Engine {
	case VLLM:
		return t, v.nativeVLLM(&t)
	case SGLang:
		return t, v.nativeSGLang(&t)
	case TRTLLM:
		return t, v.nativeTRTLLM(&t)
	case MindIE:
		if v.Drafter != "" {
			return t, fmt.Errorf("%w: files of MindIE have no drafts by %s", ErrLayout, v.Drafter)
		}
		t.EP, t.MoETP = v.Layout.EP, v.Layout.MoETP
		return t, nil
	}
	return t, fmt.Errorf("cannot generate files for the engine %s", v.Engine)
}

// dtype is the word for the format of 16-bit parts, "" where the engine's own choice runs: where a device has no bf16 it is said, for releases that
// do not choose fp16 by themselves and for people.
func (v *Values) dtype() string {
	if engine.HalfOnly(v.Device) {
		return engine.Half
	}
	return ""
}

// Option is the engine's name of a setting in the version of the values, "" if it has none.
func (v *Values) Option(key string) string { return v.profile.Option(key, v.Version) }

// nativeVLLM: experts are sliced over all ranks, or distributed over all of them.
// Sizes of graphs count tokens, of which a sequence has one more than it drafts.
func (v *Values) nativeVLLM(t *native) error {
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
	t.Checkpoint = v.quantization()
	t.Graphs = scaled(v.Graphs, 1+v.MTP)
	if v.MTP > 0 {
		x := speculative{Method: cmp.Or(v.Drafter, draft.MTP), Model: v.Head, Tokens: v.MTP}
		if v.Drafter == draft.NGram {
			x.Most, x.Least = lookupMost, lookupLeast
		}
		t.Speculative = compact(x)
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
	Method draft.Method `json:"method"`
	Model  string       `json:"model,omitempty"`
	Tokens int          `json:"num_speculative_tokens"`
	Most   int          `json:"prompt_lookup_max,omitempty"`
	Least  int          `json:"prompt_lookup_min,omitempty"`
}

// The lengths of n-grams that are looked up: as in vLLM's example of the method and in TensorRT-LLM's blog on it.
const lookupMost, lookupLeast = 5, 2

// transfer is the JSON of --kv-transfer-config (vLLM's guide to the NIXL connector).
type transfer struct {
	Connector string `json:"kv_connector"`
	Role      string `json:"kv_role"`
}

// compact is the JSON of a value that can always be encoded.
func compact(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

// OnTheFly is the conversion that vLLM and SGLang can make while loading.
func OnTheFly(checkpoint string) string {
	if checkpoint == "fp8" {
		return checkpoint
	}
	return ""
}

// slim are the words of --quantization for checkpoints of ModelSlim: vllm-ascend's (its utils.py, ASCEND_QUANTIZATION_METHOD) and
// SGLang's.
func slim() map[string]string { return map[string]string{VLLM: "ascend", SGLang: "modelslim"} }

// quantization is the value of --quantization, "" where the engine reads it from the checkpoint.
func (v *Values) quantization() string {
	if v.Slim != "" {
		return slim()[v.Engine]
	}
	return OnTheFly(v.Checkpoint)
}

// scaled multiplies sizes.
func scaled(sizes []int, by int) []int {
	out := make([]int, len(sizes))
	for i, n := range sizes {
		out[i] = n * by
	}
	return out
}

// nativeSGLang: with data-parallel attention TP counts all ranks and the limit of
// sequences holds for all together; without, DP makes whole copies
// (model_runner.py: requests per worker are max_running_requests // dp_size).
func (v *Values) nativeSGLang(t *native) error {
	l := &v.Layout
	copies := !v.Experts || l.DP > 1 && l.MoEDP == l.DP
	if v.Experts {
		t.EP = l.EP
		if l.MoEDP > 1 && !copies {
			t.MoEDP = l.MoEDP
			if v.Option("layout.moe_dp") == "" {
				return fmt.Errorf("%w: SGLang %s has no data parallelism of experts (MoE-DP %d)", ErrLayout, v.Version, l.MoEDP)
			}
		}
	}
	if l.DP > 1 && !copies {
		t.TP, t.Sequences = l.TP*l.DP, v.Batch*l.DP
		if v.Option("layout.attention_dp") != "" {
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
	t.Checkpoint = v.quantization()
	if v.MTP > 0 {
		v.draftsSGLang(t)
	}
	t.NoOverlap = v.profile.OverlapOff
	if v.Role != deployment.Both {
		t.Role, t.Transfer = string(v.Role), "nixl"
	}
	return nil
}

// draftsSGLang: a chain has one candidate at each of the steps, and the token before them.
func (v *Values) draftsSGLang(t *native) {
	t.MTPMethod, t.MTPWidth, t.MTPDraft = "NEXTN", 1, v.MTP+1
	switch v.Drafter {
	case draft.EAGLE3:
		t.MTPMethod, t.DraftModel = "EAGLE3", v.Head
	case draft.NGram: // has no steps
		t.MTPMethod, t.MTPWidth, t.MTP = "NGRAM", 0, 0
	case draft.MTP:
	}
}

// nativeTRTLLM: attention is tensor-parallel or data-parallel, over all ranks.
func (v *Values) nativeTRTLLM(t *native) error {
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
		switch v.Drafter {
		case draft.EAGLE3:
			t.MTPMethod, t.DraftModel, t.MTP, t.DraftTokens = "Eagle", v.Head, 0, v.MTP
		case draft.NGram:
			t.MTPMethod, t.MTP, t.DraftTokens = "NGram", 0, v.MTP
		case draft.MTP:
		}
	}
	if v.Role != deployment.Both {
		t.Transfer, t.TransferTokens = "DEFAULT", v.MaxLength
		if !engine.Has(TRTLLM+"-keys", "cache_transceiver_config.backend="+t.Transfer, v.Version) { // written in lower case before
			t.Transfer = "default"
		}
		if v.Option("transfer") == "" { // a variable instead
			t.Transfer = ""
		}
		// The overlap scheduler does not run in workers that only prefill.
		t.NoOverlap = v.Role == deployment.Prefill
	}
	return nil
}

// layout inverts native: the layout and the sequences on a rank. Unset fields stay zero.
func (t *native) layout(name string) (l parallel.Layout, batch int) {
	one := func(n int) int { return max(1, n) }
	l, batch = parallel.Layout{TP: t.TP, PP: t.PP, DP: t.DP, EP: t.EP, MoETP: t.MoETP, MoEDP: t.MoEDP, DCP: t.DCP}, t.Sequences
	switch name {
	case VLLM:
		if t.ExpertParallel {
			l.EP = one(t.TP) * one(t.DP)
		}
	case SGLang:
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
	case TRTLLM:
		if t.AttentionDP {
			l.TP, l.DP = 1, one(t.TP)
		}
	}
	l.DP = one(l.DP)
	l.Devices = one(l.TP) * l.DP * one(l.PP)
	return l, batch
}
