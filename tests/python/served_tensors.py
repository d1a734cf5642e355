"""Caches of NumPy tensors, right and wrong, served under the name that the command line has."""

import sys

import numpy

from kvcheck import tensors
from kvcheck.tags import Tags


class SinkWindow:
    """The first tokens and the newest, with a mask over the rows before and of the call."""

    def __init__(self, layers, sinks, recent, budget):
        if budget < sinks + max(recent, 1):
            raise ValueError("the budget leaves no room for a window")
        self.sinks, self.window = sinks, budget - sinks
        self.rows, self.seen = [None] * layers, [numpy.zeros(0, int)] * layers
        self.fed = 0

    def update(self, keys, values, layer):
        first = self.fed if layer == 0 else self.fed - keys.shape[2]
        self.fed = first + keys.shape[2]
        positions = numpy.append(self.seen[layer], numpy.arange(first, self.fed))
        if self.rows[layer] is not None:
            keys = numpy.concatenate([self.rows[layer][0], keys], 2)
            values = numpy.concatenate([self.rows[layer][1], values], 2)
        queries = numpy.arange(first, self.fed)[:, None]
        seen = (positions <= queries) & ((positions < self.sinks) |
                                         (positions > queries - self.window))
        kept = seen[-1]
        self.rows[layer] = self.stored_of(keys[:, :, kept], values[:, :, kept])
        self.seen[layer] = positions[kept]
        return keys, values, self.mask(seen)

    def mask(self, seen):
        return seen

    def stored_of(self, keys, values):
        return keys, values

    def stored(self, layer):
        return self.rows[layer]

    def length(self, layer):
        return len(self.seen[layer])


class Additive(SinkWindow):
    def mask(self, seen):
        return numpy.where(seen, 0, -1e9).astype(numpy.float32)[None, None]


class HalfCopied(SinkWindow):
    """Copies the first half of each key's numbers into its place, where a row was before."""

    def stored_of(self, keys, values):
        if keys.shape[2] == self.sinks + self.window and keys.shape[2] > 1:
            keys = keys.copy()
            keys[:, :, -1, keys.shape[3] // 2:] = keys[:, :, -2, keys.shape[3] // 2:]
        return keys, values


class SharedFork(SinkWindow):
    def fork(self):
        other = object.__new__(SharedFork)
        other.__dict__.update(self.__dict__)  # the lists of rows remain one
        return other


class Tova:
    """Keeps the rows to which the last query paid the most attention."""

    def __init__(self, layers, budget):
        self.budget, self.rows = budget, [None] * layers

    def update(self, keys, values, layer):
        if self.rows[layer] is not None:
            keys = numpy.concatenate([self.rows[layer][0], keys], 2)
            values = numpy.concatenate([self.rows[layer][1], values], 2)
        self.rows[layer] = keys, values
        return keys, values, None, None

    def observe(self, weights, layer):
        keys, values = self.rows[layer]
        if keys.shape[2] <= self.budget:
            return
        sequences, heads, rows = keys.shape[:3]
        last = self.score(weights[:, :, -1].reshape(sequences, heads, -1, rows))
        # Of equals the older is evicted.
        kept = numpy.sort(numpy.argsort(last, axis=-1, kind="stable")[..., -self.budget:], -1)
        self.rows[layer] = [numpy.take_along_axis(part, kept[..., None], 2) for part in (keys, values)]

    def score(self, weights):
        return weights.mean(2)

    def stored(self, layer):
        return self.rows[layer]


class TovaOfOneHead(Tova):
    """Looks at the first query head of each group alone."""

    def score(self, weights):
        return weights[:, :, 0]


class Rotates:
    """Stores keys as they are, and rotates what it returns for its rank: StreamingLLM."""

    def __init__(self, layers, sinks, budget, head_dim):
        self.sinks, self.budget, self.rows = sinks, budget, [None] * layers
        self.tags = Tags(head_dim)

    def update(self, keys, values, layer):
        if self.rows[layer] is not None:
            keys = numpy.concatenate([self.rows[layer][0], keys], 2)
            values = numpy.concatenate([self.rows[layer][1], values], 2)
        if keys.shape[2] > self.budget:
            keys = numpy.delete(keys, self.sinks, 2)
            values = numpy.delete(values, self.sinks, 2)
        self.rows[layer] = keys, values
        return self.rotated(keys), values

    def rotated(self, keys):
        angles = self.ranks(keys.shape[2])[:, None] * self.tags.speeds
        half = keys.shape[3] // 2
        x, y = keys[..., :half], keys[..., half:]
        cos, sin = numpy.cos(angles), numpy.sin(angles)
        return numpy.concatenate([x * cos - y * sin, x * sin + y * cos], -1).astype(keys.dtype)

    def ranks(self, rows):
        return numpy.arange(rows)

    def query_positions(self, count, layer):
        return [self.rows[layer][0].shape[2] - 1]

    def stored(self, layer):
        return self.rows[layer]


class RotatesSinksTwice(Rotates):
    def ranks(self, rows):
        return numpy.maximum(numpy.arange(rows), min(self.sinks, rows - 1))


def tova(setup):
    return {"sinks": 0, "recent": 0, "visibility": "causal", "longest_chunk": 1, "wants_attention": True, "self_may_go": True,
            "reference": "tova:budget=%d" % setup["budget"]}


def in_cache(setup):
    return {"recent": setup["budget"] - setup["sinks"], "positions": "in-cache", "longest_chunk": 1}


if __name__ == "__main__":
    made, words = globals()[sys.argv[1]], dict(word.split("=") for word in sys.argv[2:])
    contract = {"Tova": tova, "TovaOfOneHead": tova, "Rotates": in_cache,
                "RotatesSinksTwice": in_cache}.get(sys.argv[1])
    tensors.serve(made, contract, head_dim=int(words.get("head_dim", 64)),
                  dtype=words.get("dtype", "f16"), arrays="numpy",
                  keys="raw" if issubclass(made, Rotates) else "rotated")
