#!/usr/bin/env bash
# Dynamo, node 0 of 1: deepseek-ai/DeepSeek-V3 on 8 × h200_sxm, vllm 0.26.0.
# Predicted at 56 concurrent requests of 3000 and 512 tokens: TTFT 187.7 ms, TPOT 9.900 ms, 2553 output tokens/s.
# No image of Dynamo has vllm 0.24.0: these files are for vllm 0.26.0 in that of Dynamo 1.4.2.
# plimsoll: {"system":"h200_sxm","engine":"vllm","version":"0.26.0","input":3000,"output":512,"copies":1,"batch":[64],"pools":[{"role":"both","acceptance_rates":[0.85]}]}
# Start etcd and NATS on node 0 first.
set -euo pipefail
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || true' EXIT INT TERM
NODE_0_IP="${NODE_0_IP:-127.0.0.1}"
export ETCD_ENDPOINTS="${ETCD_ENDPOINTS:-http://${NODE_0_IP}:2379}"
export NATS_SERVER="${NATS_SERVER:-nats://${NODE_0_IP}:4222}"

# Requests go to port 8000.
DYN_NAMESPACE=unit0 python3 -m dynamo.frontend --namespace unit0 --http-port 8000 &

# agg 0: 8 devices
DYN_NAMESPACE=unit0 \
DYN_SYSTEM_PORT=8081 \
CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \
python3 -m dynamo.vllm \
  --model deepseek-ai/DeepSeek-V3 \
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
  --speculative-config '{"method":"mtp","num_speculative_tokens":1}' &

wait -n
