#!/usr/bin/env bash
# Node 0 of 1: Qwen/Qwen3-32B-FP8 on 8 × h200_sxm, sglang 0.5.16.
# Predicted at 56 concurrent requests of 3000 and 512 tokens: TTFT 187.7 ms, TPOT 9.900 ms, 2553 output tokens/s.
# plimsoll: {"system":"h200_sxm","engine":"sglang","version":"0.5.16","input":3000,"output":512,"copies":1,"batch":[1,64]}
set -euo pipefail
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || true' EXIT INT TERM
NODE_0_IP="${NODE_0_IP:-127.0.0.1}"

# prefill 0: 1 device
CUDA_VISIBLE_DEVICES=0 \
python3 -m sglang.launch_server \
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
  --enable-metrics \
  --host 0.0.0.0 \
  --port 8100 \
  --disaggregation-bootstrap-port 8998 &

# prefill 1: 1 device
CUDA_VISIBLE_DEVICES=1 \
python3 -m sglang.launch_server \
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
  --enable-metrics \
  --host 0.0.0.0 \
  --port 8101 \
  --disaggregation-bootstrap-port 8999 &

# prefill 2: 1 device
CUDA_VISIBLE_DEVICES=2 \
python3 -m sglang.launch_server \
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
  --enable-metrics \
  --host 0.0.0.0 \
  --port 8102 \
  --disaggregation-bootstrap-port 9000 &

# prefill 3: 1 device
CUDA_VISIBLE_DEVICES=3 \
python3 -m sglang.launch_server \
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
  --enable-metrics \
  --host 0.0.0.0 \
  --port 8103 \
  --disaggregation-bootstrap-port 9001 &

# decode 0: 4 devices
CUDA_VISIBLE_DEVICES=4,5,6,7 \
python3 -m sglang.launch_server \
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
  --disaggregation-transfer-backend nixl \
  --enable-metrics \
  --host 0.0.0.0 \
  --port 8104 &

# Requests go to port 8000.
python3 -m sglang_router.launch_router \
  --pd-disaggregation \
  --prefill "http://${NODE_0_IP}:8100" 8998 \
  --prefill "http://${NODE_0_IP}:8101" 8999 \
  --prefill "http://${NODE_0_IP}:8102" 9000 \
  --prefill "http://${NODE_0_IP}:8103" 9001 \
  --decode "http://${NODE_0_IP}:8104" \
  --host 0.0.0.0 \
  --port 8000 \
  --policy round_robin \
  --prometheus-host 0.0.0.0 \
  --prometheus-port 29000 \
  --worker-startup-timeout-secs 3600 \
  --worker-startup-check-interval 10 &

wait -n
