"""Traces of version 2 in NumPy: makes them, and replays them from the definitions in traces/FORMAT.md.

Usage: rules_reference.py make FOLDER
       rules_reference.py compare TRACE RESULTS.jsonl
`make` writes plain.safetensors (queries and keys before rotation, half, f64 tables), rotated.safetensors (the
same after it), interleaved.safetensors (other numbers, neighbours, f32 tables) and rows.npy (the attention of
the first, whose weights sum to less than 1). `compare` reads the lines of `kvcheck replay --json FILE
--per-head --top-k 4` of one of these.
"""
import json
import re
import sys

import numpy as np

TOKENS, DIM, HEADS, KV_HEADS, PAIRS = 48, 16, 4, 2, 4
LAYERS = (1, 4, 5)
TOP = 4


def made(seed, layout):
    """Random vectors and rules: each layer does something else."""
    random = np.random.default_rng(seed)
    tables = [random.uniform(0.01, 1.2, PAIRS), None, random.uniform(0.001, 0.4, PAIRS)]
    layers = []
    for i, table in enumerate(tables):
        layers.append({
            "q": random.normal(size=(HEADS, TOKENS, DIM)).astype("f4") * 2,
            "k": random.normal(size=(KV_HEADS, TOKENS, DIM)).astype("f4"),
            "v": random.normal(size=(KV_HEADS, TOKENS, DIM)).astype("f4"),
            "frequencies": table, "rope_scale": (1.25, 1, 1.1)[i], "scale": (0.4, 0.25, 0.3)[i],
            "cap": (3.0, None, 5.5)[i], "window": (None, 11, 7)[i],
            "sinks": random.normal(size=HEADS).astype("f4") * 2,
            "slopes": None if i == 0 else random.uniform(0.01, 0.3, HEADS).astype("f4")})
    return {"layers": layers, "layout": layout}


def rotated(x, rules, layout, positions):
    """x [heads, n, dim] at these positions; only the first 2 * PAIRS dimensions rotate."""
    x = x.astype(np.float64).copy()
    if rules["frequencies"] is None:
        return x
    angle = np.asarray(positions)[:, None] * rules["frequencies"].astype(np.float64)
    cos, sin = np.cos(angle) * rules["rope_scale"], np.sin(angle) * rules["rope_scale"]
    near = layout == "interleaved"
    a = slice(0, 2 * PAIRS, 2) if near else slice(0, PAIRS)
    b = slice(1, 2 * PAIRS, 2) if near else slice(PAIRS, 2 * PAIRS)
    one, other = x[..., a].copy(), x[..., b].copy()
    x[..., a], x[..., b] = one * cos - other * sin, one * sin + other * cos
    return x


def logits_of(rules, head, q, keys, at, positions):
    """Of one query at position `at` over keys at these positions; -inf where the window hides one."""
    x = rules["scale"] * (keys @ q)
    if rules["cap"] is not None:
        x = rules["cap"] * np.tanh(x / rules["cap"])
    distance = at - np.asarray(positions)
    if rules["slopes"] is not None:
        x = x - float(rules["slopes"][head]) * distance
    return np.where(distance < (rules["window"] or TOKENS + 1), x, -np.inf)


def weights_of(logits, sink):
    """The weights of the keys, and the logarithm of the denominator, which has the sink in it."""
    top = max(logits.max(), sink)
    total = np.exp(logits - top).sum() + np.exp(sink - top)
    return np.exp(logits - top) / total, top + np.log(total)


def heaviest(mass):
    order = sorted((i for i in range(len(mass)) if mass[i] > 0), key=lambda i: (-mass[i], i))
    return set(order[:TOP])


