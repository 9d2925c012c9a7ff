#!/usr/bin/env bash
# Dynamo, node 0 of 1: Qwen/Qwen3-32B-FP8 on 8 × h200_sxm, vllm 0.26.0.
# Predicted at 56 concurrent requests of 3000 and 512 tokens: TTFT 187.7 ms, TPOT 9.900 ms, 2553 output tokens/s.
# No image of Dynamo has vllm 0.24.0: these files are for vllm 0.26.0 in that of Dynamo 1.4.2.
# plimsoll: {"system":"h200_sxm","engine":"vllm","version":"0.26.0","input":3000,"output":512,"copies":1,"batch":[1,64]}
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
VLLM_NIXL_SIDE_CHANNEL_PORT=5600 \
VLLM_NIXL_SIDE_CHANNEL_HOST="${NODE_0_IP}" \
python3 -m dynamo.vllm \
  --model Qwen/Qwen3-32B-FP8 \
  --served-model-name Qwen/Qwen3-32B-FP8 \
  --tensor-parallel-size 1 \
  --max-model-len 3768 \
  --max-num-seqs 1 \
  --max-num-batched-tokens 8192 \
  --enable-chunked-prefill \
  --gpu-memory-utilization 0.92 \
  --kv-cache-dtype auto \
  --enable-prefix-caching \
  --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}' \
  --disaggregation-mode prefill &

# prefill 1: 1 device
DYN_NAMESPACE=unit0 \
DYN_SYSTEM_PORT=8082 \
CUDA_VISIBLE_DEVICES=1 \
VLLM_NIXL_SIDE_CHANNEL_PORT=5604 \
VLLM_NIXL_SIDE_CHANNEL_HOST="${NODE_0_IP}" \
python3 -m dynamo.vllm \
  --model Qwen/Qwen3-32B-FP8 \
  --served-model-name Qwen/Qwen3-32B-FP8 \
  --tensor-parallel-size 1 \
  --max-model-len 3768 \
  --max-num-seqs 1 \
  --max-num-batched-tokens 8192 \
  --enable-chunked-prefill \
  --gpu-memory-utilization 0.92 \
  --kv-cache-dtype auto \
  --enable-prefix-caching \
  --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}' \
  --disaggregation-mode prefill &

# prefill 2: 1 device
DYN_NAMESPACE=unit0 \
DYN_SYSTEM_PORT=8083 \
CUDA_VISIBLE_DEVICES=2 \
VLLM_NIXL_SIDE_CHANNEL_PORT=5608 \
VLLM_NIXL_SIDE_CHANNEL_HOST="${NODE_0_IP}" \
python3 -m dynamo.vllm \
  --model Qwen/Qwen3-32B-FP8 \
  --served-model-name Qwen/Qwen3-32B-FP8 \
  --tensor-parallel-size 1 \
  --max-model-len 3768 \
  --max-num-seqs 1 \
  --max-num-batched-tokens 8192 \
  --enable-chunked-prefill \
  --gpu-memory-utilization 0.92 \
  --kv-cache-dtype auto \
  --enable-prefix-caching \
  --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}' \
  --disaggregation-mode prefill &

# prefill 3: 1 device
DYN_NAMESPACE=unit0 \
DYN_SYSTEM_PORT=8084 \
CUDA_VISIBLE_DEVICES=3 \
VLLM_NIXL_SIDE_CHANNEL_PORT=5612 \
VLLM_NIXL_SIDE_CHANNEL_HOST="${NODE_0_IP}" \
python3 -m dynamo.vllm \
  --model Qwen/Qwen3-32B-FP8 \
  --served-model-name Qwen/Qwen3-32B-FP8 \
  --tensor-parallel-size 1 \
  --max-model-len 3768 \
  --max-num-seqs 1 \
  --max-num-batched-tokens 8192 \
  --enable-chunked-prefill \
  --gpu-memory-utilization 0.92 \
  --kv-cache-dtype auto \
  --enable-prefix-caching \
  --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}' \
  --disaggregation-mode prefill &

# decode 0: 4 devices
DYN_NAMESPACE=unit0 \
DYN_SYSTEM_PORT=8085 \
CUDA_VISIBLE_DEVICES=4,5,6,7 \
VLLM_NIXL_SIDE_CHANNEL_PORT=5616 \
VLLM_NIXL_SIDE_CHANNEL_HOST="${NODE_0_IP}" \
python3 -m dynamo.vllm \
  --model Qwen/Qwen3-32B-FP8 \
  --served-model-name Qwen/Qwen3-32B-FP8 \
  --tensor-parallel-size 4 \
  --max-model-len 3768 \
  --max-num-seqs 64 \
  --max-num-batched-tokens 8192 \
  --enable-chunked-prefill \
  --gpu-memory-utilization 0.92 \
  --kv-cache-dtype auto \
  --enable-prefix-caching \
  --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}' \
  --disaggregation-mode decode &

wait -n
