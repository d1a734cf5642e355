"""Replays a q/k/v trace in a few lines of NumPy and compares with what kvcheck printed.

Usage: replay_reference.py TRACE RESULTS.jsonl
RESULTS are the lines of `kvcheck replay --json FILE --per-head`. Everything here is written from the
definitions (attend, then trim; absolute positions; residents shared per kv-head), not from kvcheck.
"""
import json
import re
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


def replay(rows, name, sinks, recent, budget, draw):
    """Mean retained mass per query head of one unit. rows [heads, tokens, tokens], dense."""
    heads, tokens, _ = rows.shape
    residents, score, retained = [], {}, np.zeros(heads)
    for t in range(tokens):
        residents.append(t)
        seen = rows[:, t, residents]
        kept = seen.sum(axis=1)
        retained += kept
        votes = (seen / kept[:, None]).mean(axis=0)
        for r, p in enumerate(residents):
            score[p] = votes[r] if name == "tova" else score.get(p, 0.0) + votes[r]
        if len(residents) <= budget:
            continue
        leaver = t - recent                   # it has just dropped out of the recent tokens
        middle = [p for p in residents if sinks <= p <= leaver]
        if name in ("streaming", "window"):
            victim = leaver
        elif name in ("h2o", "tova"):
            victim = min(middle, key=lambda p: (score[p], p))
        elif name == "reservoir":             # newcomer number M enters with k / M, for one of the k
            size, number = len(middle) - 1, leaver - sinks + 1
            enters = draw(number, leaver, 0) < size
            victim = middle[draw(size, leaver, 1)] if enters else leaver
        residents.remove(victim)
    return retained / tokens


def main(trace, results):
    meta, tensors = read_safetensors(trace)
    heads, kv_heads = int(meta["query_heads"]), int(meta["kv_heads"])
    dims, theta = int(meta["rope_dims"]), float(meta["rope_theta"])
    group = heads // kv_heads
    lines = [json.loads(line) for line in open(results)]
    got = {(l["spec"], l["seed"], l["layer"], l["head"]): l["retained_mass"]
           for l in lines if l["type"] == "head"}
    layers = sorted({key[2] for key in got})
    cells = sorted({key[:2] for key in got})
    dense, worst = {}, 0.0
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
        for layer in layers:
            for kv in range(kv_heads):
                unit = slice(kv * group, (kv + 1) * group)
                own = seed_for(seed, name)
                draw = lambda bound, position, i: below(bound, own, layer, kv, position, i)
                expected = replay(dense[layer][unit], name, sinks, recent, budget, draw)
                for i, value in enumerate(expected):
                    worst = max(worst, abs(value - got[spec, seed, layer, kv * group + i]))
    print(f"{len(cells)} cells, {len(got)} heads, largest difference {worst:.2e}")
    return 0 if len(got) > 0 and worst < 1e-5 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
