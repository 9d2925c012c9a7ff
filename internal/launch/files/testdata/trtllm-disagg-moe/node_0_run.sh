#!/usr/bin/env bash
# Dynamo, node 0 of 3: deepseek-ai/DeepSeek-V3 on 24 × h200_sxm, trtllm 1.3.0rc25.
# Predicted at 56 concurrent requests of 3000 and 512 tokens: TTFT 187.7 ms, TPOT 9.900 ms, 2553 output tokens/s.
# No image of Dynamo has trtllm 1.3.0rc23: these files are for trtllm 1.3.0rc25 in that of Dynamo 1.5.1.
# plimsoll: {"system":"h200_sxm","engine":"trtllm","version":"1.3.0rc25","input":3000,"output":512,"copies":1,"batch":[1,64]}
# Start etcd and NATS on node 0 first.
set -euo pipefail
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || true' EXIT INT TERM
: "${NODE_0_IP:?address of node 0}"
cd "$(dirname "$0")"
export ETCD_ENDPOINTS="${ETCD_ENDPOINTS:-http://${NODE_0_IP}:2379}"
export NATS_SERVER="${NATS_SERVER:-nats://${NODE_0_IP}:4222}"

# Requests go to port 8000.
DYN_NAMESPACE=unit0 python3 -m dynamo.frontend --namespace unit0 --http-port 8000 &

# prefill 0: 8 devices
DYN_NAMESPACE=unit0 \
DYN_SYSTEM_PORT=8081 \
CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \
python3 -m dynamo.trtllm \
  --model-path deepseek-ai/DeepSeek-V3 \
  --served-model-name deepseek-ai/DeepSeek-V3 \
  --extra-engine-args prefill_config.yaml \
  --disaggregation-mode prefill &

wait -n