class Dense:
    """The attention of one layer without evictions."""

    def __init__(self, rules, layout):
        self.rules, self.layout = rules, layout
        self.q = rotated(rules["q"], rules, layout, range(TOKENS))
        self.k = rotated(rules["k"], rules, layout, range(TOKENS))
        self.rows, self.logits, self.sums = {}, {}, {}
        for head in range(HEADS):
            for t in range(TOKENS):
                keys = self.k[head // 2][:t + 1]
                logits = logits_of(rules, head, self.q[head, t], keys, t, range(t + 1))
                self.logits[head, t] = logits
                self.rows[head, t], self.sums[head, t] = weights_of(logits, float(rules["sinks"][head]))

    def seen(self, head, t, residents, ranks):
        """The row over these residents, and its measures."""
        rules, dense = self.rules, self.rows[head, t]
        sink = float(rules["sinks"][head])
        if ranks:
            n = len(residents)
            q = rotated(rules["q"][head, t][None, None], rules, self.layout, [n - 1])[0, 0]
            keys = rotated(rules["k"][head // 2][residents][None], rules, self.layout, range(n))[0]
            logits = logits_of(rules, head, q, keys, n - 1, range(n))
        else:
            logits = self.logits[head, t][residents]
        row, total = weights_of(logits, sink)
        if len(residents) == t + 1:
            return row, (1, 0, 1, 0)
        top = heaviest(dense)
        kept = {residents[i] for i in heaviest(row)} if ranks else set(residents)
        v = rules["v"][head // 2].astype(np.float64)
        full, part = dense @ v[:t + 1], row @ v[residents]
        before = np.where(np.isfinite(self.logits[head, t][residents]), self.logits[head, t][residents],
                          self.sums[head, t] + np.log(1e-9))
        moved = np.where(row > 0, logits - before, 0)
        kl = self.sums[head, t] - total + (row * moved).sum()
        error = np.linalg.norm(part - full) / np.linalg.norm(full)
        return row, (dense[residents].sum() / dense.sum(), kl, len(top & kept) / len(top), error)


def replay(dense, heads, spec):
    """The means of the four measures for each query head of one kv-head."""
    name, text, settings = re.match(r"([a-z0-9-]+):?([^;]*)(.*)", spec).groups()
    at = dict(field.split("=") for field in text.split(",") if "=" in field)
    sinks, recent = int(at.get("sinks", 0)), int(at.get("recent", 0))
    budget = int(at.get("budget", sinks + recent))
    ranks = "positions=in-cache" in settings
    residents, score, sums = [], {}, np.zeros((len(heads), 4))
    for t in range(TOKENS):
        residents.append(t)
        rows = []
        for i, head in enumerate(heads):
            row, measured = dense.seen(head, t, residents, ranks)
            rows.append(row)
            sums[i] += measured
        votes = np.mean(rows, axis=0)
        for rank, p in enumerate(residents):
            score[p] = votes[rank] if name == "tova" else score.get(p, 0.0) + votes[rank]
        middle = [p for p in residents if sinks <= p <= t - recent]
        if name in ("h2o", "tova"):
            middle.sort(key=lambda p: (score[p], p))
        for victim in middle[:max(len(residents) - budget, 0)]:
            residents.remove(victim)
    return sums / TOKENS


def write(path, layout, layers, applied, kind):
    """A file by hand: eight bytes of length, the header, the data."""
    def words(values):
        return ",".join("none" if value is None else repr(value) for value in values)
    rotates = [rules["frequencies"] is not None for rules in layers]
    meta = {"format": "kvcheck-trace", "version": "2", "kind": "qkv", "query_heads": str(HEADS),
            "kv_heads": str(KV_HEADS), "rope_layout": ",".join(layout if r else "none" for r in rotates),
            "rope_dims": str(2 * PAIRS), "rope_scale": words(rules["rope_scale"] for rules in layers),
            "attention_scale": words(rules["scale"] for rules in layers), "model_layers": "8",
            "soft_cap": words(rules["cap"] for rules in layers), "rope_applied": applied,
            "window": words(rules["window"] for rules in layers)}
    header, data = {"__metadata__": meta}, b""
    for number, rules in zip(LAYERS, layers):
        tensors = {"frequencies": rules["frequencies"], "sinks": rules["sinks"], "slopes": rules["slopes"]}
        for part in "qkv":
            tensors[part] = rules[part].astype("f4")
            if applied == "yes" and part != "v":
                tensors[part] = rotated(rules[part], rules, layout, range(TOKENS)).astype("f4")
        for part, tensor in tensors.items():
            if tensor is None:
                continue
            tensor = tensor.astype(kind) if part == "frequencies" else tensor
            begin, data = len(data), data + tensor.tobytes()
            header[f"layers.{number}.{part}"] = {
                "dtype": {"f4": "F32", "f8": "F64"}[tensor.dtype.str[1:]], "shape": tensor.shape,
                "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    open(path, "wb").write(len(text).to_bytes(8, "little") + text + data)


def worlds():
    half, near = made(1, "half"), made(2, "interleaved")
    for rules in near["layers"]:               # these files hold f32
        if rules["frequencies"] is not None:
            rules["frequencies"] = rules["frequencies"].astype("f4").astype("f8")
    return {"plain": half, "rotated": half, "rows": half, "interleaved": near}


def make(folder):
    for name, world in worlds().items():
        if name == "rows":
            rows = np.zeros((len(LAYERS), HEADS, TOKENS, TOKENS), "f4")
            for i, rules in enumerate(world["layers"]):
                for (head, t), row in Dense(rules, world["layout"]).rows.items():
                    rows[i, head, t, :t + 1] = row
            np.save(f"{folder}/rows.npy", rows)
            np.savez(f"{folder}/rows.npz", attention=rows, kv_heads=KV_HEADS, learned_sinks=1)
            continue
        applied = "yes" if name == "rotated" else "no"
        kind = "f4" if name == "interleaved" else "f8"
        write(f"{folder}/{name}.safetensors", world["layout"], world["layers"], applied, kind)


def compare(trace, results):
    world = worlds()[trace]
    names = ("retained_mass", "kl_to_dense", "topk_overlap", "output_error")
    lines = [json.loads(line) for line in open(results)]
    got = {(l["spec"], l["layer"], l["head"]): [l[name] for name in names]
           for l in lines if l["type"] == "head"}
    numbers = range(len(LAYERS)) if trace == "rows" else LAYERS
    worst = np.zeros(4)
    for spec in sorted({key[0] for key in got}):
        for number, rules in zip(numbers, world["layers"]):
            dense = Dense(rules, world["layout"])
            for kv in range(KV_HEADS):
                heads = [2 * kv, 2 * kv + 1]
                for head, expected in zip(heads, replay(dense, heads, spec)):
                    found = got[spec, number, head]
                    if trace == "rows":        # which have no values
                        expected[3], found[3] = 0, found[3] or 0
                    worst = np.maximum(worst, np.abs(np.array(found) - expected))
    print(f"{len(got)} heads, largest differences: " +
          ", ".join(f"{name} {value:.1e}" for name, value in zip(names, worst)))
    return 0 if len(got) > 0 and worst.max() < 1e-6 else 1


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        sys.exit(compare(*sys.argv[2:]))
