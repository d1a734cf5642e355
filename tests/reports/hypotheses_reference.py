"""Computes what `kvcheck hypotheses` decides of replays from their lines, and compares.

Usage: hypotheses_reference.py VERDICTS.jsonl LINES.jsonl

VERDICTS.jsonl is from kvcheck hypotheses --json, LINES.jsonl from kvcheck replay --json. The conditions are of
the measure retained_mass. Means, standard deviations over seeds, ratios and their intervals are computed here
from their definitions; of kvcheck's own code only the addresses of random numbers are repeated.
"""
import json
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from compare_reference import RESAMPLES, bca, below, bisect, normal_cdf  # noqa: E402


def cells_of(path):
    """{(policy, budget): [trace][seed]}"""
    cells = {}
    for line in open(path):
        cell = json.loads(line)
        if cell["type"] == "cell":
            traces = cells.setdefault("%s:budget=%s" % (cell["policy"], cell["budget"]), {})
            traces.setdefault(cell["trace"], []).append(cell["retained_mass_after"])
    return {spec: np.array(list(traces.values())) for spec, traces in cells.items()}


def ratio_of(a, b, draws):
    n, ratio = len(a), a.sum() / b.sum()
    if n < 6:
        return ratio, math.nan, math.nan
    ratios = np.sort([a[row].sum() / b[row].sum() for row in draws])
    near = 1e-9 * abs(ratio)
    share = ((ratios < ratio - near).sum() + (ratios <= ratio + near).sum() + 1) / 2 / (RESAMPLES + 1)
    bias = bisect(normal_cdf, share, -10, 10)
    without = np.array([np.delete(a, i).sum() / np.delete(b, i).sum() for i in range(n)])
    pull = without.mean() - without
    acceleration = (pull**3).sum() / (6 * (pull**2).sum() ** 1.5)

    def limit(p):
        z = bias + bisect(normal_cdf, p, -10, 10)
        at = normal_cdf(bias + z / (1 - acceleration * z)) * RESAMPLES
        return ratios[max(0, math.ceil(at) - 1)]

    return ratio, limit(0.025), limit(0.975)


def verdict_of(low, high, condition):
    above, below_ = condition.get("above", -math.inf), condition.get("below", math.inf)
    if math.isnan(low):
        return "not decided"
    if high <= above or low >= below_:
        return "does not hold"
    return "holds" if low > above and high < below_ else "not decided"


def main():
    verdicts, lines = sys.argv[1:]
    cells = cells_of(lines)
    worst, count = 0.0, 0
    for line in open(verdicts):
        for condition in json.loads(line)["conditions"]:
            def values(spec):
                seeds = cells[spec]
                return seeds.std(axis=1, ddof=1) if condition["spread"] else seeds.mean(axis=1)

            a = values(condition["of"])
            n = len(a)
            draws = [[below(n, 1, 0, row, i, 0) for i in range(n)] for row in range(RESAMPLES)]
            if condition["quantity"] == "ratio":
                expected = ratio_of(a, values(condition["against"]), draws)
            else:
                if condition["quantity"] == "difference":
                    a = a - values(condition["against"])
                expected = (a.mean(), *bca(a, draws)) if n >= 6 else (a.mean(), math.nan, math.nan)
            found = [math.nan if condition[name] is None else condition[name] for name in ("value", "low", "high")]
            for want, got in zip(expected, found):
                if math.isnan(want) != math.isnan(got):
                    sys.exit("%s: expected %r, found %r" % (condition, expected, found))
                if not math.isnan(want):
                    worst = max(worst, abs(want - got))
            if verdict_of(expected[1], expected[2], condition) != condition["verdict"]:
                sys.exit("%s: another verdict of %r" % (condition, expected))
            count += 1
    print("%d conditions, the largest difference is %.1e" % (count, worst))
    if worst > 1e-9 or count == 0:
        sys.exit("differs by more than 1e-9, or nothing was compared")


if __name__ == "__main__":
    main()
