#!/usr/bin/env bash
# Dynamo, node 1 of 3: deepseek-ai/DeepSeek-V3 on 24 × h200_sxm, vllm 0.26.0.
# Predicted at 56 concurrent requests of 3000 and 512 tokens: TTFT 187.7 ms, TPOT 9.900 ms, 2553 output tokens/s.
# No image of Dynamo has vllm 0.24.0: these files are for vllm 0.26.0 in that of Dynamo 1.4.2.
# plimsoll: {"system":"h200_sxm","engine":"vllm","version":"0.26.0","input":3000,"output":512,"copies":1,"batch":[1,64]}
# Start etcd and NATS on node 0 first.
set -euo pipefail
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || true' EXIT INT TERM
: "${NODE_0_IP:?address of node 0}"
: "${NODE_1_IP:?address of node 1}"
export ETCD_ENDPOINTS="${ETCD_ENDPOINTS:-http://${NODE_0_IP}:2379}"
export NATS_SERVER="${NATS_SERVER:-nats://${NODE_0_IP}:4222}"

# decode 0: 8 devices
DYN_NAMESPACE=unit0 \
DYN_SYSTEM_PORT=8082 \
CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \
VLLM_NIXL_SIDE_CHANNEL_PORT=5616 \
VLLM_NIXL_SIDE_CHANNEL_HOST="${NODE_1_IP}" \
python3 -m dynamo.vllm \
  --model deepseek-ai/DeepSeek-V3 \
  --served-model-name deepseek-ai/DeepSeek-V3 \
  --tensor-parallel-size 1 \
  --data-parallel-size 16 \
  --enable-expert-parallel \
  --max-model-len 3768 \
  --max-num-seqs 64 \
  --max-num-batched-tokens 8192 \
  --enable-chunked-prefill \
  --gpu-memory-utilization 0.92 \
  --kv-cache-dtype auto \
  --enable-prefix-caching \
  --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}' \
  --disaggregation-mode decode \
  --data-parallel-size-local 8 \
  --data-parallel-start-rank 0 \
  --data-parallel-address "${NODE_1_IP}" \
  --data-parallel-rpc-port 13345 &

wait -n
