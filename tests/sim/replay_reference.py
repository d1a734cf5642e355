"""Replays a q/k/v trace in a few lines of NumPy and compares with what kvcheck printed.

Usage: replay_reference.py TRACE RESULTS.jsonl [RESULTS.db PROMPT QUESTION]
RESULTS.jsonl are the lines of `kvcheck replay --json FILE --per-head`. Everything here is written from the
definitions (attend, then trim; absolute positions; residents shared per kv-head), not from kvcheck. With
RESULTS.db, the file of -o, the tokens that were evicted, and when, are compared too. PROMPT and QUESTION are
the tokens of each, for specs that compress a prompt.
"""
import json
import re
import sqlite3
import struct
import sys

import numpy as np


def read_safetensors(path):
    raw = open(path, "rb").read()
    size = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + size])
    meta = header.pop("__metadata__")
    kinds = {"F16": np.float16, "F32": np.float32, "I32": np.int32, "I64": np.int64, "U8": np.uint8}
    tensors = {}
    for name, entry in header.items():
        a, b = entry["data_offsets"]
        flat = np.frombuffer(raw[8 + size + a:8 + size + b], kinds[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return meta, tensors


def rotate(x, dims, theta, layout):
    """x [heads, tokens, dim], rotated by each token's own position."""
    x = x.astype(np.float64).copy()
    angle = np.arange(x.shape[1])[:, None] * theta ** (-np.arange(0, dims, 2) / dims)
    cos, sin = np.cos(angle), np.sin(angle)
    a = slice(0, dims, 2) if layout == "interleaved" else slice(0, dims // 2)
    b = slice(1, dims, 2) if layout == "interleaved" else slice(dims // 2, dims)
    even, odd = x[..., a].copy(), x[..., b].copy()
    x[..., a], x[..., b] = even * cos - odd * sin, even * sin + odd * cos
    return x


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def seed_for(seed, name):
    """FNV-1a of the policy's name, so that policies do not share their draws."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return seed ^ value


def below(bound, seed, layer, head, position, index):
    """A uniform integer below `bound`: the product's upper half, unless its lower half is rejected."""
    for attempt in range(100):
        word = philox([index, attempt, position, layer << 16 | head], [seed & 0xFFFFFFFF, seed >> 32])
        product = (word[1] << 32 | word[0]) * bound
        if product % 2**64 >= (2**64 - bound) % bound:
            return product >> 64


def trimmer(spec, budget, prompt, question):
    """Whether a cache with so many rows is trimmed to its budget once so many tokens were seen."""
    word, _, then = (re.search("compress=([^;]*)", spec) or [None, "always"])[1].partition("+")
    first = {"always": 0, "never": 1 << 40, "prompt": prompt, "question": prompt + question}[word]

    def trims(seen, rows):
        if seen <= first:
            return seen == first and rows > budget
        if then == "grow":
            return False
        return rows >= budget + int(then.partition(":")[2] or 1)
    return trims


def votes_of(queries, middle):
    """SnapKV's: the mass that the last queries paid, the largest of three neighbours on either side."""
    mass = queries.mean(axis=0).sum(axis=0)[middle]
    return dict(zip(middle, (mass[max(i - 3, 0):i + 4].max() for i in range(len(middle)))))


def replay(rows, name, sinks, recent, budget, draw, trims):
    """Mean retained mass per query head of one unit, over all queries and over those from the first one on
    that cannot see every token (None without one), and how many tokens were seen when each was evicted.
    rows [heads, tokens, tokens], dense."""
    heads, tokens, _ = rows.shape
    residents, score, retained, after, losing = [], {}, np.zeros(heads), np.zeros(heads), 0
    evicted = np.full(tokens, tokens + 1)
    for t in range(tokens):
        residents.append(t)
        seen = rows[:, t, residents]
        kept = seen.sum(axis=1)
        retained += kept
        if losing > 0 or len(residents) <= t:
            after, losing = after + kept, losing + 1
        votes = (seen / kept[:, None]).mean(axis=0)
        for r, p in enumerate(residents):
            score[p] = votes[r] if name == "tova" else score.get(p, 0.0) + votes[r]
        if not trims(t + 1, len(residents)):
            continue
        leaver = t - recent                   # the newest token that is not a recent one
        middle = [p for p in residents if sinks <= p <= leaver]
        if name in ("streaming", "window"):
            order = middle
        elif name in ("h2o", "tova"):
            order = sorted(middle, key=lambda p: (score[p], p))
        elif name == "snapkv":                # all of its queries saw every token
            pooled = votes_of(rows[:, t - 31:t + 1], middle)
            order = sorted(middle, key=lambda p: (pooled[p], p))
        elif name == "reservoir":             # newcomer number M enters with k / M, for one of the k
            size, number = len(middle) - 1, leaver - sinks + 1
            enters = draw(number, leaver, 0) < size
            order = [middle[draw(size, leaver, 1)] if enters else leaver]
        for victim in order[:len(residents) - budget]:
            residents.remove(victim)
            evicted[victim] = t + 1
    return retained / tokens, after / losing if losing > 0 else [None] * heads, evicted


def recorded_evictions(path):
    """By spec, layer and head of each watched unit."""
    if path is None:
        return {}
    rows = sqlite3.connect(path).execute(
        "SELECT spec, layer, head, evicted_at FROM residency JOIN cells ON cells.id = residency.cell")
    return {row[:3]: np.frombuffer(row[3], np.uint32) for row in rows}


def difference(value, found):
    if value is None or found is None:
        return 0.0 if value is found else 1.0
    return abs(value - found)


def main(trace, results, stored=None, prompt=0, question=0):
    meta, tensors = read_safetensors(trace)
    heads, kv_heads = int(meta["query_heads"]), int(meta["kv_heads"])
    dims, theta = int(meta["rope_dims"]), float(meta["rope_theta"])
    group = heads // kv_heads
    lines = [json.loads(line) for line in open(results)]
    got = {(l["spec"], l["seed"], l["layer"], l["head"]): (l["retained_mass"], l["retained_mass_after"])
           for l in lines if l["type"] == "head"}
    layers = sorted({key[2] for key in got})
    cells = sorted({key[:2] for key in got})
    recorded = recorded_evictions(stored)
    dense, worst, same = {}, 0.0, 0
    for layer in layers:
        q = rotate(tensors[f"layers.{layer}.q"], dims, theta, meta["rope_layout"])
        k = rotate(tensors[f"layers.{layer}.k"], dims, theta, meta["rope_layout"])
        logits = q @ np.repeat(k, group, axis=0).transpose(0, 2, 1) / np.sqrt(q.shape[2])
        logits[:, ~np.tri(q.shape[1], dtype=bool)] = -np.inf
        weights = np.exp(logits - logits.max(axis=2, keepdims=True))
        dense[layer] = weights / weights.sum(axis=2, keepdims=True)
    for spec, seed in cells:
        name, fields = re.match(r"([a-z0-9-]+):?([^;]*)", spec).groups()
        at = dict(field.split("=") for field in fields.split(",") if "=" in field)
        sinks, recent = int(at.get("sinks", 0)), int(at.get("recent", 0))
        budget = int(at.get("budget", sinks + recent))
        if "ratio" in at:                     # of what was seen at the first trim, rounded down
            length = int(prompt) + (int(question) if ";compress=question" in spec else 0)
            budget = int(at["ratio"].replace("0.", "").ljust(3, "0")) * length // 1000
            share = {"streaming": budget - sinks, "h2o": (budget - sinks) // 2}.get(name, 0)
            recent = int(at.get("recent", share))
        trims = trimmer(spec, budget, int(prompt), int(question))
        for layer in layers:
            for kv in range(kv_heads):
                unit = slice(kv * group, (kv + 1) * group)
                own = seed_for(seed, name)
                draw = lambda bound, position, i: below(bound, own, layer, kv, position, i)
                *expected, evicted = replay(dense[layer][unit], name, sinks, recent, budget, draw, trims)
                for i, values in enumerate(zip(*expected)):
                    for value, found in zip(values, got[spec, seed, layer, kv * group + i]):
                        worst = max(worst, difference(value, found))
                if (spec, layer, kv * group) in recorded:
                    same += np.array_equal(recorded[spec, layer, kv * group], evicted)
    print(f"{len(cells)} cells, {len(got)} heads, largest difference {worst:.2e}; "
          f"{same} of {len(recorded)} watched units evict the same tokens")
    return 0 if len(got) > 0 and worst < 1e-5 and same == len(recorded) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
