"""Computes what `kvcheck compare` prints from the lines of the replays, and compares.

Usage: compare_reference.py KIND COMPARED.jsonl LINES.jsonl [LINES.jsonl]
KIND is "files" (of two replays with the same traces) or "best" (the specs of one with the best of each
budget). COMPARED.jsonl is from kvcheck compare --measure retained_mass --json, LINES.jsonl from kvcheck
replay --json. Means, sign patterns, t distributions, corrections, resamples and ranks are computed here
from their definitions; of kvcheck's own code only the addresses of random numbers are repeated.
"""
import functools
import itertools
import json
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sim"))
from replay_reference import below  # noqa: E402

RESAMPLES = 10000
COUNTED = 16  # of so many texts all patterns of signs are tried
DRAWN = 20000


def values_of(path):
    """[spec, trace] of means over seeds."""
    seeds = {}
    for line in open(path):
        cell = json.loads(line)
        if cell["type"] == "cell":
            seeds.setdefault((cell["spec"], cell["trace"]), []).append(cell["retained_mass_after"])
    specs = list(dict.fromkeys(spec for spec, _ in seeds))
    traces = list(dict.fromkeys(trace for _, trace in seeds))
    return specs, np.array([[np.mean(seeds[spec, trace]) for trace in traces] for spec in specs])


def t_cdf(x, degrees):
    """By Simpson's rule on the density, after x = tan(u) sqrt(degrees), which makes the range finite."""
    upper = math.atan(x / math.sqrt(degrees))
    u = np.linspace(-math.pi / 2, upper, 200001)
    density = np.cos(u) ** (degrees - 1)
    weights = np.ones(len(u))
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    integral = float(weights @ density) * (u[1] - u[0]) / 3
    return integral * math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(
        math.pi)


def bisect(function, target, low, high):
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < target else (low, middle)
    return (low + high) / 2


def normal_cdf(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def holm(p, tests):
    order = np.argsort(p, kind="stable")
    out = np.empty(len(p))
    least = 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, p[i] * (tests - rank)))
        out[i] = least
    return out


def bca(values, draws):
    n, mean = len(values), values.mean()
    if (values == values[0]).all():
        return mean, mean
    means = np.sort([sum(values[i] for i in row) / n for row in draws])
    near = 1e-9 * np.ptp(values)
    share = ((means < mean - near).sum() + (means <= mean + near).sum() + 1) / 2 / (RESAMPLES + 1)
    bias = bisect(normal_cdf, share, -10, 10)
    left_out = np.array([np.delete(values, i).mean() for i in range(n)])
    pull = left_out.mean() - left_out
    acceleration = (pull**3).sum() / (6 * (pull**2).sum() ** 1.5)

    def limit(p):
        z = bias + bisect(normal_cdf, p, -10, 10)
        at = normal_cdf(bias + z / (1 - acceleration * z)) * RESAMPLES
        return means[max(0, math.ceil(at) - 1)]

    return limit(0.025), limit(0.975)


def ranks_of(means):
    """1 for the largest; equals share the mean of their places."""
    return np.array([(means > m).sum() + ((means == m).sum() + 1) / 2 for m in means])


@functools.lru_cache
def patterns_of(n):
    """[patterns, n] of signs. Those that are drawn come after the observed one, which counts as one more."""
    if n <= COUNTED:
        return np.array(list(itertools.product([-1, 1], repeat=n)))
    drawn = [[2 * below(2, 1, 0, draw, text, 0) - 1 for text in range(n)] for draw in range(DRAWN)]
    return np.array([[1] * n] + drawn)


def expectation(differences, margin, draws):
    n = len(differences)
    sums = np.abs(patterns_of(n) @ differences)
    error = differences.std(ddof=1) / math.sqrt(n)
    out = {"texts": n, "difference": differences.mean()}
    out["p_alone"] = (sums >= abs(differences.sum()) - 1e-12).mean()
    out["difference_low"], out["difference_high"] = bca(differences, draws)

    def cdf(x):
        return t_cdf(x, n - 1)

    out["detectable"] = (bisect(cdf, 0.975, 0, 100) + bisect(cdf, 0.8, 0, 100)) * error
    if error == 0:
        out["outside_margin_p_alone"] = float(abs(differences.mean()) >= margin)
    else:
        out["outside_margin_p_alone"] = max(1 - cdf((out["difference"] + margin) / error),
                                            cdf((out["difference"] - margin) / error))
    return out


