"""The rows of docs/comparison.md: which there are, and what is measured of each."""
import math
import re
import subprocess

from measuring import (HELD_OUT, PROGRAM, Refused, counted, half_width, mean, median, model_on, more_text,
                       run_lines)

BUDGET = 64
SEEDS = 5
WINDOW = 256
TEXTS = 5
FIRST_TEXT = 4096          # text.py's seed for the held-out text; the others count on from it
ROUNDS = 3
AGES = ((1, 32), (32, 64), (64, 128), (128, 256))
NAN = float("nan")

# What is not NAME:budget=64, and why.
CHUNKED = "the prompt in chunks of 128: what goes is chosen once a chunk, and a chunk is stored whole"
OWN = "the sizes of its source"
VARIANTS = {
    "dense": [("dense", "dense", "")],
    "@dense": [("@dense", "@dense", "")],
    "semantic-blocks": [("semantic-blocks", "semantic-blocks:budget=64,block=4",
                         "blocks of 4: of 16 only one fits, and no score would decide")],
    "@snapkv": [("@snapkv, chunk 128", "@snapkv:budget=64;chunk=128", CHUNKED)],
    "@pyramidkv": [("@pyramidkv, chunk 128", "@pyramidkv:budget=64;chunk=128",
                    CHUNKED + "; lower layers keep more than 64, upper ones less")],
    "@ada-snapkv": [("@ada-snapkv, chunk 128", "@ada-snapkv:budget=64;chunk=128",
                     CHUNKED + "; the heads of a layer keep 64 on average")],
    "@quest": [("@quest, 64 attended to", "dense;visibility=top-pages:64/16/1",
                "each query head attends to 4 pages of 16, the first layer to everything; all is stored. "
                "At its published size, 1,024 tokens, it attends to every token of a window")],
    "@kivi": [("@kivi", "@kivi",
               "evicts nothing; its codes are a storage, measured in [model.md](model.md)")],
    "@chunkkv": [("@chunkkv, chunk 128", "@chunkkv:budget=64;chunk=128", CHUNKED)],
    "@discard-half": [("@discard-half, context 64", "@discard-half:recent=30;timing=lazy:29",
                       "full at 64, goes on with 34"),
                      ("@discard-half, own", "@discard-half", OWN)],
    "@duo": [("@duo, a fifth", "@duo:sinks=13,recent=51",
              "a fifth of its source's sizes; head 0.0 keeps everything"),
             ("@duo, own", "@duo", OWN + "; head 0.0 keeps everything")],
    "@semantic-block": [("@semantic-block, a quarter",
                         "@semantic-block:recent=32,budget=64,block=4;timing=lazy:16",
                         "a quarter of its source's sizes, but for the sinks"),
                        ("@semantic-block, own", "@semantic-block", OWN)],
    "@pos-aware": [("@pos-aware, a quarter", "@pos-aware:recent=16,budget=64;timing=lazy:16",
                    "a quarter of its source's sizes, but for the sinks"),
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
        """Evicts nothing in windows, as perplexity equals that of dense in every digit on every text."""
        return bool(self.closed) and not self.closed["tells"]

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
        """The share recalled in each text."""
        return [right / asked for right, asked in
                (counted(rows, first, last) for rows in self.closed["by_text"])]

    def microseconds(self):
        return median(self.times) * 1e6 if self.times else NAN


def all_rows():
    """Policies and presets as `kvcheck policies` lists them, at the common budget where they have one."""
    text = subprocess.run([PROGRAM, "policies"], capture_output=True, text=True, check=True).stdout
    rows = []
    for name in re.findall(r"^(@?[a-z0-9][a-z0-9-]*)$", text, re.MULTILINE):
        for words in VARIANTS.get(name, [(name, f"{name}:budget={BUDGET}", "")]):
            rows.append(Row(*words))
    return rows


def texts():
    """The held-out text and others like it."""
    return [HELD_OUT] + [more_text(FIRST_TEXT + i) for i in range(1, TEXTS)]


def evaluated(spec, paths, draws, window=WINDOW):
    """The logarithm of perplexity by text, averaged over seeds where the policy draws."""
    by_text = []
    for path in paths:
        by_text.append([])
        for seed in range(1, SEEDS + 1 if draws else 2):
            # Widened once, the weights are the same numbers: faster where a machine widens slowly.
            rows = run_lines(f"eval {model_on(path)} --windows {window} --policy '{spec}' --seed {seed} "
                             "--weights f32 --json -")
            by_text[-1].append(next(row for row in rows if row["type"] == "evaluation"))
    logs = [mean([math.log(row["perplexity"]) for row in rows]) for rows in by_text]
    return {"perplexity": math.exp(mean(logs)), "logs": logs, "by_text": by_text, "tells": True,
            "rows": [row for rows in by_text for row in rows]}


def against(logs, reference):
    """The ratio of two perplexities, and the half width of its interval over texts."""
    differences = [a - b for a, b in zip(logs, reference)]
    ratio = math.exp(mean(differences))
    return ratio, ratio * half_width(differences)


def timed(spec):
    return run_lines(f"speed --model model/data --policy '{spec}' --length 1024 --tokens 64 "
                     "--json -")[0]["attention_s"]
