#!/usr/bin/env bash
# Node 0 of 1: deepseek-ai/DeepSeek-V3 on 8 × h200_sxm, vllm 0.24.0.
# Predicted at 56 concurrent requests of 3000 and 512 tokens: TTFT 187.7 ms, TPOT 9.900 ms, 2553 output tokens/s.
# plimsoll: {"system":"h200_sxm","engine":"vllm","version":"0.24.0","input":3000,"output":512,"copies":1,"batch":[64],"pools":[{"role":"both","acceptance_rates":[0.85]}]}
set -euo pipefail
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || true' EXIT INT TERM

# agg 0: 8 devices
CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \
vllm serve deepseek-ai/DeepSeek-V3 \
  --served-model-name deepseek-ai/DeepSeek-V3 \
  --tensor-parallel-size 1 \
  --data-parallel-size 8 \
  --enable-expert-parallel \
  --max-model-len 3768 \
  --max-num-seqs 64 \
  --max-num-batched-tokens 8192 \
  --enable-chunked-prefill \
  --gpu-memory-utilization 0.92 \
  --kv-cache-dtype auto \
  --enable-prefix-caching \
  --speculative-config '{"method":"mtp","num_speculative_tokens":1}' \
  --host 0.0.0.0 \
  --port 8000 &

wait -n
