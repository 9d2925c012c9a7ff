#!/usr/bin/env bash
# Node 1 of 3: deepseek-ai/DeepSeek-V3 on 24 × h200_sxm, sglang 0.5.16.
# Predicted at 56 concurrent requests of 3000 and 512 tokens: TTFT 187.7 ms, TPOT 9.900 ms, 2553 output tokens/s.
# One of 2 units; the prediction is for all of them together. Run the same files on the nodes of each unit.
# plimsoll: {"system":"h200_sxm","engine":"sglang","version":"0.5.16","input":3000,"output":512,"copies":1,"batch":[1,64]}
set -euo pipefail
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || true' EXIT INT TERM
: "${NODE_1_IP:?address of node 1}"

# decode 0: 8 devices
CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \
python3 -m sglang.launch_server \
  --model-path deepseek-ai/DeepSeek-V3 \
  --served-model-name deepseek-ai/DeepSeek-V3 \
  --tensor-parallel-size 16 \
  --data-parallel-size 16 \
  --enable-dp-attention \
  --expert-parallel-size 16 \
  --context-length 3768 \
  --max-running-requests 1024 \
  --chunked-prefill-size 8192 \
  --mem-fraction-static 0.699 \
  --kv-cache-dtype auto \
  --cuda-graph-bs-decode 1 2 4 8 16 24 32 40 48 56 64 \
  --disaggregation-mode decode \
  --disaggregation-transfer-backend nixl \
  --enable-metrics \
  --nnodes 2 \
  --node-rank 0 \
  --dist-init-addr "${NODE_1_IP}:20000" \
  --host 0.0.0.0 \
  --port 8101 &

wait -n
