package engine

import (
	"cmp"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// identity are the fields that cannot be set: name, versions and source of a profile, and its fused kernels.
func (p *Profile) identity() []setting {
	return []setting{
		{"name", rule{}, "", &p.Name},
		{"title", rule{}, "", &p.Title},
		{"aliases", rule{}, "", &p.Aliases},
		{"since", rule{}, "", &p.Versions.Since},
		{"until", rule{}, "", &p.Versions.Until},
		{"released", rule{}, "", &p.Released},
		{"known", rule{}, "", &p.Known},
		{"source", rule{}, "", &p.Source},
		{"fuses_shared", rule{}, "", &p.SharedFusion},
		{"shared_attention", rule{}, "", &p.SharedAttention},
		{"unsplit_attention", rule{}, "", &p.UnsplitAttention},
		{"widened_experts", rule{}, "", &p.WidenedExperts},
		{"recurrent.uncached", rule{}, "", &p.Recurrent.Uncached},
		{"recurrent.unbuffered", rule{}, "", &p.Recurrent.Unbuffered},
		{"recurrent.refused_on", rule{}, "", &p.Recurrent.RefusedOn},
		{"recurrent.refused_until", rule{}, "", &p.Recurrent.RefusedUntil},
		{"recurrent.cuts", rule{}, "", &p.Recurrent.Cuts},
		{"recurrent.asked_until", rule{}, "", &p.Recurrent.AskedUntil},
		{"recurrent.none_until", rule{}, "", &p.Recurrent.NoneUntil},
		{"recurrent.asked_for", rule{}, "", &p.Recurrent.AskedFor},
		{"recurrent.none", rule{}, "", &p.Recurrent.None},
	}
}

// settings are the defaults of an engine, each written once: its key, its legal
// values, its meaning, and its field with the unit it is written in. The engine's
// own name for it is in the profile's file, under options.
func (p *Profile) settings() []setting {
	return []setting{
		{"policy", oneOf(
			Word{string(DecodeFirst), "a step takes running sequences first, then prompts"},
			Word{string(PrefillFirst), "waiting prompts run alone; decoding pauses"},
			Word{string(InFlight), "a step takes running sequences together with whole prompts"},
		), "", (*string)(&p.Policy)},
		{"chunked_prefill", rule{}, "split prompts to fit the token budget", &p.ChunkedPrefill},
		{"token_budget", atLeast(1), "maximum tokens computed in a step", &p.TokenBudget},
		{"max_sequences", atLeast(1), "maximum sequences in a batch", &p.MaxSequences},
		{"memory_share", shareFrom(0.001), "share of the memory named by memory_share_of", &p.MemoryShare},
		{"memory_share_of", oneOf(
			Word{string(OfTotal), "all memory; limits everything the engine allocates"},
			Word{string(OfStatic), "all memory; limits weights and KV cache"},
			Word{string(OfFree), "memory free after loading; limits the KV cache"},
		), "", (*string)(&p.MemoryShareOf)},
		{"workspace_gib", atLeast(0), "memory for the device context, libraries and graphs", gib(&p.Workspace)},
		{"communication_gib", atLeast(0), "additional workspace of a replica on several devices", gib(&p.Communication)},
		{"peer_gib", atLeast(0), "additional workspace per device of such a replica", gib(&p.PerPeer)},
		{"logits_copies", atLeast(0), "float32 copies of the logits of max_sequences in the profiling run", &p.LogitsCopies},
		{"max_context", atLeast(0), "maximum sequence length that workspaces are sized for; 0 is the model's", &p.MaxContext},
		{"index_rows", atLeast(0), "sequences of max_context whose index keys have a workspace (sparse attention)", &p.IndexRows},
		{"window_share", shareFrom(0), "share of the KV cache that sliding-window layers keep beyond the window", &p.WindowShare},
		{"state_ratio", atLeast(0), "memory for recurrent states, per byte of KV cache", &p.StateRatio},
		{"recurrent.slots", atLeast(0), "recurrent states kept per running sequence with prefix_caching, which limits sequences; 0 means no limit", &p.Recurrent.Slots},
		{"recurrent.overlapped", rule{}, "overlap host work of models with recurrent layers too, with prefix_caching", &p.Recurrent.Overlapped},
		{"recurrent.drafts", rule{}, "keep a prefix cache of models with recurrent layers while drafting too", &p.Recurrent.Drafts},
		{"block_tokens", atLeast(1), "tokens in a KV block", &p.BlockTokens},
		{"kv_format", rule{}, "number format of the KV cache; auto is the checkpoint's", &p.KVFormat},
		{"state_format", rule{}, "number format of recurrent states; auto is the model's", &p.StateFormat},
		{"reserve", shareFrom(0), "share of the remaining output tokens that must fit at admission", &p.Reserve},
		{"prefill_ahead", rule{}, "compute prompts even if max_sequences are already decoding; they wait after the first token", &p.PrefillAhead},
		{"prefix_caching", rule{}, "keep finished prompts for requests with the same prefix", &p.PrefixCaching},
		{"even_experts", rule{}, "all experts are chosen equally often, as with random weights (--load-format dummy); otherwise some are chosen more often", &p.EvenExperts},
		{"receive_interval", atLeast(1), "decode steps between checks for new requests", &p.ReceiveInterval},
		{"held_tokens", atLeast(0), "tokens generated before the client sees the first (disaggregated)", &p.HeldTokens},
		{"graph.max_batch", atLeast(0), "largest decode batch that replays a captured graph; without eager_prefill also the maximum tokens of a step with prompts", &p.Graph.MaxBatch},
		{"graph.eager_prefill", rule{}, "launch all prompts kernel by kernel", &p.Graph.EagerPrefill},
		{"graph.per_sequence", atLeast(0), "limits an unset graph.max_batch to this many per sequence of max_sequences; 0 means no limit", &p.Graph.PerSequence},
		{"graph.padded", rule{}, "padding rows of a captured graph are routed to experts like tokens", &p.Graph.Padded},
		{"graph.kernel_kib", atLeast(0), "memory of a captured kernel, per captured batch size", kib(&p.Graph.Kernel)},
		{"batch_wait.steps", atLeast(0), "maximum steps a prompt waits for more prompts", &p.BatchWait.Steps},
		{"batch_wait.ratio", shareFrom(0), "prompts wait until they fill this share of the token budget", &p.BatchWait.Ratio},
		{"attention_dp.wait_steps", atLeast(0), "maximum steps a prompt waits until every data-parallel rank has one", &p.AttentionDP.WaitSteps},
		{"attention_dp.fill", shareFrom(0), "share of the token budget that prompts on all ranks then wait for; 0 disables it", &p.AttentionDP.Fill},
		{"attention_dp.stall_steps", atLeast(0), "maximum steps prompts wait after the last new prompt", &p.AttentionDP.StallSteps},
		{"attention_dp.splits_budget", rule{}, "data-parallel ranks share one token budget", &p.AttentionDP.SplitsBudget},
		{"mtp.tokens", atLeast(0), "draft tokens per step", &p.MTP.Tokens},
		{"mtp.sequences", atLeast(0), "default of max_sequences, of all data-parallel ranks together, while drafting; 0 is max_sequences", &p.MTP.Sequences},
		{"mtp.overlapped", rule{}, "overlap host work while drafting too", &p.MTP.Overlapped},
		{"host.exposed", shareFrom(0), "share of per_step and per_sequence that the GPU waits for", &p.Exposed},
		{"host.alone", shareFrom(0), "share of host.exposed that remains with a single device", &p.Alone},
		{"host.launch_ahead", rule{}, "launch a step with prompts while a single device runs the one before", &p.LaunchAhead},
	}
}

// settings are the host's times on one generation of devices.
func (t *Terms) settings() []setting {
	return []setting{
		{"per_step", atLeast(0), "host work per step; overlaps with the GPU except for the share host.exposed", us(&t.PerStep)},
		{"per_sequence", atLeast(0), "the same per sequence in the step", us(&t.PerSequence)},
		{"per_prefill_step", atLeast(0), "added to a step with prompts; does not overlap", us(&t.PerPrefillStep)},
		{"per_layer", atLeast(0), "idle time between the kernels of a layer in a captured graph", us(&t.PerLayer)},
		{"per_linear_layer", atLeast(0), "the same for models with recurrent layers; 0 is per_layer", us(&t.PerLinear)},
		{"launch_floor.dense", atLeast(0), "minimum time to launch the kernels of a dense layer one by one", us(&t.Floor.Dense)},
		{"launch_floor.moe", atLeast(0), "the same for a layer with experts", us(&t.Floor.MoE)},
		{"launch_floor.latent", atLeast(0), "the same for a layer with latent attention", us(&t.Floor.Latent)},
		{"launch_floor.linear", atLeast(0), "the same for a recurrent layer", us(&t.Floor.Linear)},
		{"launch_floor.widened", atLeast(0), "the same for a layer with experts whose kernels widen 4-bit weights in Triton; 0 is launch_floor.moe", us(&t.Widened)},
		{"launch_floor.pieces", atLeast(0), "minimum time for a layer in a step with prompts that replays graphs in pieces", us(&t.Pieces)},
		{"per_draft", atLeast(0), "time to launch the kernels of a draft one by one; 0 if drafts replay a graph", us(&t.PerDraft)},
		{"api_fixed", atLeast(0), "work of the API server per request, in parallel to the GPU", us(&t.APIFixed)},
		{"api_per_token", atLeast(0), "work of the API server per prompt token, in parallel to the GPU", us(&t.APIPerToken)},
		{"api_per_output", atLeast(0), "the same per generated token of a step; first tokens are sent last", us(&t.APIPerOutput)},
		{"first", atLeast(0), "added to TTFT: network, tokenizer, streaming", us(&t.First)},
		{"first_alone", atLeast(0), "the same with a single device; 0 is first", us(&t.FirstAlone)},
	}
}

// part is what a file may have besides settings: a rule, nil where there is none, or a list.
type part struct {
	key string
	at  reflect.Value
}

func (p *Profile) parts() []part {
	at := func(x any) reflect.Value { return reflect.ValueOf(x).Elem() }
	return []part{
		{"share_rule_mib", at(&p.ShareRule)},
		{"latent_kernels", at(&p.LatentRule)},
		{"sparse_kernels", at(&p.SparseRule)},
		{"narrow_reduce", at(&p.ReduceRule)},
		{"tiers", at(&p.Tiers)},
		{"slow_kernels", at(&p.Slow)},
		{"product_tiles", at(&p.ProductTiles)},
	}
}

// fieldsOf are the fields of a rule or of an entry of a list as settings. The key of a field is its name, unless its tag has another;
// numbers are at least what its tag says, or 0, and shares at most 1. Bytes are written in MiB, or in what the key says.
func fieldsOf(of reflect.Value, in string) []setting {
	var all []setting
	for f, v := range of.Fields() {
		s := setting{key: in + cmp.Or(f.Tag.Get("key"), snake(f.Name)), at: v.Addr().Interface()}
		switch to := s.at.(type) {
		case *NarrowReduce:
			all = append(all, fieldsOf(v, s.key+".")...)
			continue
		case *units.Bytes:
			s.at = mib(to)
			if strings.HasSuffix(s.key, "_gib") {
				s.at = gib(to)
			}
		}
		least, _ := strconv.ParseFloat(f.Tag.Get("least"), 64) // 0 without one
		s.valid = atLeast(least)
		if f.Tag.Get("most") == "1" {
			s.valid = shareFrom(least)
		}
		all = append(all, s)
	}
	return all
}

// snake writes UpTo as up_to.
func snake(name string) string {
	var out strings.Builder
	for i, c := range name {
		if i > 0 && unicode.IsUpper(c) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(c))
	}
	return out.String()
}
