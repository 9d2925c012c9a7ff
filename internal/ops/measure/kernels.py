#!/usr/bin/env python3
"""Measures products, attention, copies and all-reduce on this machine with PyTorch, in about a minute.

Usage: python3 kernels.py [OUTPUT.json]     (default kernels.json beside the script)
Then:  plimsoll measure --kernels --from kernels.json --system NAME

Times are medians of calls recorded in a graph, without the launch, over inputs larger than the caches.
"""
import json
import os
import sys
import time

import torch
import torch.nn.functional as F

DEVICE = "cuda"  # also of ROCm
CACHE = 256 << 20  # bytes that inputs together exceed, so that none stays in a cache


def timed(calls):
    """Microseconds of one call: all calls in a graph, repeated until it took a while."""
    n = len(calls)
    for call in calls[:3]:
        call()
    torch.cuda.synchronize()
    run = None
    try:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for call in calls:
                call()
        run = graph.replay
    except Exception:
        torch.cuda.synchronize()

        def run():
            for call in calls:
                call()

    run()
    torch.cuda.synchronize()
    times, begin = [], time.time()
    while len(times) < 3 or (time.time() - begin < 0.25 and len(times) < 50):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        run()
        b.record()
        torch.cuda.synchronize()
        times.append(1e3 * a.elapsed_time(b) / n)
    return sorted(times)[len(times) // 2]


def copies(size):
    """How many inputs of a size are needed to exceed the caches."""
    return max(2, min(32, -(-CACHE // max(1, size))))


def products():
    for n, k in ((5120, 5120), (10240, 8192), (8192, 28672), (4096, 14336), (51200, 5120)):
        for m in (1, 16, 64, 256, 1024, 4096, 8192):
            some = copies(2 * n * k)
            weights = [torch.randn(n, k, device=DEVICE, dtype=torch.bfloat16) * 0.02 for _ in range(min(some, 4))]
            x = torch.randn(m, k, device=DEVICE, dtype=torch.bfloat16)
            us = timed([(lambda w=weights[i % len(weights)]: F.linear(x, w)) for i in range(len(weights) * 2)])
            yield {"kind": "gemm", "format": "bf16", "m": m, "n": n, "k": k, "us": us}
            if not hasattr(torch, "_scaled_mm") or not hasattr(torch, "float8_e4m3fn"):
                continue
            try:
                one = torch.ones((), device=DEVICE)
                narrow = [w.to(torch.float8_e4m3fn) for w in weights]
                y = torch.randn(max(16, m), k, device=DEVICE).to(torch.float8_e4m3fn)
                us = timed([(lambda w=narrow[i % len(narrow)]: torch._scaled_mm(y, w.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)) for i in range(len(narrow) * 2)])
                yield {"kind": "gemm", "format": "fp8", "m": max(16, m), "n": n, "k": k, "us": us}
            except Exception:
                pass  # no such products on this device
            del weights


def attention():
    heads, kv, dim = 32, 8, 128

    def qkv(batch, query, context):
        make = lambda h, t: torch.randn(batch, h, t, dim, device=DEVICE, dtype=torch.bfloat16)
        return make(heads, query), make(kv, context), make(kv, context)

    for tokens in (512, 2048, 8192):
        q, k, v = qkv(1, tokens, tokens)
        us = timed([lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)] * 4)
        yield {"kind": "prefill", "batch": 1, "tokens": tokens, "heads": heads, "kv_heads": kv, "head_dim": dim, "us": us}
    for batch, context in ((1, 4096), (16, 1024), (64, 1024), (64, 4096), (256, 1024)):
        sets = [qkv(batch, 1, context) for _ in range(copies(4 * batch * kv * context * dim))]
        us = timed([(lambda s=s: F.scaled_dot_product_attention(*s, enable_gqa=True)) for s in sets])
        yield {"kind": "decode", "batch": batch, "tokens": context, "heads": heads, "kv_heads": kv, "head_dim": dim, "us": us}


def moves():
    for size in (1 << 20, 1 << 24, 1 << 28, 1 << 30):
        some = copies(2 * size)
        make = lambda: torch.zeros(size // 4, device=DEVICE)
        pairs = [(make(), make()) for _ in range(min(some, 16))]
        us = timed([(lambda a=a, b=b: torch.neg(a, out=b)) for a, b in pairs])  # a kernel: copies of memory take another way
        yield {"kind": "copy", "bytes": 2 * size, "us": us}  # read and written


def rank(i, ranks, found):
    import torch.distributed as dist

    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29511")
    torch.cuda.set_device(i)
    dist.init_process_group("nccl", rank=i, world_size=ranks)
    for size in (1 << 13, 1 << 16, 1 << 20, 1 << 24, 1 << 28):
        x = torch.zeros(size // 2, device=DEVICE, dtype=torch.bfloat16)
        for _ in range(5):
            dist.all_reduce(x)
        torch.cuda.synchronize()
        n = 20
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        for _ in range(n):
            dist.all_reduce(x)
        b.record()
        torch.cuda.synchronize()
        if i == 0:
            found.append({"kind": "all_reduce", "ranks": ranks, "bytes": size, "us": 1e3 * a.elapsed_time(b) / n})
    dist.destroy_process_group()


def reduces():
    import torch.multiprocessing as mp

    ranks = 2
    while ranks <= torch.cuda.device_count():
        with mp.Manager() as manager:
            found = manager.list()
            mp.spawn(rank, args=(ranks, found), nprocs=ranks)
            yield from list(found)
        ranks *= 2


def main():
    to = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels.json")
    if not torch.cuda.is_available():
        sys.exit("kernels.py: PyTorch sees no GPU")
    torch.manual_seed(1)
    out = {"schema": "plimsoll/kernels/1", "device": torch.cuda.get_device_name(), "gpus": torch.cuda.device_count(), "torch": torch.__version__, "kernels": []}
    for part in (moves, products, attention, reduces):
        try:
            with torch.no_grad():
                for row in part():
                    row["us"] = round(row["us"], 3)
                    out["kernels"].append(row)
        except Exception as err:  # the others still count
            print(f"kernels.py: {part.__name__} stopped: {err}", file=sys.stderr)
        torch.cuda.empty_cache()
        print(f"{part.__name__}: {len(out['kernels'])} kernels so far", flush=True)
    with open(to + ".part", "w") as f:
        json.dump(out, f, indent=1)
    os.replace(to + ".part", to)
    print("wrote", to)


if __name__ == "__main__":
    main()
