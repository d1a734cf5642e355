"""Runs the benchmarks and prints their rates as Markdown tables of ratios: against the rate at which the same
bytes are read, and against NumPy.

Usage: compare.py kvcheck_bench [MIN_TIME]     (./dev bench --compare runs it)

NumPy handles all heads of a query at once. Its loops measure only retained mass. kvcheck also checks each
row, measures KL and top-16 overlap, and records series, lifetimes and residency.
"""
import json
import subprocess
import sys
import tempfile
import time

import numpy as np

HEADS, TOKENS, BUDGET, SINKS, HEAD_DIM = 32, 1024, 512, 4, 64
TIMES = 3  # NumPy's loops run as often, and the fastest counts

WORK = "read bound|rows/|attention/|qkv/|BM_read|BM_decode|BM_product|BM_quantised"


def make_rows(rng):
    """[heads, tokens, tokens] f16: some keys have a large weight throughout, and recent keys have a larger one,
    as in bench/bench_trace.h."""
    weight = 1 / rng.uniform(0.001, 1, (HEADS, 1, TOKENS)).astype(np.float32)
    distance = np.arange(TOKENS)[:, None] - np.arange(TOKENS)[None, :]
    rows = np.where(distance >= 0, weight / (np.maximum(distance, 0) + 8), 0)
    return (rows / rows.sum(axis=2, keepdims=True)).astype(np.float16)


def streaming(rows, _rng):
    recent, kept = BUDGET - SINKS, 0.0
    for t in range(TOKENS):
        row = rows[:, t, :t + 1].astype(np.float32)
        first = max(SINKS, t - recent)
        kept += row[:, :SINKS].sum() + row[:, first:].sum() if t > BUDGET else row.sum()
    return kept


def reservoir(rows, rng):
    """Algorithm R over the tokens that left the recent window, drawn for each head on its own."""
    recent, heads, kept, entered = (BUDGET - SINKS) // 2, np.arange(HEADS), 0.0, 0
    places = BUDGET - SINKS - recent
    middle = np.zeros((HEADS, places), int)
    seen = np.zeros((HEADS, TOKENS), bool)
    for t in range(TOKENS):
        seen[:, t] = True
        kept += (rows[:, t, :t + 1].astype(np.float32) * seen[:, :t + 1]).sum()
        leaver = t - recent
        if leaver < SINKS:
            continue
        entered += 1
        if entered <= places:
            middle[:, entered - 1] = leaver
            continue
        drawn = rng.integers(entered, size=HEADS)
        taken = drawn < places
        seen[heads[~taken], leaver] = False
        seen[heads[taken], middle[heads[taken], drawn[taken]]] = False
        middle[heads[taken], drawn[taken]] = leaver
    return kept


def h2o(rows, _rng):
    recent, heads, kept = BUDGET // 2, np.arange(HEADS), 0.0
    seen, scores = np.zeros((HEADS, TOKENS), bool), np.zeros((HEADS, TOKENS), np.float32)
    for t in range(TOKENS):
        seen[:, t] = True
        row = rows[:, t, :t + 1].astype(np.float32) * seen[:, :t + 1]
        mass = row.sum(axis=1, keepdims=True)
        kept += mass.sum()
        scores[:, :t + 1] += row / mass
        if t >= BUDGET:
            older = t + 1 - recent
            worst = np.where(seen[:, :older], scores[:, :older], np.inf).argmin(axis=1)
            seen[heads, worst] = False
    return kept


def numpy_rates():
    rng = np.random.default_rng(1)
    rows = make_rows(rng)
    return {loop.__name__: HEADS * TOKENS / min(timed(loop, rows, rng) for _ in range(TIMES))
            for loop in (streaming, reservoir, h2o)}


def timed(loop, rows, rng):
    start = time.perf_counter()
    loop(rows, rng)
    return time.perf_counter() - start


