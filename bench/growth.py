"""How a sweep grows with its texts, specs and seeds, as Markdown: seconds of the processor, peak memory, and the
size of the results file, with the powers that fit.

    python3 bench/growth.py build/release/kvcheck

Each row varies one of the three and holds the others. The texts are synthetic streams of 256 tokens. Powers are
slopes of the logarithms by least squares; 1 is linear. A power of memory or of the file below 1 means that a part
does not grow with the cells.
"""
import json
import math
import os
import sys
import tempfile

import commands

STEPS = (1, 2, 4, 8)
HELD = {"texts": 16, "specs": 16, "seeds": 8}


def plan_of(texts, specs, seeds):
    return {"replay": {"traces": [f"synthetic:zipf:tokens=256,seed={seed}" for seed in range(1, texts + 1)],
                       "policies": ["random"], "budgets": [16 + i for i in range(specs)], "seeds": seeds}}


def swept(kvcheck, folder, sizes):
    """Seconds, peak MiB and MiB of the file, each the least of two sweeps."""
    plan, results = os.path.join(folder, "plan.json"), os.path.join(folder, "run.db")
    with open(plan, "w", encoding="utf-8") as file:
        json.dump(plan_of(**sizes), file)
    runs = []
    for _ in range(2):
        if os.path.exists(results):
            os.remove(results)
        seconds, memory = commands.took([kvcheck, "sweep", plan, "--threads", "1", "--quiet", "-o", results])
        runs.append((seconds, memory, os.path.getsize(results) / 2**20))
    return [min(values) for values in zip(*runs)]


def power(xs, ys):
    xs, ys = [math.log(x) for x in xs], [math.log(y) for y in ys]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)


def main():
    kvcheck, = sys.argv[1:]
    print("| varied | cells | s of the processor | power | peak MiB | power | file, MiB | power |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for name, held in HELD.items():
            sizes = [held * step // 2 for step in STEPS]
            rows = [swept(kvcheck, folder, {**HELD, name: size}) for size in sizes]
            others = math.prod(HELD.values()) // held
            columns = []
            for values, digits in zip(zip(*rows), (2, 0, 1)):
                columns.append(f"{values[0]:.{digits}f} to {values[-1]:.{digits}f} | {power(sizes, values):.2f}")
            print(f"| {name}: {sizes[0]} to {sizes[-1]} | {sizes[0] * others:,} to {sizes[-1] * others:,} | "
                  + " | ".join(columns) + " |", flush=True)


if __name__ == "__main__":
    main()
