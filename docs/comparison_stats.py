"""The statistical tests of docs/comparison.md."""
import math
import random

from comparison_open import correlation
from measuring import median

FLIPS = 100000
ROUNDING = 1e-7  # caches that keep the same rows may sum them in another order


def flat(parts):
    return [value for text in parts for value in text]


def paired(differences):
    """The p-value of a two-sided paired test by random sign flips, with the same draws in every call. The
    sum of eight differences is looked up by their eight signs."""
    tables = []
    for first in range(0, len(differences), 8):
        sums = [0.0]
        for d in differences[first:first + 8]:
            sums = [s - d for s in sums] + [s + d for s in sums]
        tables.append(sums * (256 // len(sums)))
    signs = random.Random(1)
    seen = abs(sum(differences)) - 1e-12
    extreme = sum(abs(sum(table[byte] for table, byte in zip(tables, signs.randbytes(len(tables))))) >= seen
                  for _ in range(FLIPS))
    return (extreme + 1) / (FLIPS + 1)


def holm(values):
    """The p-values corrected for their number by Holm's method: with a threshold of 0.05, at most one in
    twenty such sets has any false positive."""
    adjusted, largest = {}, 0.0
    for rank, key in enumerate(sorted(values, key=values.get)):
        largest = max(largest, min(1.0, (len(values) - rank) * values[key]))
        adjusted[key] = largest
    return adjusted


def short(p, up=False):
    """A small number with one digit, a larger one with two decimals; rounded up if `up` is set."""
    if p >= 0.005:
        return f"{p:.2f}"
    exponent = math.floor(math.log10(p))
    digit = (math.ceil if up else round)(p / 10 ** exponent)
    return f"{digit}e{exponent}" if digit < 10 else f"1e{exponent + 1}"


class Neighbours:
    """For each row, the text of the corrected p-value against the next row of its table."""

    def __init__(self, tables):
        values, follow = {}, []
        self.shown = {}
        for rows in tables:
            for row, following in zip(rows, rows[1:]):
                parts = [[x - y for x, y in zip(*texts)]
                         for texts in zip(row.open["parts"], following.open["parts"])]
                if max(map(abs, flat(parts))) > ROUNDING:
                    values[row.name] = paired(flat(parts))
                    follow.append(correlation(flat(text[:-2] for text in parts),
                                              flat(text[1:-1] for text in parts)))
                else:
                    self.shown[row.name] = "same"
        self.tests = len(values)
        least = self.tests / (FLIPS + 1)
        self.floor = short(least, up=True)
        self.follow = median(follow)
        for name, p in holm(values).items():
            self.shown[name] = f"< {self.floor}" if p <= least * (1 + 1e-9) else short(p)


def ranks(values):
    """Ranks from 1 for the greatest value; equal values share the mean of their ranks."""
    return [sum(v > value for v in values) + (1 + sum(v == value for v in values)) / 2 for value in values]


def spearman(a, b):
    return correlation(ranks(a), ranks(b))