def corrected(family):
    """The p-values of contrasts, [contrasts][texts], corrected for their number."""
    family = np.array(family)
    scale = np.sqrt((family**2).sum(axis=1))
    statistics = np.abs(patterns_of(family.shape[1]) @ family.T) / np.where(scale == 0, np.inf, scale)
    seen = np.abs(family.sum(axis=1)) / np.where(scale == 0, np.inf, scale)
    if family.shape[1] <= COUNTED:
        # How many patterns give any contrast a statistic as large as its own.
        p = (statistics.max(axis=1)[:, None] >= seen[None, :] - 1e-12).mean(axis=0)
        return np.where(scale == 0, 1.0, p)
    # Of each contrast under each pattern, and as observed: how many patterns are at least as far. Then how
    # many give the contrast, or one that was less significant, as few.
    counts = []
    for column in statistics.T:
        rounded = np.round(column, 9)
        counts.append(len(rounded) - np.searchsorted(np.sort(rounded), rounded))
    observed = np.array([column[0] for column in counts])
    order = np.argsort(-observed, kind="stable")
    p, least = np.ones(len(family)), np.full(len(statistics), len(statistics))
    for contrast in order:
        least = np.minimum(least, counts[contrast])
        p[contrast] = (least <= observed[contrast]).mean()
    for before, after in reversed(list(zip(order, order[1:]))):
        p[before] = max(p[before], p[after])
    return p


def expected_rows(kind, margin, level, lines):
    specs, values = values_of(lines[-1])
    n = values.shape[1]
    draws = [[below(n, 1, 0, row, i, 0) for i in range(n)] for row in range(RESAMPLES)]
    if kind == "files":
        before_specs, before = values_of(lines[0])
        before = before[[before_specs.index(spec) for spec in specs]]
        rows = {spec: expectation(values[i] - before[i], margin, draws) for i, spec in enumerate(specs)}
        family = list(values - before)
        tested = list(specs)
        shown = corrected(family)
    else:
        rows, tested, family, shown_at = {}, [], [], []
        budgets = [json.loads(line)["budget"] for line in open(lines[0])
                   if json.loads(line)["type"] == "cell"]
        budget_of = {json.loads(line)["spec"]: json.loads(line)["budget"] for line in open(lines[0])}
        for budget in dict.fromkeys(budgets):
            members = [i for i, spec in enumerate(specs) if budget_of[spec] == budget]
            means = values[members].mean(axis=1)
            best = members[int(means.argmax())]
            resampled = np.sort([ranks_of(values[members][:, row].sum(axis=1)) for row in draws], axis=0)
            places = ranks_of(means)
            for k, i in enumerate(members):
                if i == best:
                    rows[specs[i]] = {}
                else:
                    rows[specs[i]] = expectation(values[i] - values[best], margin, draws)
                    tested.append(specs[i])
                    shown_at.append(len(family))
                    family.append(values[i] - values[best])
                rows[specs[i]].update(rank=places[k], rank_low=resampled[249, k],
                                      rank_high=resampled[9749, k], mean=values[i].mean())
            for i, k in itertools.combinations([i for i in members if i != best], 2):
                family.append(values[i] - values[k])
        shown = corrected(family)[shown_at]

    def cdf(x):
        return t_cdf(x, n - 1)

    power = bisect(cdf, 0.8, 0, 100)
    share = ((bisect(cdf, 1 - level / len(family) / 2, 0, 1000) + power) /
             (bisect(cdf, 0.975, 0, 100) + power))
    for spec in tested:
        rows[spec]["detectable"] *= share
    outside = holm([rows[spec]["outside_margin_p_alone"] for spec in tested], len(family))
    for spec, p, out in zip(tested, shown, outside):
        row = rows[spec]
        row["p"], row["outside_margin_p"], row["tests"] = p, out, len(family)
        row["finding"] = ("same" if row["difference"] == 0 and row["detectable"] == 0 else
                          "equal" if out <= level else
                          "not shown" if p > level else
                          "better" if row["difference"] > 0 else "worse")
    return rows


def main(kind, compared, *lines):
    got = [json.loads(line) for line in open(compared)]
    rows = expected_rows(kind, got[0]["margin"], got[0]["level"], lines)
    worst, numbers = 0.0, 0
    for row in got:
        expected = rows.pop(row["spec"])
        for name, value in expected.items():
            if isinstance(value, str):
                if row[name] != value:
                    sys.exit("%s of %s is %s; expected %s" % (name, row["spec"], row[name], value))
                continue
            difference = abs(row[name] - value)
            if not difference <= 1e-9:
                sys.exit("%s of %s is %r; expected %r" % (name, row["spec"], row[name], value))
            worst, numbers = max(worst, difference), numbers + 1
    if rows:
        sys.exit("missing: %s" % list(rows))
    print("%d rows, %d numbers, largest difference %.3g" % (len(got), numbers, worst))
    return 0 if numbers > 40 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