def table(head, rows):
    print(f"\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def of(value, other):
    return f"{value / other:.2f}"


def replay_tables(rate):
    bound, numpy = rate["read bound"], numpy_rates()
    rows = [("read bound", f"{bound / 1e6:.2f}", "1", "")]
    for name, value in rate.items():
        if not name.startswith(("rows/attention", "attention/")):
            continue
        one_thread = "2 threads" not in name
        policy = name.split("/")[1]
        rows.append((name, f"{value / 1e6:.2f}", of(value, bound) if one_thread else "",
                     of(value, numpy[policy]) if one_thread and policy in numpy else ""))
    table(("replay of attention rows, 512 residents, 1,024 tokens", "million rows/s", "of the read bound",
           "times NumPy"), rows)
    single = [1 / value for name, value in rate.items()
              if name.startswith("attention/") and name.endswith("1 thread") and "eight" not in name]
    eight = 1 / rate["attention/all eight/1 thread"]
    print(f"\nEight policies in one pass take {eight / (sum(single) / len(single)):.2f} times the mean of one alone. "
          f"NumPy, million rows/s: {', '.join(f'{n} {v / 1e6:.2f}' for n, v in numpy.items())}.")
    # Per row: a product and a sum for each dimension of every key up to the query, once for the logits and once
    # for the output.
    work = 4 * HEAD_DIM * (TOKENS + 1) / 2
    table(("replay of queries, keys and values", "thousand rows/s", "GFLOP/s of the dense rows"),
          [(name, f"{value / 1e3:.0f}", f"{value * work / 1e9:.1f}" if name.startswith("rows/") else "")
           for name, value in rate.items() if name.startswith(("rows/qkv", "qkv/"))])


def model_tables(results):
    words = {"plain": "12/12/64", "grouped": "32/8/128"}
    rows = []
    for name, found in results.items():
        if name.startswith("BM_decode/"):
            shape, storage, *rest, residents = name.split("/")[1].split("_") + [name.split("/")[2]]
            rows.append((f"{words[shape]} {storage}" + (", scattered slots" if rest else ""), residents,
                         f"{found['of_read']:.2f}", f"{found['of_rows']:.2f}"))
    table(("decode attention, cold: query heads/kv heads/dimensions, storage", "residents", "of the read bound",
           "of reading the rows"), rows)
    bound = results["BM_read"]["bytes_per_second"]
    rows = [("read bound", f"{bound / 1e9:.1f} GB/s", "1")]
    for name, found in results.items():
        if name.startswith(("BM_product/", "BM_quantised/")):
            kind, tokens = name.split("/")[1:3]
            rate = found["bytes_per_second"]
            one = tokens == "1"
            if one or "gflops" in found:
                rows.append((f"{kind}, {tokens} token{'' if one else 's'}",
                             f"{rate / 1e9:.1f} GB/s" if one else f"{found['gflops']:.0f} GFLOP/s",
                             of(rate, bound) if one else ""))
    table(("product with a matrix of 3,072 x 768, cold", "rate", "of the read bound"), rows)


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        found = dict(line.split(":", 1) for line in lines if ":" in line)
    found = {key.strip(): value.strip() for key, value in found.items()}
    return (f"{found.get('model name', 'unknown processor')}, family {found.get('cpu family', '?')}, "
            f"model {found.get('model', '?')}")


def main(program, min_time):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([program, f"--benchmark_min_time={min_time}", f"--benchmark_filter={WORK}",
                        f"--benchmark_out={out.name}", "--benchmark_out_format=json"], check=True,
                       stdout=subprocess.DEVNULL)
        results = {b["name"].replace("/real_time", "").replace("/manual_time", ""): b
                   for b in json.load(out)["benchmarks"]}
    print(f"{processor()}, NumPy {np.__version__}")
    replay_tables({name: b["items_per_second"] for name, b in results.items() if "items_per_second" in b})
    model_tables(results)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "0.5")
