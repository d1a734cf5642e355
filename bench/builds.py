"""Compares the speed of two builds, whose runs alternate: a Markdown table of ratios, the slowest first.

Usage: builds.py OLD NEW [--runs N] [--filter REGEX] [--min-time SECONDS]

OLD and NEW are build trees that have kvcheck and bench/kvcheck_bench. A ratio is the time of the new build divided
by that of the old one: of the least times of all runs, and from the least to the most of the single runs. Compared
are the benchmarks whose names both builds have (--filter: those that REGEX finds), and under each policy that both
have a replay of queries, keys and values and one of rows.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import commands
import compare
import peers


NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def benchmarks(build, pattern, min_time):
    """Nanoseconds of every benchmark of a build."""
    return {one["name"]: one["real_time"] * NANOSECONDS[one["time_unit"]]
            for one in compare.results_of(f"{build}/bench/kvcheck_bench", pattern, min_time)}


def policies(build, trace):
    return set(commands.served_policies(f"{build}/kvcheck", trace))


def replays(build, names, trace, kind):
    """Seconds of the processor of a replay under each policy."""
    return {f"{kind} under {name}": commands.took(commands.policy_replay(f"{build}/kvcheck", trace, name))[0]
            for name in names}


def measured(build, options, names, traces):
    times = benchmarks(build, options.filter, options.min_time)
    for kind, trace in traces.items():
        times.update(replays(build, names[kind], trace, kind))
    return times


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--runs", type=peers.at_least_one, default=3)
    parser.add_argument("--filter", default=".")
    parser.add_argument("--min-time", type=peers.seconds, default=0.2)
    options = parser.parse_args(words)
    for build in (options.old, options.new):
        if not os.path.isfile(f"{build}/kvcheck") or not os.path.isfile(f"{build}/bench/kvcheck_bench"):
            sys.exit(f"builds.py: '{build}' has no kvcheck and bench/kvcheck_bench; expected a build tree")
    listed = subprocess.run([f"{options.new}/bench/kvcheck_bench", "--benchmark_list_tests",
                             f"--benchmark_filter={options.filter}"], capture_output=True, text=True, check=False)
    if listed.returncode or not listed.stdout.strip() or "Could not compile" in listed.stdout + listed.stderr:
        sys.exit(f"builds.py: --filter '{options.filter}' finds no benchmark")
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        traces = {"replay": commands.shared_trace(f"{options.new}/kvcheck", folder),
                  "replay of rows": commands.shared_rows(f"{options.new}/kvcheck", folder)}
        names = {kind: sorted(policies(options.old, trace) & policies(options.new, trace))
                 for kind, trace in traces.items()}
        for i in range(options.runs):
            print(f"run {i + 1} of {options.runs}", file=sys.stderr)
            runs.append([measured(build, options, names, traces) for build in (options.old, options.new)])
    both = runs[0][0].keys() & runs[0][1].keys()
    rows = []
    for name in both:
        pairs = [new[name] / old[name] for old, new in runs]
        least = min(new[name] for _, new in runs) / min(old[name] for old, _ in runs)
        rows.append((least, min(pairs), max(pairs), name))
    print(f"{compare.processor()}; {options.runs} runs of each build; benchmarks of one build alone: "
          f"{len(runs[0][0]) - len(both)} of the old one, {len(runs[0][1]) - len(both)} of the new one\n")
    print("| work | new : old, least times | of single runs |\n|---|---|---|")
    for least, low, high, name in sorted(rows, reverse=True):
        print(f"| {name} | {least:.2f} | {low:.2f} to {high:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
