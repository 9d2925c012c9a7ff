#!/usr/bin/env bash
# Node 0 of 3: deepseek-ai/DeepSeek-V3 on 24 × h200_sxm, sglang 0.5.16.
# Predicted at 56 concurrent requests of 3000 and 512 tokens: TTFT 187.7 ms, TPOT 9.900 ms, 2553 output tokens/s.
# One of 2 units; the prediction is for all of them together. Run the same files on the nodes of each unit.
# plimsoll: {"system":"h200_sxm","engine":"sglang","version":"0.5.16","input":3000,"output":512,"copies":1,"batch":[1,64]}
set -euo pipefail
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || true' EXIT INT TERM
: "${NODE_0_IP:?address of node 0}"
: "${NODE_1_IP:?address of node 1}"

# prefill 0: 8 devices
CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \
python3 -m sglang.launch_server \
  --model-path deepseek-ai/DeepSeek-V3 \
  --served-model-name deepseek-ai/DeepSeek-V3 \
  --tensor-parallel-size 8 \
  --data-parallel-size 8 \
  --enable-dp-attention \
  --expert-parallel-size 8 \
  --context-length 3768 \
  --max-running-requests 8 \
  --chunked-prefill-size 8192 \
  --mem-fraction-static 0.904 \
  --kv-cache-dtype auto \
  --cuda-graph-bs-decode 1 \
  --disaggregation-mode prefill \
  --disaggregation-transfer-backend nixl \
  --enable-metrics \
  --dist-init-addr "${NODE_0_IP}:20023" \
  --host 0.0.0.0 \
  --port 8100 \
  --disaggregation-bootstrap-port 8998 &

# Requests go to port 8000.
python3 -m sglang_router.launch_router \
  --pd-disaggregation \
  --prefill "http://${NODE_0_IP}:8100" 8998 \
  --decode "http://${NODE_1_IP}:8101" \
  --host 0.0.0.0 \
  --port 8000 \
  --policy round_robin \
  --prometheus-host 0.0.0.0 \
  --prometheus-port 29000 \
  --worker-startup-timeout-secs 3600 \
  --worker-startup-check-interval 10 &

wait -n
