"""What the modules of docs/claims.py share: runs of kvcheck and simple statistics."""
import atexit
import json
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "build/release/kvcheck"
TRACE = "traces/data/tinystories-2m.qkv.safetensors"
HELD_OUT = "model/data/held-out.txt"

_scratch = tempfile.TemporaryDirectory()
atexit.register(_scratch.cleanup)


class Refused(Exception):
    """kvcheck refused to run; the text is its message."""


def in_scratch(words):
    """The words with the path of SCRATCH, a folder that is removed when the process ends."""
    return words.replace("SCRATCH", _scratch.name)


def run_text(words, status=(0,)):
    """What kvcheck prints for these words, which may contain SCRATCH/."""
    words = in_scratch(words)
    done = subprocess.run(f"{PROGRAM} {words}", shell=True, capture_output=True, text=True)
    if done.returncode not in status:
        raise Refused(done.stderr.strip())
    return done.stdout


def run_lines(words, status=(0,)):
    """The JSON lines that kvcheck prints for these words."""
    return [json.loads(line) for line in run_text(words, status).splitlines()]


def model_on(text):
    return f"--model model/data --text {text}"


MODEL = model_on(HELD_OUT)


def mean(values):
    return sum(values) / len(values)


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def deviation(values):
    centre = mean(values)
    return (sum((v - centre) ** 2 for v in values) / (len(values) - 1)) ** 0.5


def counted(evaluations, first, last):
    """(right, asked) over several evaluations, for facts stated `first` to `last` tokens before."""
    bins = [b for row in evaluations for b in row["recall"] if first <= b["first"] and b["last"] <= last]
    return sum(b["right"] for b in bins), sum(b["asked"] for b in bins)


def recalled(evaluation, first, last):
    """The share recalled of the facts stated `first` to `last` tokens before."""
    right, asked = counted([evaluation], first, last)
    return right / asked if asked else float("nan")
