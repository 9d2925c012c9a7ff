#!/usr/bin/env bash
# Dynamo, node 3 of 6: deepseek-ai/DeepSeek-V3 on 48 × h200_sxm, vllm 0.24.0.
# Predicted at 56 concurrent requests of 3000 and 512 tokens: TTFT 187.7 ms, TPOT 9.900 ms, 2553 output tokens/s.
# plimsoll: system=h200_sxm engine=vllm version=0.24.0 input=3000 output=512 copies=2
set -euo pipefail
# Start etcd and NATS on node 0 first.
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || true' EXIT INT TERM
: "${NODE_0_IP:?address of node 0}"
: "${NODE_1_IP:?address of node 1}"
: "${NODE_2_IP:?address of node 2}"
: "${NODE_3_IP:?address of node 3}"
: "${NODE_4_IP:?address of node 4}"
: "${NODE_5_IP:?address of node 5}"
export ETCD_ENDPOINTS="${ETCD_ENDPOINTS:-http://${NODE_0_IP}:2379}"
export NATS_SERVER="${NATS_SERVER:-nats://${NODE_0_IP}:4222}"

# Requests go to port 8001.
DYN_NAMESPACE=unit1 python3 -m dynamo.frontend --namespace unit1 --http-port 8001 &

# prefill 0: 8 devices
DYN_NAMESPACE=unit1 \
DYN_SYSTEM_PORT=8083 \
CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \
VLLM_NIXL_SIDE_CHANNEL_PORT=5616 \
VLLM_NIXL_SIDE_CHANNEL_HOST="${NODE_3_IP}" \
python3 -m dynamo.vllm \
  --model deepseek-ai/DeepSeek-V3 \
  --served-model-name deepseek-ai/DeepSeek-V3 \
  --tensor-parallel-size 1 \
  --data-parallel-size 8 \
  --enable-expert-parallel \
  --max-model-len 3512 \
  --max-num-seqs 1 \
  --max-num-batched-tokens 8192 \
  --enable-chunked-prefill \
  --gpu-memory-utilization 0.92 \
  --kv-cache-dtype auto \
  --enable-prefix-caching \
  --cudagraph-capture-sizes 1 \
  --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}' \
  --disaggregation-mode prefill &

wait -n
