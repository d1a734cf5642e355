"""Computes in NumPy what a replay of a trace of some queries must print, and compares.

Usage: sampled_reference.py TRACE RESULTS.jsonl
TRACE is a q/k/v trace whose queries were drawn (K/N, no spans); RESULTS.jsonl are the lines of `kvcheck replay
--json FILE` with window and streaming policies at chunk 1. Written from the definitions: the retained mass of each
recorded query, the mean of each block weighed by its queries, and Cochran's variance of a stratified mean.
"""
import json
import re
import sys

import numpy as np

from replay_reference import read_safetensors, rotate


def t_quantile(degrees):
    """Student's 0.975 quantile by the expansion of Cornish and Fisher: 1e-5 from 20 degrees on."""
    z = 1.959963984540054
    terms = [(z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96,
             (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384]
    return z + sum(term / degrees**(i + 1) for i, term in enumerate(terms))


def retained(meta, tensors, sinks, recent):
    """[queries]: the mean over all heads of the mass that each recorded query's visible keys have."""
    queries, total, heads = tensors["queries"], 0, 0
    dims, theta, layout = int(meta["rope_dims"]), float(meta["rope_theta"]), meta["rope_layout"]
    for layer in sorted({int(name.split(".")[1]) for name in tensors if name.startswith("layers.")}):
        q, k = (tensors["layers.%d.%s" % (layer, part)] for part in "qk")
        whole = np.zeros((q.shape[0], k.shape[1], q.shape[2]))
        whole[:, queries] = q
        q, k = rotate(whole, dims, theta, layout)[:, queries], rotate(k, dims, theta, layout)
        for head in range(q.shape[0]):
            scores = q[head] @ k[head * k.shape[0] // q.shape[0]].T / np.sqrt(q.shape[2])
            position = np.arange(scores.shape[1])
            scores[position[None] > queries[:, None]] = -np.inf
            mass = np.exp(scores - scores.max(1, keepdims=True))
            mass /= mass.sum(1, keepdims=True)
            seen = (position < sinks)[None] | (position[None] >= queries[:, None] - recent)
            total, heads = total + (mass * seen).sum(1), heads + 1
    return total / heads


def estimate(values, queries, tokens, block, first):
    """The mean over the queries from `first` on, and half of its 95 % interval."""
    mean = variance = over_degrees = 0
    for begin in range(0, tokens, block):
        begin, end = max(begin, first), min(begin + block, tokens)
        if begin >= end:
            continue
        of_block = values[(queries >= begin) & (queries < end)]
        n, size = len(of_block), end - begin
        assert n >= 2, "this reference joins no strata"
        mean += size * of_block.mean()
        part = size * (size - n) * of_block.var(ddof=1) / n
        variance, over_degrees = variance + part, over_degrees + part**2 / (n - 1)
    count = tokens - first
    return mean / count, t_quantile(variance**2 / over_degrees) * np.sqrt(variance) / count


def main():
    meta, tensors = read_safetensors(sys.argv[1])
    queries, block = tensors["queries"], int(meta["query_design"].split("/")[1])
    compared = 0
    for line in open(sys.argv[2], encoding="utf-8"):
        found = json.loads(line)
        sinks, recent = (int((re.search(name + r"=(\d+)", found["spec"]) or [0, 0])[1])
                         for name in ("sinks", "recent"))
        values = retained(meta, tensors, sinks, recent)
        mean, half = estimate(values, queries, found["tokens"], block, found["first_loss"])
        for name, own in (("retained_mass_after", mean), ("retained_mass_after_half_width", half)):
            if abs(found[name] - own) > 1e-5:
                sys.exit("%s: %s is %r; expected %r" % (found["spec"], name, found[name], own))
            compared += 1
    print("%d numbers agree" % compared)
    if compared < 4:
        sys.exit("too few numbers were compared")


if __name__ == "__main__":
    main()
