package engine

// Made by tools/releases/defaults.py of the engines' sources. DO NOT EDIT.

// changedDefaults are the defaults that flags and keys declare, from the release on that has each, for those whose default changed. "" is a
// release without the flag, or whose default is computed.
func changedDefaults() map[string]map[string][]declared { //nolint:funlen // a table
	return map[string]map[string][]declared{
		"vllm": {
			"--all2all-backend":                               {{"0.11.1", "None"}, {"0.14.0", "allgather_reducescatter"}},
			"--async-scheduling":                              {{"0.10.0", "False"}, {"0.14.0", "None"}},
			"--calculate-kv-scales":                           {{"0.8.0", "None"}, {"0.8.5", "False"}, {"0.28.0", ""}},
			"--cp-kv-cache-interleave-size":                   {{"0.12.0", "1"}, {"0.30.0", "None"}},
			"--dcp-comm-backend":                              {{"0.18.0", "ag_rs"}, {"0.29.0", "None"}},
			"--disable-cascade-attn":                          {{"0.8.2", "False"}, {"0.18.0", "True"}, {"0.32.0", "None"}},
			"--disable-hybrid-kv-cache-manager":               {{"0.9.1", "False"}, {"0.13.0", "None"}},
			"--disable-nccl-for-dp-synchronization":           {{"0.11.1", "False"}, {"0.14.0", "None"}},
			"--enforce-eager":                                 {{"0.8.0", "None"}, {"0.9.0", "False"}},
			"--gpu-memory-utilization":                        {{"0.8.0", "0.9"}, {"0.20.0", "0.92"}},
			"--guided-decoding-backend":                       {{"0.8.0", "xgrammar"}, {"0.8.4", ""}, {"0.10.1", "auto"}, {"0.11.0", "None"}, {"0.12.0", ""}},
			"--guided-decoding-disable-additional-properties": {{"0.9.0", "False"}, {"0.11.0", "None"}, {"0.12.0", ""}},
			"--guided-decoding-disable-any-whitespace":        {{"0.9.0", "False"}, {"0.11.0", "None"}, {"0.12.0", ""}},
			"--guided-decoding-disable-fallback":              {{"0.9.0", "False"}, {"0.11.0", "None"}, {"0.12.0", ""}},
			"--kv-offloading-backend":                         {{"0.11.1", "None"}, {"0.14.0", "native"}},
			"--mamba-cache-mode":                              {{"0.15.0", "none"}, {"0.33.0", "None"}},
			"--model":                                         {{"0.8.0", "facebook/opt-125m"}, {"0.10.0", "Qwen/Qwen3-0.6B"}},
			"--prefix-caching-hash-algo":                      {{"0.8.3", "builtin"}, {"0.10.2", "sha256"}},
			"--safetensors-load-strategy":                     {{"0.10.2", "lazy"}, {"0.19.0", "None"}},
			"--scheduler-cls":                                 {{"0.8.0", "vllm.core.scheduler.Scheduler"}, {"0.11.1", "None"}},
			"--seed":                                          {{"0.8.0", "None"}, {"0.12.0", "0"}},
			"--task":                                          {{"0.8.0", "auto"}, {"0.10.1", "None"}, {"0.13.0", ""}},
		},
		"sglang": {
			"--dcp-comm-backend":                             {{"0.5.17", "ag_rs"}, {"0.5.20", "None"}},
			"--debug-tensor-dump-layers":                     {{"0.5.4.post2", "-1"}, {"0.5.5", "None"}},
			"--disaggregation-decode-host-receive-threshold": {{"0.5.21", "0.0"}, {"0.5.22", "1.0"}},
			"--enable-decoder-swa-bounded-replay":            {{"0.5.21", "False"}, {"0.5.23", "None"}},
			"--enable-fused-qk-norm-rope":                    {{"0.5.6.post1", "False"}, {"0.5.23", "None"}},
			"--enable-tf32-matmul":                           {{"0.5.15", "False"}, {"0.5.23", "None"}},
			"--file-storage-path":                            {{"0.4.6", "sglang_storage"}, {"0.5.22", "None"}},
			"--fp4-gemm-runner-backend":                      {{"0.5.8", "auto"}, {"0.5.9", "flashinfer_cutlass"}, {"0.5.10", "auto"}},
			"--hicache-mem-layout":                           {{"0.4.10.post1", "layer_first"}, {"0.5.14", "page_first"}},
			"--hicache-ratio":                                {{"0.4.6", "2.0"}, {"0.5.18", "None"}},
			"--hicache-storage-prefetch-policy":              {{"0.5.1", "best_effort"}, {"0.5.12", "timeout"}},
			"--hicache-storage-prefetch-retry-max-attempts":  {{"0.5.19", "4"}, {"0.5.20", "8"}},
			"--hicache-storage-prefetch-retry-poll-interval": {{"0.5.19", "0"}, {"0.5.20", "8"}},
			"--hicache-write-policy":                         {{"0.4.6", "write_through_selective"}, {"0.5.2", "write_through"}},
			"--kt-method":                                    {{"0.5.5.post1", "None"}, {"0.5.14", "AMXINT4"}},
			"--kt-threadpool-count":                          {{"0.5.4", "None"}, {"0.5.14", "2"}},
			"--load-balance-method":                          {{"0.4.6", "round_robin"}, {"0.5.8", "auto"}},
			"--log-requests-level":                           {{"0.4.6", "0"}, {"0.5.1", "2"}},
			"--lora-backend":                                 {{"0.4.6", "triton"}, {"0.5.3.post3", "csgmv"}, {"0.5.4", "triton"}, {"0.5.4.post2", "csgmv"}},
			"--mamba-full-memory-ratio":                      {{"0.5.3.post2", "0.2"}, {"0.5.3.post3", "0.9"}, {"0.5.20", "None"}},
			"--mamba-ssm-dtype":                              {{"0.5.2", "float32"}, {"0.5.9", "None"}},
			"--mm-enable-dp-encoder":                         {{"0.5.6", "False"}, {"0.5.23", "None"}},
			"--moe-a2a-backend":                              {{"0.4.10.post2", "None"}, {"0.5.1", "none"}},
			"--nsa-decode-backend":                           {{"0.5.4", "fa3"}, {"0.5.9", "None"}, {"0.5.13", ""}},
			"--nsa-prefill-backend":                          {{"0.5.4", "flashmla_sparse"}, {"0.5.9", "None"}, {"0.5.13", ""}},
			"--nsa-prefill-cp-mode":                          {{"0.5.8", "in-seq-split"}, {"0.5.9", "round-robin-split"}, {"0.5.13", ""}},
			"--page-size":                                    {{"0.4.6", "1"}, {"0.4.9.post4", "None"}},
			"--piecewise-cuda-graph-max-tokens":              {{"0.5.3.post2", "4096"}, {"0.5.7", "None"}, {"0.5.14", ""}},
			"--prefill-decode-interval":                      {{"0.5.19", "0"}, {"0.5.20", "None"}},
			"--sm-group-num":                                 {{"0.4.9.post3", "3"}, {"0.5.3.post2", "8"}},
			"--swa-full-tokens-ratio":                        {{"0.4.9.post3", "0.8"}, {"0.5.20", "None"}},
		},
		"trtllm": {
			"--backend": {{"0.20.0rc3", "None"}, {"1.0.0rc4", "pytorch"}},
			"--fail-fast-on-attention-window-too-large":       {{"1.0.0rc5", "False"}, {"1.3.0rc8", "True"}},
			"cache_transceiver_config.kv_transfer_timeout_ms": {{"1.2.0rc2", "None"}, {"1.3.0rc9", "60000"}},
			"cuda_graph_config":                               {{"1.0.0rc1", "None"}, {"1.0.0rc3", "CudaGraphConfig()"}},
			"max_input_len":                                   {{"0.21.0rc0", "None"}, {"0.21.0rc1", "1024"}, {"0.21.0rc2", "None"}, {"1.3.0rc5", "1024"}},
			"moe_config.backend":                              {{"1.0.0rc3", "CUTLASS"}, {"1.3.0rc2", "AUTO"}},
			"peft_cache_config.device_cache_percent":          {{"0.21.0rc0", "None"}, {"1.0.0rc5", "0.02"}},
		},
	}
}

// defaultsKnown is the newest release of an engine whose defaults were read.
func defaultsKnown() map[string]string {
	return map[string]string{
		"vllm":   "0.33.0",
		"sglang": "0.5.23",
		"trtllm": "1.3.0rc14",
	}
}
