#!/usr/bin/env bash
# Dynamo, node 0 of 1: Qwen/Qwen3-32B-FP8 on 8 × h200_sxm, trtllm 1.3.0rc25.
# Predicted at 56 concurrent requests of 3000 and 512 tokens: TTFT 187.7 ms, TPOT 9.900 ms, 2553 output tokens/s.
# No image of Dynamo has trtllm 1.3.0rc23: these files are for trtllm 1.3.0rc25 in that of Dynamo 1.5.1.
# plimsoll: {"system":"h200_sxm","engine":"trtllm","version":"1.3.0rc25","input":3000,"output":512,"copies":1,"batch":[1,64]}
# Start etcd and NATS on node 0 first.
set -euo pipefail
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || true' EXIT INT TERM
NODE_0_IP="${NODE_0_IP:-127.0.0.1}"
cd "$(dirname "$0")"
export ETCD_ENDPOINTS="${ETCD_ENDPOINTS:-http://${NODE_0_IP}:2379}"
export NATS_SERVER="${NATS_SERVER:-nats://${NODE_0_IP}:4222}"

# Requests go to port 8000.
DYN_NAMESPACE=unit0 python3 -m dynamo.frontend --namespace unit0 --http-port 8000 &

# prefill 0: 1 device
DYN_NAMESPACE=unit0 \
DYN_SYSTEM_PORT=8081 \
CUDA_VISIBLE_DEVICES=0 \
python3 -m dynamo.trtllm \
  --model-path Qwen/Qwen3-32B-FP8 \
  --served-model-name Qwen/Qwen3-32B-FP8 \
  --extra-engine-args prefill_config.yaml \
  --disaggregation-mode prefill &

# prefill 1: 1 device
DYN_NAMESPACE=unit0 \
DYN_SYSTEM_PORT=8082 \
CUDA_VISIBLE_DEVICES=1 \
python3 -m dynamo.trtllm \
  --model-path Qwen/Qwen3-32B-FP8 \
  --served-model-name Qwen/Qwen3-32B-FP8 \
  --extra-engine-args prefill_config.yaml \
  --disaggregation-mode prefill &

# prefill 2: 1 device
DYN_NAMESPACE=unit0 \
DYN_SYSTEM_PORT=8083 \
CUDA_VISIBLE_DEVICES=2 \
python3 -m dynamo.trtllm \
  --model-path Qwen/Qwen3-32B-FP8 \
  --served-model-name Qwen/Qwen3-32B-FP8 \
  --extra-engine-args prefill_config.yaml \
  --disaggregation-mode prefill &

# prefill 3: 1 device
DYN_NAMESPACE=unit0 \
DYN_SYSTEM_PORT=8084 \
CUDA_VISIBLE_DEVICES=3 \
python3 -m dynamo.trtllm \
  --model-path Qwen/Qwen3-32B-FP8 \
  --served-model-name Qwen/Qwen3-32B-FP8 \
  --extra-engine-args prefill_config.yaml \
  --disaggregation-mode prefill &

# decode 0: 4 devices
DYN_NAMESPACE=unit0 \
DYN_SYSTEM_PORT=8085 \
CUDA_VISIBLE_DEVICES=4,5,6,7 \
python3 -m dynamo.trtllm \
  --model-path Qwen/Qwen3-32B-FP8 \
  --served-model-name Qwen/Qwen3-32B-FP8 \
  --extra-engine-args decode_config.yaml \
  --disaggregation-mode decode &

wait -n
