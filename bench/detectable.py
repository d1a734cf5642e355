"""How often random signs find the difference that the column `detectable` of kvcheck compare names.

Usage: detectable.py

Draws 300 samples of normal differences for each number of texts and of tests. One test has the difference that a
t-test at 0.05 / tests finds with probability 0.8, and the others have none. Prints texts, tests and the share of samples
in which the largest statistic of all tests under common signs finds it at 0.05. Takes a minute or two, with NumPy.
"""
import itertools
import math

import numpy as np

SAMPLES = 300


def t_cdf(x, degrees):
    """By Simpson's rule after x = tan(u) sqrt(degrees)."""
    u = np.linspace(-math.pi / 2, math.atan(x / math.sqrt(degrees)), 20001)
    weights = np.ones(len(u))
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    integral = float(weights @ np.cos(u) ** (degrees - 1)) * (u[1] - u[0]) / 3
    return integral * math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(math.pi)


def t_quantile(p, degrees):
    low, high = 0, 500
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if t_cdf(middle, degrees) < p else (low, middle)
    return low


def share_found(texts, tests, draws):
    if texts <= 12:
        signs = np.array(list(itertools.product([-1, 1], repeat=texts)))
    else:
        signs = draws.choice([-1, 1], size=(4000, texts))
    shift = (t_quantile(1 - 0.025 / tests, texts - 1) + t_quantile(0.8, texts - 1)) / math.sqrt(texts)
    found = 0
    for _ in range(SAMPLES):
        values = draws.normal(size=(tests, texts))
        values[0] += shift
        scale = np.sqrt((values**2).sum(axis=1))
        largest = (np.abs(signs @ values.T) / scale).max(axis=1)
        found += (largest >= abs(values[0].sum()) / scale[0] - 1e-12).mean() <= 0.05
    return found / SAMPLES


if __name__ == "__main__":
    generator = np.random.default_rng(1)
    for n in (6, 8, 12, 16):
        for m in (1, 20, 100):
            print(n, m, round(share_found(n, m, generator), 2), flush=True)
