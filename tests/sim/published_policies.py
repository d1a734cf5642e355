"""Which tokens keydiff, lagkv, rkv, q-filters and expected-attention evict, and when: their public code in NumPy.

Usage: published_policies.py TRACE RESULTS.db PROMPT UNITS
RESULTS.db is the file of `kvcheck replay TRACE --prompt PROMPT -o FILE`, of so many UNITS. Each function
states what a public program computes, in double precision; nothing here is taken from kvcheck. Keys are those
that caches store, rotated to their positions. Where the programs leave the order of equal scores to
torch.topk, the older token is evicted first, as kvcheck does, and a sink never.
"""
import re
import sys

import numpy as np

from replay_reference import read_safetensors, recorded_evictions, rotate, trimmer


def keydiff(cache):
    """NVIDIA/kvpress, KeyDiffPress: minus the cosine with the mean of all keys of unit length."""
    units = cache.keys / np.linalg.norm(cache.keys, axis=1, keepdims=True)
    anchor = units.mean(axis=0)
    return -(units @ anchor) / np.linalg.norm(anchor)


def lag_scores(states, lag):
    """Of all partitions but the last: the softmax of the deviations of each token's channels, once they are
    placed between the extremes of the next partition. torch.std divides by the channels less one."""
    states = states.reshape(-1, lag, states.shape[1])
    low = states[1:].min(axis=1, keepdims=True)
    high = states[1:].max(axis=1, keepdims=True)
    deviations = ((states[:-1] - low) / (high - low)).std(axis=2, ddof=1)
    weights = np.exp(deviations - deviations.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def lagkv(cache, sinks=4, lag=128):
    """NVIDIA/kvpress, LagKVPress without cross scoring: in each partition the rank of the mean of the scores of
    keys and values, as a share of the partition; 1 for the sinks and for the last two pieces."""
    length = len(cache.keys)
    scores = np.ones(length)
    if length < sinks + 2 * lag:
        scores[sinks:] = np.arange(length - sinks) / (length - sinks)
        return scores
    end = sinks + (length - sinks) // lag * lag
    both = (lag_scores(cache.keys[sinks:end], lag) + lag_scores(cache.values[sinks:end], lag)) / 2
    scores[sinks:end - lag] = (both.argsort(axis=1).argsort(axis=1) / lag).ravel()
    return scores


def rkv(cache, window=8, kernel=7, mix=0.1, threshold=0.5):
    """Zefan-Cai/R-KV, r1_kv.py and utils.py: of all but the last `window` tokens, the attention of the last
    queries (a softmax over these tokens, its mean over queries, the largest of neighbours) mixed with the
    redundancy (a softmax over all tokens of the mean cosine with others). Each row of the table of cosines
    loses its last entry above the threshold, or its first entry if none is."""
    length, dim = cache.keys.shape
    logits = cache.queries[-window:] @ cache.keys[:-window].T / np.sqrt(dim)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    attention = (weights / weights.sum(axis=1, keepdims=True)).mean(axis=0)
    reach = kernel // 2
    pooled = np.array([attention[max(i - reach, 0):i + reach + 1].max() for i in range(len(attention))])
    units = cache.keys / (np.linalg.norm(cache.keys, axis=1, keepdims=True) + 1e-8)
    cosines = units @ units.T
    np.fill_diagonal(cosines, 0)
    last_similar = np.where(cosines > threshold, np.arange(length), 0).max(axis=1)
    cosines[np.arange(length), last_similar] = 0
    mean = cosines.mean(axis=0)
    redundancy = np.exp(mean - mean.max())
    redundancy = redundancy / redundancy.sum()
    scores = np.full(length, np.inf)
    scores[:-window] = mix * pooled - (1 - mix) * redundancy[:-window]
    return scores


def q_filters(cache, renew=64):
    """NathanGodey/qfilters, make_filters.py and hf_cache.py: the projection of keys on the first right singular
    vector of queries. Here they are the queries so far, and their mean orients the vector (kvcheck's rule)."""
    if len(cache.queries) - cache.filtered >= renew or cache.filtered == 0:
        cache.filtered = len(cache.queries)
        direction = np.linalg.svd(cache.queries, full_matrices=False)[2][0]
        cache.filter = direction * np.sign(cache.queries.mean(axis=0) @ direction)
    return cache.keys @ cache.filter


def expected_attention(cache, sinks=4, future=512, epsilon=0.01):
    """NVIDIA/kvpress, ExpectedAttentionPress: the attention that each key but the first would get from queries
    before rotation, without the first, if they were normally distributed and stood at the next positions, plus
    epsilon, times the length of the value."""
    queries = cache.plain[sinks:len(cache.queries)]
    mean = queries.mean(axis=0)
    spread = (queries - mean).T @ (queries - mean) / len(queries)
    ahead = np.eye(queries.shape[1])[:, None].repeat(len(cache.queries) + future, axis=1)
    mean_rotation = cache.rotate(ahead)[:, -future:].mean(axis=1).T
    keys, values, dim = cache.keys[sinks:], cache.values[sinks:], queries.shape[1]
    logits = keys @ (mean_rotation @ mean) / np.sqrt(dim)
    logits += np.einsum("ni,ij,nj->n", keys, mean_rotation @ spread @ mean_rotation.T, keys) / (2 * dim)
    weights = np.exp(logits - logits.max())
    scores = (weights / weights.sum() + epsilon) * np.linalg.norm(values, axis=1)
    return np.concatenate([np.full(sinks, np.inf), scores])


class Cache:
    """What is resident of one unit: a row of the trace for each token."""

    def __init__(self, queries, keys, values, plain, rotate_rows):
        self.all, self.plain, self.rotate = (queries, keys, values), plain, rotate_rows
        self.residents = np.arange(0)
        self.filtered, self.filter = 0, None

    def add(self, token):
        self.residents = np.append(self.residents, token)
        queries, keys, values = self.all
        self.queries = queries[:token + 1]
        self.keys, self.values = keys[self.residents], values[self.residents]

    def evict(self, rows):
        gone = self.residents[rows]
        self.residents = np.setdiff1d(self.residents, gone)
        return gone


def lowest(scores, count):
    """Of each head's scores, the rows of its lowest."""
    return [np.lexsort((np.arange(len(row)), row))[:count] for row in scores]


def lowest_of_all(scores, kept, safe):
    """NVIDIA/kvpress, AdaKVPress: the rows of each head that are among the lowest of all heads of the layer, after
    the highest of each head have been made safe. How many is kvcheck's rule: in the code the sinks are among them."""
    heads, rows = scores.shape
    scores = scores.copy()
    for row in scores:
        row[np.argsort(-row, kind="stable")[:safe]] = np.inf
    order = np.argsort(scores, axis=None, kind="stable")[:heads * (rows - kept)]
    return [np.sort(order[order // rows == head] % rows) for head in range(heads)]


def evictions(spec, units, prompt):
    """Of each unit, how many tokens were seen when each token was evicted. Several units share a budget."""
    tokens = len(units[0][0])
    fields = dict(re.findall(r"([a-z-]+)=([^,;]+)", spec))
    budget = int(fields["budget"]) if "budget" in fields else prompt * int(100 * float(fields["ratio"])) // 100
    chunk, slack = int(fields.get("chunk", 1)), int((re.search(r"lazy:(\d+)", spec) or "00")[1])
    sinks, recent = int(fields["sinks"]), int(fields["recent"])
    scorers = {"keydiff": keydiff, "lagkv": lagkv, "rkv": rkv, "q-filters": q_filters,
               "expected-attention": expected_attention}
    score = scorers[re.match("[a-z-]+", spec)[0]]
    trims = trimmer(spec, budget, prompt, 0)
    caches = [Cache(*vectors) for vectors in units]
    evicted = np.full((len(units), tokens), tokens + 1)
    for token in range(tokens):
        for cache in caches:
            cache.add(token)
        seen, rows = token + 1, len(caches[0].residents)
        if seen % chunk and seen < tokens or rows <= budget + slack or not trims(seen, rows):
            continue
        scores = np.array([score(cache) for cache in caches])
        scores[:, :sinks] = scores[:, rows - recent:] = np.inf
        shared = re.search("budgets=adaptive:([0-9.]+)", spec)
        if shared:
            gone = lowest_of_all(scores, budget, sinks + int((budget - sinks - recent) * float(shared[1])))
        else:
            gone = lowest(scores, rows - budget)
        for cache, own, of_unit in zip(caches, gone, evicted):
            of_unit[cache.evict(own)] = seen
    return evicted


def main(trace, stored, prompt, count):
    meta, tensors = read_safetensors(trace)
    dims, theta, layout = int(meta["rope_dims"]), float(meta["rope_theta"]), meta["rope_layout"]
    assert meta["query_heads"] == meta["kv_heads"], "the emulation of rkv has one query head for each kv-head"
    rotated = {name: rotate(tensors[name], dims, theta, layout) for name in tensors if name[-2:] in (".q", ".k")}
    same, different = 0, []
    recorded = recorded_evictions(stored)
    groups = {}  # units that share a budget: those of a layer, or one alone
    for spec, layer, head in recorded:
        groups.setdefault((spec, layer, None if "budgets=adaptive" in spec else head), []).append(head)
    for (spec, layer, _), heads in groups.items():
        at = f"layers.{layer}."
        units = [(rotated[at + "q"][head], rotated[at + "k"][head], tensors[at + "v"][head].astype(np.float64),
                  tensors[at + "q"][head].astype(np.float64), lambda rows: rotate(rows, dims, theta, layout))
                 for head in heads]
        for head, expected in zip(heads, evictions(spec, units, int(prompt))):
            found = recorded[spec, layer, head]
            if np.array_equal(expected, found):
                same += 1
            else:
                different.append((spec, layer, head, int((expected != found).sum())))
    print(f"{same} of {len(recorded)} units evict the same tokens at the same times; others "
          f"(spec, layer, head, tokens): {different}")
    return 0 if same == int(count) and not different else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
