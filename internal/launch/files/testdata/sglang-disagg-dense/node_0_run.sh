#!/usr/bin/env bash
# Dynamo, node 0 of 1: Qwen/Qwen3-32B-FP8 on 8 × h200_sxm, sglang 0.5.16.
# Predicted at 56 concurrent requests of 3000 and 512 tokens: TTFT 187.7 ms, TPOT 9.900 ms, 2553 output tokens/s.
# plimsoll: {"system":"h200_sxm","engine":"sglang","version":"0.5.16","input":3000,"output":512,"copies":1,"batch":[1,64]}
# Start etcd and NATS on node 0 first.
set -euo pipefail
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || true' EXIT INT TERM
NODE_0_IP="${NODE_0_IP:-127.0.0.1}"
export ETCD_ENDPOINTS="${ETCD_ENDPOINTS:-http://${NODE_0_IP}:2379}"
export NATS_SERVER="${NATS_SERVER:-nats://${NODE_0_IP}:4222}"

# Requests go to port 8000.
DYN_NAMESPACE=unit0 python3 -m dynamo.frontend --namespace unit0 --http-port 8000 &

# prefill 0: 1 device
DYN_NAMESPACE=unit0 \
DYN_SYSTEM_PORT=8081 \
CUDA_VISIBLE_DEVICES=0 \
python3 -m dynamo.sglang \
  --model-path Qwen/Qwen3-32B-FP8 \
  --served-model-name Qwen/Qwen3-32B-FP8 \
  --tensor-parallel-size 1 \
  --context-length 3768 \
  --max-running-requests 1 \
  --chunked-prefill-size 8192 \
  --mem-fraction-static 0.91 \
  --kv-cache-dtype auto \
  --cuda-graph-bs-decode 1 \
  --disaggregation-mode prefill \
  --disaggregation-transfer-backend nixl \
  --disaggregation-bootstrap-port 8998 &

# prefill 1: 1 device
DYN_NAMESPACE=unit0 \
DYN_SYSTEM_PORT=8082 \
CUDA_VISIBLE_DEVICES=1 \
python3 -m dynamo.sglang \
  --model-path Qwen/Qwen3-32B-FP8 \
  --served-model-name Qwen/Qwen3-32B-FP8 \
  --tensor-parallel-size 1 \
  --context-length 3768 \
  --max-running-requests 1 \
  --chunked-prefill-size 8192 \
  --mem-fraction-static 0.91 \
  --kv-cache-dtype auto \
  --cuda-graph-bs-decode 1 \
  --disaggregation-mode prefill \
  --disaggregation-transfer-backend nixl \
  --disaggregation-bootstrap-port 8999 &

# prefill 2: 1 device
DYN_NAMESPACE=unit0 \
DYN_SYSTEM_PORT=8083 \
CUDA_VISIBLE_DEVICES=2 \
python3 -m dynamo.sglang \
  --model-path Qwen/Qwen3-32B-FP8 \
  --served-model-name Qwen/Qwen3-32B-FP8 \
  --tensor-parallel-size 1 \
  --context-length 3768 \
  --max-running-requests 1 \
  --chunked-prefill-size 8192 \
  --mem-fraction-static 0.91 \
  --kv-cache-dtype auto \
  --cuda-graph-bs-decode 1 \
  --disaggregation-mode prefill \
  --disaggregation-transfer-backend nixl \
  --disaggregation-bootstrap-port 9000 &

# prefill 3: 1 device
DYN_NAMESPACE=unit0 \
DYN_SYSTEM_PORT=8084 \
CUDA_VISIBLE_DEVICES=3 \
python3 -m dynamo.sglang \
  --model-path Qwen/Qwen3-32B-FP8 \
  --served-model-name Qwen/Qwen3-32B-FP8 \
  --tensor-parallel-size 1 \
  --context-length 3768 \
  --max-running-requests 1 \
  --chunked-prefill-size 8192 \
  --mem-fraction-static 0.91 \
  --kv-cache-dtype auto \
  --cuda-graph-bs-decode 1 \
  --disaggregation-mode prefill \
  --disaggregation-transfer-backend nixl \
  --disaggregation-bootstrap-port 9001 &

# decode 0: 4 devices
DYN_NAMESPACE=unit0 \
DYN_SYSTEM_PORT=8085 \
CUDA_VISIBLE_DEVICES=4,5,6,7 \
python3 -m dynamo.sglang \
  --model-path Qwen/Qwen3-32B-FP8 \
  --served-model-name Qwen/Qwen3-32B-FP8 \
  --tensor-parallel-size 4 \
  --context-length 3768 \
  --max-running-requests 64 \
  --chunked-prefill-size 8192 \
  --mem-fraction-static 0.929 \
  --kv-cache-dtype auto \
  --cuda-graph-bs-decode 1 2 4 8 16 24 32 40 48 56 64 \
  --disaggregation-mode decode \
  --disaggregation-transfer-backend nixl &

wait -n
