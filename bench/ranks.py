"""How long a sweep takes on two ranks of MPI, as a share of its time on one, as Markdown. Beside it what the machine
allows: two programs without MPI that do one half each (--shard) at the same time.

    python3 bench/ranks.py build/dev/kvcheck [PAIRS]

The preset dev builds with MPI. One rank, two ranks and two halves run in turns, on empty results files, PAIRS
times [3]; the seconds are by the clock, from the start of the first program to the end of the last. Nothing else may run meanwhile.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

PLAN = {"replay": {"traces": [f"synthetic:zipf:tokens=1024,seed={seed}" for seed in range(1, 257)],
                   "policies": ["random", "h2o"], "budgets": [32, 64, 128, 256], "seeds": 4}}


# Open MPI refuses to run as root without these two.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def seconds(folder, *programs):
    """Of all programs together."""
    for name in os.listdir(folder):
        if name != "plan.json":
            os.remove(os.path.join(folder, name))
    begin = time.perf_counter()
    started = [subprocess.Popen(program, cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
               for program in programs]
    if any([program.wait() for program in started]):
        sys.exit("ranks.py: a sweep failed")
    return time.perf_counter() - begin


def times(kvcheck, folder):
    sweep = [os.path.abspath(kvcheck), "sweep", "plan.json", "--threads", "1", "--quiet", "-o"]

    def ranks(count):
        return seconds(folder, ["mpirun", "--bind-to", "none", "-n", str(count), *sweep, "run.db"])

    halves = [[*sweep, f"half-{half}.db", "--shard", f"{half}/2"] for half in (1, 2)]
    return ranks(1), ranks(2), seconds(folder, *halves)


def main():
    kvcheck, pairs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "plan.json"), "w", encoding="utf-8") as file:
            json.dump(PLAN, file)
        print("| one rank, s | two ranks, s | share | two halves, s | share |\n| ---: | ---: | ---: | ---: | ---: |")
        shares = []
        for _ in range(pairs):
            one, two, halves = times(kvcheck, folder)
            shares.append((two / one, halves / one))
            print(f"| {one:.1f} | {two:.1f} | {two / one:.2f} | {halves:.1f} | {halves / one:.2f} |", flush=True)
        print("\nMedians: %.2f and %.2f." % tuple(statistics.median(column) for column in zip(*shares)))


if __name__ == "__main__":
    main()
