"""Computes statistics of reports/numbers/statistics.h in NumPy, from their definitions.

Usage: statistics_reference.py < LINES, where a line is one of
    wilson SHARES       mean and ends of Wilson's 95 % interval of the mean of shares
    spearman A ; B      the rank correlation of two lists
It prints the numbers of each line on a line.
"""
import sys
from statistics import NormalDist

import numpy as np


def wilson(shares):
    """Both ends solve |mean - p| = z sqrt(p (1 - p) / n), which is a quadratic equation in p."""
    n, mean, z = len(shares), shares.mean(), NormalDist().inv_cdf(0.975)
    ends = np.roots([1 + z * z / n, -2 * mean - z * z / n, mean * mean])
    return [mean, *np.sort(np.clip(ends.real, 0, 1))]


def ranks(values):
    """Equal values have the mean of their ranks."""
    return np.array([(values < one).sum() + ((values == one).sum() + 1) / 2 for one in values])


def numbers(text):
    return np.array(text.split(), dtype=float)


for line in sys.stdin:
    kind, rest = line.split(maxsplit=1)
    if kind == "wilson":
        print(*wilson(numbers(rest)))
    else:
        print(np.corrcoef(*(ranks(numbers(part)) for part in rest.split(";")))[0, 1])
