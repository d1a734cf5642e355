"""The rows of docs/comparison.md: their specs, and the measurements of each row."""
import math
import re
import subprocess

from measuring import (HELD_OUT, PROGRAM, Refused, counted, half_width, mean, median, model_on, more_text,
                       run_lines)

BUDGET = 64
SEEDS = 5
WINDOW = 256
TEXTS = 5
FIRST_TEXT = 4096          # text.py's seed for the held-out text; the other texts have the next seeds
ROUNDS = 3
AGES = ((1, 32), (32, 64), (64, 128), (128, 256))
NAN = float("nan")

# The specs that differ from NAME:budget=64, and why they do.
CHUNKED = "the prompt is read in chunks of 128; a chunk is stored whole, and evictions follow once per chunk"
OWN = "it has the sizes of its source"
VARIANTS = {
    "dense": [("dense", "dense", "")],
    "@dense": [("@dense", "@dense", "")],
    "semantic-blocks": [("semantic-blocks", "semantic-blocks:budget=64,block=4",
                         "its blocks have 4 tokens, because only one block of 16 would fit and no score would "
                         "matter")],
    "@snapkv": [("@snapkv, chunk 128", "@snapkv:budget=64;chunk=128", CHUNKED)],
    "@pyramidkv": [("@pyramidkv, chunk 128", "@pyramidkv:budget=64;chunk=128",
                    CHUNKED + "; lower layers keep more than 64 tokens, and upper layers keep fewer")],
    "@ada-snapkv": [("@ada-snapkv, chunk 128", "@ada-snapkv:budget=64;chunk=128",
                     CHUNKED + "; the heads of a layer keep 64 tokens on average")],
    "@quest": [("@quest, 64 attended to", "dense;visibility=top-pages:64/16/1",
                "each query head attends to 4 pages of 16 tokens, and in the first layer to everything; all tokens "
                "are stored. At its published size of 1,024 tokens it would attend to every token of a window")],
    "@kivi": [("@kivi", "@kivi",
               "it evicts nothing; its codes are a storage format, which [model.md](model.md) measures")],
    "@chunkkv": [("@chunkkv, chunk 128", "@chunkkv:budget=64;chunk=128", CHUNKED)],
    "@discard-half": [("@discard-half, context 64", "@discard-half:recent=30;timing=lazy:29",
                       "it is full at 64 tokens and continues with 34"),
                      ("@discard-half, own", "@discard-half", OWN)],
    "@duo": [("@duo, a fifth", "@duo:sinks=13,recent=51",
              "it has a fifth of the sizes of its source; head 0.0 keeps everything"),
             ("@duo, own", "@duo", OWN + "; head 0.0 keeps everything")],
    "@semantic-block": [("@semantic-block, a quarter",
                         "@semantic-block:recent=32,budget=64,block=4;timing=lazy:16",
                         "it has a quarter of the sizes of its source, except for the sinks"),
                        ("@semantic-block, own", "@semantic-block", OWN)],
    "@pos-aware": [("@pos-aware, a quarter", "@pos-aware:recent=16,budget=64;timing=lazy:16",
                    "it has a quarter of the sizes of its source, except for the sinks"),
                   ("@pos-aware, own", "@pos-aware", OWN)],
}


class Row:
    def __init__(self, name, spec, why):
        self.name, self.spec, self.why = name, spec, why
        self.open = self.closed = self.elsewhere = None
        self.times, self.problems = [], []

    def attempt(self, measure, *more):
        try:
            return measure(self.spec, *more)
        except Refused as refusal:
            said = " ".join(str(refusal).split())
            if said not in self.problems:
                self.problems.append(said)
            return None

    def get(self, loop, key):
        part = getattr(self, loop)
        return part.get(key, NAN) if part else NAN

    def idle(self):
        """Whether it evicts nothing in windows: its perplexity is exactly that of dense on every text."""
        return bool(self.closed) and not self.closed["differs"]

    def draws(self):
        return bool(self.open) and self.open["draws"]

    def share(self):
        return mean(self.open["shares"]) if self.open else NAN

    def stored(self):
        return self.get("open", "stored_peak")

    def perplexity(self):
        return self.closed["perplexity"] if self.closed else NAN

    def recall(self, first, last):
        if not self.closed:
            return NAN
        right, asked = counted(self.closed["rows"], first, last)
        return right / asked if asked else NAN

    def text_recalls(self, first, last):
        """The share of facts recalled in each text."""
        return [right / asked for right, asked in
                (counted(rows, first, last) for rows in self.closed["by_text"])]

    def microseconds(self):
        return median(self.times) * 1e6 if self.times else NAN


def all_rows():
    """Policies and presets as `kvcheck policies` lists them, at the common budget if they have one."""
    text = subprocess.run([PROGRAM, "policies"], capture_output=True, text=True, check=True).stdout
    rows = []
    for name in re.findall(r"^(@?[a-z0-9][a-z0-9-]*)$", text, re.MULTILINE):
        for words in VARIANTS.get(name, [(name, f"{name}:budget={BUDGET}", "")]):
            rows.append(Row(*words))
    return rows


def texts():
    """The paths of the held-out text and of others like it."""
    return [HELD_OUT] + [more_text(FIRST_TEXT + i) for i in range(1, TEXTS)]


def evaluated(spec, paths, draws, window=WINDOW):
    """The logarithm of perplexity by text, averaged over seeds if the policy draws."""
    by_text = []
    for path in paths:
        by_text.append([])
        for seed in range(1, SEEDS + 1 if draws else 2):
            # With --weights f32 the weights are widened once, to the same numbers, which saves time on
            # machines that widen slowly.
            rows = run_lines(f"eval {model_on(path)} --windows {window} --policy '{spec}' --seed {seed} "
                             "--weights f32 --json -")
            by_text[-1].append(next(row for row in rows if row["type"] == "evaluation"))
    logs = [mean([math.log(row["perplexity"]) for row in rows]) for rows in by_text]
    return {"perplexity": math.exp(mean(logs)), "logs": logs, "by_text": by_text, "differs": True,
            "rows": [row for rows in by_text for row in rows]}


def against(logs, reference):
    """The ratio of two perplexities, and the half width of its interval over texts."""
    differences = [a - b for a, b in zip(logs, reference)]
    ratio = math.exp(mean(differences))
    return ratio, ratio * half_width(differences)


def timed(spec):
    return run_lines(f"speed --threads 1 --model model/data --policy '{spec}' --length 1024 --tokens 64 "
                     "--json -")[0]["attention_s"]
