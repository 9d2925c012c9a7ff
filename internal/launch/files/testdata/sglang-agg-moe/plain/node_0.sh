#!/usr/bin/env bash
# Node 0 of 1: deepseek-ai/DeepSeek-V3 on 8 × h200_sxm, sglang 0.5.16.
# Predicted at 56 concurrent requests of 3000 and 512 tokens: TTFT 187.7 ms, TPOT 9.900 ms, 2553 output tokens/s.
# plimsoll: {"system":"h200_sxm","engine":"sglang","version":"0.5.16","input":3000,"output":512,"copies":1,"batch":[64],"pools":[{"role":"both","acceptance_rates":[0.85]}]}
set -euo pipefail
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || true' EXIT INT TERM

# agg 0: 8 devices
CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \
python3 -m sglang.launch_server \
  --model-path deepseek-ai/DeepSeek-V3 \
  --served-model-name deepseek-ai/DeepSeek-V3 \
  --tensor-parallel-size 8 \
  --data-parallel-size 8 \
  --enable-dp-attention \
  --expert-parallel-size 8 \
  --context-length 3768 \
  --max-running-requests 512 \
  --chunked-prefill-size 8192 \
  --mem-fraction-static 0.77 \
  --kv-cache-dtype auto \
  --cuda-graph-bs-decode 1 2 4 8 16 24 32 40 48 56 64 \
  --speculative-algorithm NEXTN \
  --speculative-num-steps 1 \
  --speculative-eagle-topk 1 \
  --speculative-num-draft-tokens 2 \
  --enable-metrics \
  --host 0.0.0.0 \
  --port 8000 &

wait -n
