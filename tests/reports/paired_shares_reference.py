"""Computes the intervals of reports/numbers/paired_shares.h from their definitions.

Usage: paired_shares_reference.py < TABLES, where a line has the numbers of items that both answer rightly, the
first alone, the second alone, and neither, and the margin. It prints the difference with its limits, the ratio
with its limits, and the p-value of equality within the margin, one line each.
"""
import math
import sys
from statistics import NormalDist


def wilson(share, n, z):
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def difference(both, first, second, neither, z):
    n = both + first + second + neither
    p, q = (both + first) / n, (both + second) / n
    agreement = both * neither - first * second
    if agreement > 0:
        agreement = max(agreement - n / 2, 0)
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    phi = agreement / math.sqrt(margins) if margins else 0.0
    (l1, u1), (l2, u2) = wilson(p, n, z), wilson(q, n, z)
    below = (p - l1) ** 2 - 2 * phi * (p - l1) * (u2 - q) + (u2 - q) ** 2
    above = (u1 - p) ** 2 - 2 * phi * (u1 - p) * (q - l2) + (q - l2) ** 2
    return p - q, p - q - math.sqrt(max(0, below)), p - q + math.sqrt(max(0, above))


def outside(table, margin):
    if abs(difference(*table, 1)[0]) >= margin:
        return 1.0
    low, high = 0.0, 50.0
    for _ in range(200):
        middle = (low + high) / 2
        _, least, most = difference(*table, middle)
        low, high = (middle, high) if -margin < least and most < margin else (low, middle)
    return math.erfc(low / math.sqrt(2)) / 2


for line in sys.stdin:
    *counts, margin = line.split()
    table = [int(count) for count in counts]
    z = NormalDist().inv_cdf(0.975)
    n = sum(table)
    p, q = (table[0] + table[1]) / n, (table[0] + table[2]) / n
    (l1, u1), (l2, u2) = wilson(p, n, z), wilson(q, n, z)
    ratio = [p / q, l1 / u2, u1 / l2] if q and l2 else [math.nan] * 3
    print(*difference(*table, z), *ratio, outside(table, float(margin)))
