"""Attention rows whose sums are exact in single precision, so that a replay in NumPy must agree to 1e-9.

Usage: exact_rows.py make ROWS.npy
       exact_rows.py compare ROWS.npy RESULTS.jsonl
RESULTS.jsonl are the lines of `kvcheck replay --json FILE --per-head` of these rows. Every weight is a multiple
of 1/2048, and the weights of a row sum to 1: no sum of them is rounded. With the weights of a model the two
programs can agree only within what single precision rounds (replay_reference.py).
"""
import json
import re
import sys

import numpy as np
from replay_reference import below, difference, replay, seed_for, trimmer

HEADS, TOKENS, PARTS = 3, 300, 2048


def made():
    """[layers, heads, tokens, tokens]: of each row PARTS equal parts fall on keys, some of which get many."""
    draws = np.random.default_rng(12)
    rows = np.zeros((1, HEADS, TOKENS, TOKENS), np.float32)
    for head in range(HEADS):
        for t in range(TOKENS):
            share = draws.dirichlet(np.full(t + 1, 0.1))
            rows[0, head, t, :t + 1] = draws.multinomial(PARTS, share) / PARTS
    return rows


def compare(rows, lines):
    got = {(line["spec"], line["seed"], line["head"]): line for line in lines if line["type"] == "head"}
    worst = 0.0
    for spec, seed, head in got:
        name, fields = re.match(r"([a-z0-9-]+):?([^;]*)", spec).groups()
        at = {key: int(value) for key, value in re.findall(r"([a-z]+)=([0-9]+)", fields)}
        sinks, recent = at.get("sinks", 0), at.get("recent", 0)
        budget = at.get("budget", sinks + recent)
        own = seed_for(seed, name)
        mass, after, _ = replay(rows[0, head:head + 1].astype(np.float64), name, sinks, recent, budget,
                                lambda bound, position, i: below(bound, own, 0, head, position, i),
                                trimmer(spec, budget, 0, 0))
        line = got[spec, seed, head]
        worst = max(worst, difference(mass[0], line["retained_mass"]), difference(after[0], line["retained_mass_after"]))
    print(f"{len(got)} heads, largest difference {worst:.2e}")
    return 0 if len(got) >= 3 * HEADS and worst < 1e-9 else 1


if __name__ == "__main__":
    if sys.argv[1] == "make":
        np.save(sys.argv[2], made())
    else:
        with open(sys.argv[3], encoding="utf-8") as results:
            sys.exit(compare(np.load(sys.argv[2]), [json.loads(line) for line in results]))
