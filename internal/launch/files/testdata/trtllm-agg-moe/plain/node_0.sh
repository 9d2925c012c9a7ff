#!/usr/bin/env bash
# Node 0 of 1: deepseek-ai/DeepSeek-V3 on 8 × h200_sxm, trtllm 1.3.0rc23.
# Predicted at 56 concurrent requests of 3000 and 512 tokens: TTFT 187.7 ms, TPOT 9.900 ms, 2553 output tokens/s.
# plimsoll: {"system":"h200_sxm","engine":"trtllm","version":"1.3.0rc23","input":3000,"output":512,"copies":1,"batch":[64],"pools":[{"role":"both","acceptance_rates":[0.85]}]}
set -euo pipefail
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || true' EXIT INT TERM
cd "$(dirname "$0")"

# agg 0: 8 devices
CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \
trtllm-serve deepseek-ai/DeepSeek-V3 \
  --extra_llm_api_options agg_config.yaml \
  --host 0.0.0.0 \
  --port 8000 &

wait -n
