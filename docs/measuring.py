"""What docs/claims.py and docs/comparison.py share: runs of kvcheck, texts and simple statistics."""
import atexit
import functools
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


def more_text(seed):
    """Writes another text with the program of the held-out text; returns its path for run_text."""
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


def inside(t, degrees):
    """The probability that Student's t lies between -t and t, as a finite sum for whole degrees of freedom."""
    angle = math.atan(t / math.sqrt(degrees))
    square = math.cos(angle) ** 2
    first = degrees % 2  # the sum runs over odd or even powers of the cosine
    term = math.cos(angle) if first else 1.0
    total = 0.0
    for power in range(first, degrees - 1, 2):
        total += term
        term *= square * (power + 1) / (power + 2)
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if first else total


@functools.lru_cache(None)
def student(degrees):
    """The quantile of Student's t for a two-sided interval of 95 %."""
    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle, degrees) < 0.95 else (low, middle)
    return high


def half_width(values):
    """Half the width of a 95 % interval of the mean, by Student's t."""
    return student(len(values) - 1) * deviation(values) / math.sqrt(len(values))


def counted(evaluations, first, last):
    """(right, asked) over several evaluations, for facts stated `first` to `last` tokens before."""
    bins = [b for row in evaluations for b in row["recall"] if first <= b["first"] and b["last"] <= last]
    return sum(b["right"] for b in bins), sum(b["asked"] for b in bins)


def recalled(evaluation, first, last):
    """The share recalled of the facts stated `first` to `last` tokens before."""
    right, asked = counted([evaluation], first, last)
    return right / asked if asked else float("nan")
