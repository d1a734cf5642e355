"""Computes the means after the first loss from a results file's series, and compares.

Usage: after_loss_reference.py RESULTS.db LINES.jsonl
RESULTS.db is a replay of a trace of at most 1,024 tokens, so that its series have one point per query;
LINES.jsonl is what the same replay wrote with --json. A loss begins with the first query that sees fewer
tokens than there are. Nothing here uses kvcheck's own formula, which scales the means over all queries.
"""
import json
import sqlite3
import sys

import numpy as np

METRICS = ["retained_mass", "kl_to_dense", "topk_overlap", "output_error"]
SIZES = ["visible", "stored"]


def main(results, lines):
    database = sqlite3.connect(results)
    cells = [json.loads(line) for line in open(lines)]
    cells = {(cell["spec"], cell["seed"]): cell for cell in cells if cell["type"] == "cell"}
    worst, compared = 0.0, 0

    def compare(got, expected):
        nonlocal worst, compared
        if got is None:
            got = np.nan
        if np.isnan(got) != np.isnan(expected):
            sys.exit(f"found {got}, expected {expected}")
        if not np.isnan(expected):
            worst, compared = max(worst, abs(got - expected)), compared + 1

    for key, spec, seed, tokens in database.execute(
            "SELECT cells.id, spec, seed, tokens FROM cells JOIN traces ON traces.id = cells.trace"):
        columns = ", ".join(METRICS + SIZES)
        rows = np.array(database.execute(
            f"SELECT {columns} FROM series WHERE cell = ? ORDER BY ordinal", (key,)).fetchall(), float)
        assert len(rows) == tokens
        loses = np.flatnonzero(rows[:, 4] < np.arange(1, tokens + 1))
        first = int(loses[0]) if len(loses) else tokens
        stored = database.execute("SELECT query FROM first_losses WHERE cell = ?", (key,)).fetchone()
        if stored != (first,):
            sys.exit(f"{spec}: first loss {stored}, expected {first}")
        means = rows[first:].mean(axis=0) if first < tokens else np.full(len(METRICS + SIZES), np.nan)
        cell = cells[spec, int(seed)]
        for name, mean in zip(METRICS + [size + "_mean" for size in SIZES], means):
            compare(cell[name + "_after"], mean)
        if first == tokens:
            continue
        columns = ", ".join(f"avg({name})" for name in METRICS)
        view = database.execute(f"SELECT {columns} FROM heads_after WHERE cell = ?", (key,)).fetchone()
        for got, mean in zip(view, means):
            compare(got, mean)
    print(f"{len(cells)} cells, {compared} numbers, largest difference {worst:.2e}")
    return 0 if compared > 0 and worst < 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
