package sweep

// Example is a grid to start from; the pages show it and its table.
const Example = `# A grid for "plimsoll sweep": the cells are the product of the lists.
ask: plan # the best deployment; predict simulates a given one
models: [Qwen/Qwen3-8B, Qwen/Qwen3-32B]
systems: [h200_sxm, l40s]
engines: [vllm] # vllm@0.24.0 is a release; left out, a plan compares all
workloads:
  - {name: short, isl: 1024, osl: 256}
  - {name: long, isl: 8192, osl: 512}
gpus: [2] # or rates: requests per second to carry
limits:
  - {ttft_ms: 2000, tpot_ms: 30}
prices: [list] # US dollars for a GPU-hour: a number, or {h200_sxm: 3.5, l40s: 1.1}
with: {modes: [agg]} # further fields of the request
`
