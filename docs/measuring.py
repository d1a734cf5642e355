"""What docs/claims.py and docs/comparison.py share: where the numbers come from, and how they run."""
import json
import subprocess
import sys

sys.dont_write_bytecode = True

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "build/release/kvcheck"
TRACE = "traces/data/tinystories-2m.qkv.safetensors"
MODEL = "--model model/data --text model/data/held-out.txt"


class Refused(Exception):
    """kvcheck refused; what it said."""


def run_lines(words, status=(0,)):
    """The JSON lines that kvcheck prints for these words."""
    done = subprocess.run(f"{PROGRAM} {words}", shell=True, capture_output=True, text=True)
    if done.returncode not in status:
        raise Refused(done.stderr.strip())
    return [json.loads(line) for line in done.stdout.splitlines()]


def mean(values):
    return sum(values) / len(values)


def deviation(values):
    centre = mean(values)
    return (sum((v - centre) ** 2 for v in values) / (len(values) - 1)) ** 0.5


def recalled(evaluation, first, last):
    """The share of facts recalled that were told so many tokens before."""
    bins = [b for b in evaluation["recall"] if first <= b["first"] and b["last"] <= last]
    asked = sum(b["asked"] for b in bins)
    return sum(b["right"] for b in bins) / asked if asked else float("nan")
