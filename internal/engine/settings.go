package engine

// identity is what a profile says of itself; it cannot be set.
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
	}
}

// settings are the defaults of an engine, each said once: its key, what it may be,
// what it means, and its field with the unit it is written in. The engine's own
// name for it is in the profile's file, under options.
func (p *Profile) settings() []setting {
	return []setting{
		{"policy", oneOf(
			Word{string(DecodeFirst), "running sequences first, then prompts"},
			Word{string(PrefillFirst), "waiting prompts alone; decoding pauses"},
			Word{string(InFlight), "running sequences together with whole prompts"},
		), "", (*string)(&p.Policy)},
		{"chunked_prefill", rule{}, "prompts are split to fit the token budget", &p.ChunkedPrefill},
		{"token_budget", atLeast(1), "most new tokens in a step", &p.TokenBudget},
		{"max_sequences", atLeast(1), "most sequences that run together", &p.MaxSequences},
		{"memory_share", shareFrom(0.001), "share of the memory that memory_share_of names", &p.MemoryShare},
		{"memory_share_of", oneOf(
			Word{string(OfTotal), "all memory, for everything the engine takes"},
			Word{string(OfStatic), "all memory, for weights and KV cache"},
			Word{string(OfFree), "what is free after loading, for the KV cache"},
		), "", (*string)(&p.MemoryShareOf)},
		{"workspace_gib", atLeast(0), "memory for the context, libraries and graphs", gib(&p.Workspace)},
		{"communication_gib", atLeast(0), "workspace added when a replica has several devices", gib(&p.Communication)},
		{"peer_gib", atLeast(0), "workspace added for each of those devices", gib(&p.PerPeer)},
		{"logits_copies", atLeast(0), "float32 copies of the logits of max_sequences in the trial step", &p.LogitsCopies},
		{"max_context", atLeast(0), "longest sequence that workspaces have room for; 0 is the model's", &p.MaxContext},
		{"index_rows", atLeast(0), "sequences of max_context whose selector keys are gathered (sparse attention)", &p.IndexRows},
		{"window_share", shareFrom(0), "share of a sliding-window layer's cache that is kept beyond the window", &p.WindowShare},
		{"state_ratio", atLeast(0), "memory for recurrent states, per byte of KV cache", &p.StateRatio},
		{"block_tokens", atLeast(1), "tokens in a KV block", &p.BlockTokens},
		{"kv_format", rule{}, "number format of the KV cache; auto is the checkpoint's", &p.KVFormat},
		{"reserve", shareFrom(0), "share of the remaining output that must have room at admission", &p.Reserve},
		{"prefix_caching", rule{}, "finished prompts are kept for requests that begin the same", &p.PrefixCaching},
		{"receive_interval", atLeast(1), "decode steps between looks at new requests", &p.ReceiveInterval},
		{"held_tokens", atLeast(0), "tokens generated before the client sees the first, after a separate prefill", &p.HeldTokens},
		{"graph.max_batch", atLeast(0), "largest decode batch that replays a captured graph", &p.Graph.MaxBatch},
		{"graph.eager_prefill", rule{}, "prompts are launched kernel by kernel", &p.Graph.EagerPrefill},
		{"graph.kernel_kib", atLeast(0), "memory of a captured kernel, per captured batch size", kib(&p.Graph.Kernel)},
		{"batch_wait.steps", atLeast(0), "most steps that prompts wait for others", &p.BatchWait.Steps},
		{"batch_wait.ratio", shareFrom(0), "share of the token budget below which prompts wait", &p.BatchWait.Ratio},
		{"attention_dp.splits_budget", rule{}, "data-parallel ranks divide the token budget", &p.AttentionDP.SplitsBudget},
		{"mtp.tokens", atLeast(0), "tokens drafted in a step", &p.MTP.Tokens},
		{"mtp.overlapped", rule{}, "host work is hidden while drafting too", &p.MTP.Overlapped},
		{"host.exposed", shareFrom(0), "share of the work per step and sequence that the GPU waits for", &p.Exposed},
	}
}

// settings are the host's times on one generation of devices.
func (t *Terms) settings() []setting {
	return []setting{
		{"per_step", atLeast(0), "host work for a step; the GPU hides all but host.exposed of it", us(&t.PerStep)},
		{"per_sequence", atLeast(0), "the same for each sequence in the step", us(&t.PerSequence)},
		{"per_prefill_step", atLeast(0), "added to a step with prompts; not hidden", us(&t.PerPrefillStep)},
		{"per_layer", atLeast(0), "idle time between the kernels of a captured layer; not hidden", us(&t.PerLayer)},
		{"launch_floor.dense", atLeast(0), "least time to launch the kernels of a dense layer one by one", us(&t.Floor.Dense)},
		{"launch_floor.moe", atLeast(0), "the same for a layer with experts", us(&t.Floor.MoE)},
		{"launch_floor.latent", atLeast(0), "the same for a layer with latent attention", us(&t.Floor.Latent)},
		{"launch_floor.linear", atLeast(0), "the same for a recurrent layer", us(&t.Floor.Linear)},
		{"api_fixed", atLeast(0), "work of the API server for a request, beside the GPU", us(&t.APIFixed)},
		{"api_per_token", atLeast(0), "work of the API server for a prompt token, beside the GPU", us(&t.APIPerToken)},
		{"first", atLeast(0), "added to the time to first token: network, tokenizer, streaming", us(&t.First)},
	}
}

// settings are the fields; Tier says what they mean.
func (t *Tier) settings() []setting {
	return []setting{
		{"below_gib", atLeast(0), "", gib(&t.Below)},
		{"generations", rule{}, "", &t.Generations},
		{"token_budget", atLeast(0), "", &t.TokenBudget},
		{"max_sequences", atLeast(0), "", &t.MaxSequences},
		{"graph_batch", atLeast(0), "", &t.GraphBatch},
		{"wide_graph_batch", atLeast(0), "", &t.WideGraphBatch},
		{"set_aside_gib", atLeast(0), "", gib(&t.SetAside)},
	}
}

// settings are the fields; ShareRule says what they mean.
func (r *ShareRule) settings() []setting {
	return []setting{
		{"fixed", atLeast(0), "", mib(&r.Fixed)},
		{"per_token", atLeast(0), "", mib(&r.PerToken)},
		{"per_graph", atLeast(0), "", mib(&r.PerGraph)},
		{"per_device", atLeast(0), "", mib(&r.PerDevice)},
		{"least", atLeast(0), "", mib(&r.Least)},
		{"least_above", atLeast(0), "", mib(&r.LeastAbove)},
	}
}
