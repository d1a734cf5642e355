"""Replays in NumPy, which handle all heads of a query at once. They measure only retained mass."""
import time

import numpy as np

HEADS, TOKENS, BUDGET, SINKS = 32, 1024, 512, 4
TIMES = 3  # each loop runs as often, and the fastest run counts


def make_rows(rng):
    """[heads, tokens, tokens] f16: some keys have a large weight throughout, and recent keys have a larger one,
    as in bench/bench_trace.h."""
    weight = 1 / rng.uniform(0.001, 1, (HEADS, 1, TOKENS)).astype(np.float32)
    distance = np.arange(TOKENS)[:, None] - np.arange(TOKENS)[None, :]
    rows = np.where(distance >= 0, weight / (np.maximum(distance, 0) + 8), 0)
    return (rows / rows.sum(axis=2, keepdims=True)).astype(np.float16)


def streaming(rows, _rng):
    recent, kept = BUDGET - SINKS, 0.0
    for t in range(TOKENS):
        row = rows[:, t, :t + 1].astype(np.float32)
        first = max(SINKS, t - recent)
        kept += row[:, :SINKS].sum() + row[:, first:].sum() if t > BUDGET else row.sum()
    return kept


def reservoir(rows, rng):
    """Algorithm R over the tokens that left the recent window, drawn for each head on its own."""
    recent, heads, kept, entered = (BUDGET - SINKS) // 2, np.arange(HEADS), 0.0, 0
    places = BUDGET - SINKS - recent
    middle = np.zeros((HEADS, places), int)
    seen = np.zeros((HEADS, TOKENS), bool)
    for t in range(TOKENS):
        seen[:, t] = True
        kept += (rows[:, t, :t + 1].astype(np.float32) * seen[:, :t + 1]).sum()
        leaver = t - recent
        if leaver < SINKS:
            continue
        entered += 1
        if entered <= places:
            middle[:, entered - 1] = leaver
            continue
        drawn = rng.integers(entered, size=HEADS)
        taken = drawn < places
        seen[heads[~taken], leaver] = False
        seen[heads[taken], middle[heads[taken], drawn[taken]]] = False
        middle[heads[taken], drawn[taken]] = leaver
    return kept


def h2o(rows, _rng):
    recent, heads, kept = BUDGET // 2, np.arange(HEADS), 0.0
    seen, scores = np.zeros((HEADS, TOKENS), bool), np.zeros((HEADS, TOKENS), np.float32)
    for t in range(TOKENS):
        seen[:, t] = True
        row = rows[:, t, :t + 1].astype(np.float32) * seen[:, :t + 1]
        mass = row.sum(axis=1, keepdims=True)
        kept += mass.sum()
        scores[:, :t + 1] += row / mass
        if t >= BUDGET:
            older = t + 1 - recent
            worst = np.where(seen[:, :older], scores[:, :older], np.inf).argmin(axis=1)
            seen[heads, worst] = False
    return kept


def rates():
    """Rows a second of each loop, by its name."""
    rng = np.random.default_rng(1)
    rows = make_rows(rng)
    return {loop.__name__: HEADS * TOKENS / min(timed(loop, rows, rng) for _ in range(TIMES))
            for loop in (streaming, reservoir, h2o)}


def timed(loop, rows, rng):
    start = time.perf_counter()
    loop(rows, rng)
    return time.perf_counter() - start
