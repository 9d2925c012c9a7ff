#!/usr/bin/env bash
# Benchmark: deepseek-ai/DeepSeek-V3 on 24 × h200_sxm, vllm 0.24.0.
# Predicted at 56 concurrent requests of 3000 and 512 tokens: TTFT 187.7 ms, TPOT 9.900 ms, 2553 output tokens/s.
# plimsoll: {"system":"h200_sxm","engine":"vllm","version":"0.24.0","input":3000,"output":512,"copies":1,"batch":[1,64]}
set -euo pipefail
# pip install aiperf==0.13.0
URL="${1:-http://127.0.0.1:8000}"
for concurrency in ${CONCURRENCY:-1 4 16 56}; do
  aiperf profile \
    --model deepseek-ai/DeepSeek-V3 \
    --tokenizer deepseek-ai/DeepSeek-V3 \
    --url "$URL" \
    --endpoint-type chat \
    --streaming \
    --synthetic-input-tokens-mean 3000 \
    --synthetic-input-tokens-stddev 0 \
    --output-tokens-mean 512 \
    --output-tokens-stddev 0 \
    --extra-inputs ignore_eos:true \
    --concurrency "$concurrency" \
    --request-count "$((concurrency * 10))" \
    --warmup-request-count "$concurrency" \
    --random-seed 1
done
