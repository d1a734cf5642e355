"""What docs/claims.py and docs/comparison.py share: where the numbers come from, and how they run."""
import atexit
import json
import math
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "build/release/kvcheck"
TRACE = "traces/data/tinystories-2m.qkv.safetensors"
HELD_OUT = "model/data/held-out.txt"
TEXT_TOKENS = 4095

# Student's t, two-sided, 95 %, by degrees of freedom.
STUDENT = {4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 11: 2.201}

_scratch = tempfile.TemporaryDirectory()
atexit.register(_scratch.cleanup)


class Refused(Exception):
    """kvcheck refused; what it said."""


def run_text(words, status=(0,)):
    """What kvcheck prints for these words. SCRATCH/ in them is a folder that goes with the process."""
    words = words.replace("SCRATCH", _scratch.name)
    done = subprocess.run(f"{PROGRAM} {words}", shell=True, capture_output=True, text=True)
    if done.returncode not in status:
        raise Refused(done.stderr.strip())
    return done.stdout


def run_lines(words, status=(0,)):
    """The JSON lines that kvcheck prints for these words."""
    return [json.loads(line) for line in run_text(words, status).splitlines()]


def more_text(seed):
    """Another text like the held-out one, from the program that wrote it; its path for run_text."""
    done = subprocess.run([sys.executable, "model/training/text.py", str(seed), str(TEXT_TOKENS)],
                          capture_output=True, text=True, check=True)
    with open(f"{_scratch.name}/text-{seed}.txt", "w", encoding="utf-8") as file:
        file.write(done.stdout)
    return f"SCRATCH/text-{seed}.txt"


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


def half_width(values):
    """Of a 95 % interval of the mean, by Student's t for few values and as of a normal for many."""
    factor = STUDENT.get(len(values) - 1, 1.96)
    return factor * deviation(values) / math.sqrt(len(values))


def counted(evaluations, first, last):
    """(right, asked) over several evaluations, of facts that were told so many tokens before."""
    bins = [b for row in evaluations for b in row["recall"] if first <= b["first"] and b["last"] <= last]
    return sum(b["right"] for b in bins), sum(b["asked"] for b in bins)


def recalled(evaluation, first, last):
    """The share of facts recalled that were told so many tokens before."""
    right, asked = counted([evaluation], first, last)
    return right / asked if asked else float("nan")
