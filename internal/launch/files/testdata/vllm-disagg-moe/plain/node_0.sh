#!/usr/bin/env bash
# Node 0 of 3: deepseek-ai/DeepSeek-V3 on 24 × h200_sxm, vllm 0.24.0.
# Predicted at 56 concurrent requests of 3000 and 512 tokens: TTFT 187.7 ms, TPOT 9.900 ms, 2553 output tokens/s.
# plimsoll: {"system":"h200_sxm","engine":"vllm","version":"0.24.0","input":3000,"output":512,"copies":1,"batch":[1,64]}
set -euo pipefail
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || true' EXIT INT TERM
: "${NODE_0_IP:?address of node 0}"
: "${NODE_1_IP:?address of node 1}"

# prefill 0: 8 devices
CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \
VLLM_NIXL_SIDE_CHANNEL_PORT=5600 \
VLLM_NIXL_SIDE_CHANNEL_HOST="${NODE_0_IP}" \
vllm serve deepseek-ai/DeepSeek-V3 \
  --served-model-name deepseek-ai/DeepSeek-V3 \
  --tensor-parallel-size 1 \
  --data-parallel-size 8 \
  --enable-expert-parallel \
  --max-model-len 3768 \
  --max-num-seqs 1 \
  --max-num-batched-tokens 8192 \
  --enable-chunked-prefill \
  --gpu-memory-utilization 0.92 \
  --kv-cache-dtype auto \
  --enable-prefix-caching \
  --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_producer"}' \
  --host 0.0.0.0 \
  --port 8100 &

# Requests go to port 8000.
vllm-router \
  --vllm-pd-disaggregation \
  --prefill "http://${NODE_0_IP}:8100" \
  --decode "http://${NODE_1_IP}:8101" \
  --host 0.0.0.0 \
  --port 8000 \
  --policy round_robin \
  --prometheus-host 0.0.0.0 \
  --prometheus-port 29000 \
  --worker-startup-timeout-secs 3600 \
  --worker-startup-check-interval 10 &

wait -n
