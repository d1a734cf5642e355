"""Compares the rates of the benchmark with the read bound and with a straightforward NumPy loop.

Usage: compare.py kvcheck_bench [MIN_TIME]     (./dev bench runs it if NumPy is installed)

The NumPy loop measures only retained mass. kvcheck also checks each row, measures KL and top-16
overlap, and records series, lifetimes and residency. The script prints a Markdown table.
"""
import json
import subprocess
import sys
import tempfile
import time

import numpy as np

TOKENS, BUDGET, SINKS = 1024, 512, 4


def rows_of_one_head(rng):
    """[tokens, tokens] f16: some keys have a large weight throughout, and recent keys have a larger one, as in
    bench/bench_trace.h."""
    weight = 1 / rng.uniform(0.001, 1, TOKENS)
    distance = np.arange(TOKENS)[:, None] - np.arange(TOKENS)[None, :]
    rows = np.where(distance >= 0, weight / (np.maximum(distance, 0) + 8), 0)
    return (rows / rows.sum(axis=1, keepdims=True)).astype(np.float16)


def streaming(rows):
    recent, kept = BUDGET - SINKS, 0.0
    for t in range(TOKENS):
        row = rows[t, :t + 1].astype(np.float32)
        kept += row[:SINKS].sum() + row[max(SINKS, t - recent):].sum() if t > BUDGET else 1.0
    return kept


def reservoir(rows, rng):
    recent = (BUDGET - SINKS) // 2
    middle, kept, entered = [], 0.0, 0
    for t in range(TOKENS):
        row = rows[t, :t + 1].astype(np.float32)
        kept += row[:SINKS].sum() + row[middle].sum() + row[max(SINKS, t - recent):].sum()
        leaver = t - recent
        if leaver < SINKS:
            continue
        entered += 1
        if len(middle) < BUDGET - SINKS - recent:
            middle.append(leaver)
        elif (j := rng.integers(entered)) < len(middle):
            middle[j] = leaver
    return kept


def h2o(rows):
    recent = BUDGET // 2
    residents, scores, kept = np.arange(0), np.zeros(TOKENS), 0.0
    for t in range(TOKENS):
        residents = np.append(residents, t)
        seen = rows[t, residents].astype(np.float32)
        mass = seen.sum()
        kept += mass
        scores[residents] += seen / mass
        if len(residents) > BUDGET:
            middle = residents[:len(residents) - recent]
            residents = np.delete(residents, np.argmin(scores[middle]))
    return kept


def numpy_rates():
    rng = np.random.default_rng(1)
    rows = rows_of_one_head(rng)
    rates = {}
    for name, loop in (("streaming", streaming), ("reservoir", lambda r: reservoir(r, rng)), ("h2o", h2o)):
        best = min(timed(loop, rows) for _ in range(5))
        rates[name] = TOKENS / best
    return rates


def timed(loop, rows):
    start = time.perf_counter()
    loop(rows)
    return time.perf_counter() - start


def main(program, min_time):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([program, f"--benchmark_min_time={min_time}", f"--benchmark_out={out.name}",
                        "--benchmark_out_format=json"], check=True)
        results = {b["name"].replace("/real_time", ""): b for b in json.load(out)["benchmarks"]}
    rate = {name: b["items_per_second"] for name, b in results.items() if "items_per_second" in b}
    bound, numpy_loop = rate["read bound"], numpy_rates()
    print("\n| replay of attention rows, 512 residents, 1,024 tokens | million rows/s | share of the read "
          "bound | times NumPy |\n|---|---|---|---|")
    singles = []
    for name, value in rate.items():
        if not name.startswith(("read bound", "rows/attention", "attention/")):
            continue
        policy = name.split("/")[1] if "/" in name else ""
        against = value / numpy_loop[policy] if policy in numpy_loop else None
        share = f"{100 * value / bound:.0f} %" if "2 threads" not in name else ""
        print(f"| {name} | {value / 1e6:.2f} | {share} | {f'{against:.0f}' if against else ''} |")
        if name.endswith("1 thread") and "all eight" not in name:
            singles.append(1 / value)
    eight = 1 / rate["attention/all eight/1 thread"]
    print(f"\nEight policies in one pass: {eight / (sum(singles) / len(singles)):.2f} times the mean of "
          f"one alone, {eight / min(singles):.2f} times the cheapest. q/k/v: "
          f"{rate['qkv/streaming/1 thread'] / rate['qkv/all eight/1 thread']:.2f} times streaming.")
    print("NumPy, thousand rows/s: " +
          ", ".join(f"{name} {value / 1e3:.0f}" for name, value in numpy_loop.items()))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "0.5")
