#!/usr/bin/env bash
# Node 0 of 1: Qwen/Qwen3-32B-FP8 on 8 × h200_sxm, vllm 0.24.0.
# Predicted at 56 concurrent requests of 3000 and 512 tokens: TTFT 187.7 ms, TPOT 9.900 ms, 2553 output tokens/s.
# plimsoll: {"system":"h200_sxm","engine":"vllm","version":"0.24.0","input":3000,"output":512,"copies":1,"batch":[28]}
set -euo pipefail
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || true' EXIT INT TERM
NODE_0_IP="${NODE_0_IP:-127.0.0.1}"

# agg 0: 4 devices
CUDA_VISIBLE_DEVICES=0,1,2,3 \
vllm serve Qwen/Qwen3-32B-FP8 \
  --served-model-name Qwen/Qwen3-32B-FP8 \
  --tensor-parallel-size 4 \
  --max-model-len 3768 \
  --max-num-seqs 28 \
  --max-num-batched-tokens 8192 \
  --enable-chunked-prefill \
  --gpu-memory-utilization 0.92 \
  --kv-cache-dtype auto \
  --enable-prefix-caching \
  --host 0.0.0.0 \
  --port 8100 &

# agg 1: 4 devices
CUDA_VISIBLE_DEVICES=4,5,6,7 \
vllm serve Qwen/Qwen3-32B-FP8 \
  --served-model-name Qwen/Qwen3-32B-FP8 \
  --tensor-parallel-size 4 \
  --max-model-len 3768 \
  --max-num-seqs 28 \
  --max-num-batched-tokens 8192 \
  --enable-chunked-prefill \
  --gpu-memory-utilization 0.92 \
  --kv-cache-dtype auto \
  --enable-prefix-caching \
  --host 0.0.0.0 \
  --port 8101 &

# Requests go to port 8000.
vllm-router \
  --worker-urls "http://${NODE_0_IP}:8100" "http://${NODE_0_IP}:8101" \
  --host 0.0.0.0 \
  --port 8000 \
  --policy round_robin \
  --prometheus-host 0.0.0.0 \
  --prometheus-port 29000 \
  --worker-startup-timeout-secs 3600 \
  --worker-startup-check-interval 10 &

wait -n
