"""Makes caches of real tensors subjects of kvcheck. Each row that a cache is given carries a tag,
which shows in whatever the cache returns and stores to which token the row belongs.

    from kvcheck import tensors

    class Cache:
        def __init__(self, layers, sinks, budget): ...
        def update(self, keys, values, layer):   # returns keys, values, and a mask if it has one
            ...
        def stored(self, layer):                 # returns keys and values, or None
            ...

    tensors.serve(Cache, head_dim=128, dtype="bf16", device="cuda")

Any callable that makes such an object serves as well; it takes by name what it wants of layers,
kv_heads, group, sequences, sinks, recent, budget, seed and head_dim. Keys and values have the shape
[sequences, kv_heads, tokens, head_dim]. update may return more rows than it received, and returns

    keys, values                  or
    keys, values, mask            or
    keys, values, mask, weights   the attention weights, if the cache computes them itself

A mask is [tokens, rows] or [sequences or 1, kv_heads or 1, tokens, rows]; it is true or 1 where a
query may attend to a row, or it is added to the logits: 0 there, and very negative elsewhere. None:
query i of n sees all rows but the last n - 1 - i. Weights are [sequences, query heads, tokens,
rows]. Whatever comes back may lie on any device and in any type: it is copied for reading.

Optional methods:

    positions(count, layer)         the positions for which the next tokens' keys are rotated, asked
                                    before update; without it, those of the stream
    query_positions(count, layer)   those of the queries, asked after update; without it, as the keys
    observe(weights, layer)         receives the attention weights over the rows that update returned
    length(layer)                   the number of rows that the cache reports
    reset(), truncate(length), reorder(sequences), shift(begin, delta), snapshot(), restore(state)
    fork()                          an independent copy; without it, copy.deepcopy

Any method may raise kvcheck.Refused to refuse a call; nothing may have changed then.

The rows are described in kvcheck/tags.py: any even head_dim of 16 or more, exact in f16 and bf16.
"""

import copy
import math

import numpy

from . import serving
from .arrays import Arrays, array_of, unwritten
from .serving import Refused, position_of
from .tags import Tags

__all__ = ["serve"]


class _Branch:
    """A cache with all its layers, heads and sequences, seen through the tags of its rows."""

    def __init__(self, made_by, setup, contract):
        self.made_by, self.setup, self.contract = made_by, setup, contract
        self.cache = made_by.make(setup)

    def feed(self, call):
        tokens, first = call["tokens"], call["position"]
        count = len(tokens)
        if count == 0:
            return self.look()
        setup, tags, arrays = self.setup, self.made_by.tags, self.made_by.arrays
        layers = range(setup["layers"])
        positions = [self._positions("positions", count, layer, range(first, first + count))
                     for layer in layers]
        marks = tags.tags(tokens, setup["sequences"], setup["layers"], setup["kv_heads"])
        if self.made_by.alike:
            marks = numpy.repeat(marks[:, :1], setup["sequences"], 1)
        keys = tags.keys(marks, positions if self.made_by.rotated else numpy.zeros((1, count)))
        values = tags.values(marks)
        fed = []
        for layer in layers:
            result = self.cache.update(arrays.floats(keys[layer]), arrays.floats(values[layer]), layer)
            unit = _Returned(self, layer, count, result)
            if self.made_by.attention:
                self.cache.observe(arrays.floats(unit.weights_of(call["logits"])), layer)
            unit.query_positions = self._positions("query_positions", count, layer,
                                                   positions[layer] if self.made_by.rotated else None)
            fed.append(unit)
        return self.look(fed)

    def _positions(self, name, count, layer, otherwise):
        if not hasattr(self.cache, name):
            return otherwise
        positions = [float(p) for p in array_of(getattr(self.cache, name)(count, layer)).ravel()]
        if len(positions) != count:
            raise ValueError("%s(%d, %d) returned %d positions" % (name, count, layer, len(positions)))
        return positions

    def pair(self, what, layer, keys, values):
        """Keys and values as arrays [sequences, kv_heads, rows, dim], which are checked."""
        keys, values = array_of(keys), array_of(values)
        sizes = (self.setup["sequences"], self.setup["kv_heads"])
        for name, array, dim in (("keys", keys, self.made_by.tags.head_dim),
                                 ("values", values, self.made_by.tags.value_dim)):
            if array.ndim != 4 or array.shape[:2] != sizes or array.shape[3] != dim:
                raise ValueError("%s %s of layer %d have the shape %s; expected [%d, %d, rows, %d]" % (
                    what, name, layer, list(array.shape), *sizes, dim))
        if keys.shape[2] != values.shape[2]:
            raise ValueError("%d keys and %d values are %s by layer %d" % (
                keys.shape[2], values.shape[2], what, layer))
        return keys, values

    def read(self, keys, values):
        """The readings of keys and of values, as [sequence][head][row]."""
        tags = self.made_by.tags
        shape = keys.shape[:3]
        return (_split(tags.read_keys(keys.reshape(-1, keys.shape[3])), shape),
                _split(tags.read_values(values.reshape(-1, values.shape[3])), shape))

    def columns(self, keys, values, sequence):
        """Columns of the protocol of the rows of one unit."""
        place = (lambda it: [sequence, *it[1:]]) if self.made_by.alike else lambda it: it
        columns = {"values": [token for token, _ in values],
                   "value_places": [place(one) for _, one in values],
                   "keys": [token for token, _, _, _ in keys],
                   "key_places": [place(one) for _, one, _, _ in keys]}
        if self.contract.get("positions") != "untold":
            columns["positions"] = [position for _, _, position, _ in keys]
            columns["key_errors"] = [error for _, _, _, error in keys]
        return columns

    def _stored(self, layer):
        pair = self.cache.stored(layer)
        if pair is None or pair[0] is None or len(pair[0]) == 0:
            empty = [[[]] * self.setup["kv_heads"]] * self.setup["sequences"]
            return empty, empty
        keys, values = self.pair("stored", layer, *pair)
        there = ~unwritten(keys, values)
        used = there.any((0, 1))
        there = there[:, :, used].tolist()
        return [[[_kept(head, rows) for head, rows in zip(of_sequence, of_rows)]
                 for of_sequence, of_rows in zip(reading, there)]
                for reading in self.read(keys[:, :, used], values[:, :, used])]

    def look(self, fed=None):
        setup, units = self.setup, []
        stored = [self._stored(layer) for layer in range(setup["layers"])]
        for sequence in range(setup["sequences"]):
            for layer in range(setup["layers"]):
                for head in range(setup["kv_heads"]):
                    unit = {"stored": self.columns(
                        *(part[sequence][head] for part in stored[layer]), sequence)}
                    if hasattr(self.cache, "length"):
                        unit["reported"] = int(self.cache.length(layer))
                    if fed:
                        unit.update(fed[layer].fields(sequence, head))
                    units.append(unit)
        return units

    def _do(self, name, *words):
        if not hasattr(self.cache, name):
            raise Refused(name + " is not offered")
        return getattr(self.cache, name)(*words)

    def reset(self):
        self._do("reset")

    def truncate(self, length):
        self._do("truncate", length)

    def reorder(self, source):
        self._do("reorder", source)

    def shift(self, begin, delta):
        self._do("shift", begin, delta)

    def fork(self):
        other = copy.copy(self)
        other.cache = self.cache.fork() if hasattr(self.cache, "fork") else copy.deepcopy(self.cache)
        return other

    def snapshot(self):
        state = self._do("snapshot")
        fresh = _Branch(self.made_by, self.setup, self.contract)
        fresh.cache.restore(state)
        return fresh


def _split(flat, shape):
    _, heads, rows = shape
    return [[flat[(s * heads + h) * rows:(s * heads + h + 1) * rows] for h in range(heads)]
            for s in range(shape[0])]


def _kept(rows, there):
    return [row for row, keep in zip(rows, there) if keep]


class _Returned:
    """What update returned for one layer: the rows that attention was given."""

    def __init__(self, branch, layer, count, result):
        if not isinstance(result, (tuple, list)) or not 2 <= len(result) <= 4:
            raise ValueError("update returned %s; expected keys and values, and perhaps a mask and "
                             "weights" % type(result).__name__)
        self.branch, self.layer, self.query_positions = branch, layer, None
        keys, values = branch.pair("returned", layer, *result[:2])
        mask, weights = (list(result[2:]) + [None, None])[:2]
        seen = _mask(mask, keys.shape[:3], count)
        # Memory that is allocated ahead and hidden is no row.
        there = ~unwritten(keys, values) | seen.any(2)
        used = there.any((0, 1))
        self.rows, self.used = len(used), used
        self.seen, self.there = seen[..., used], there[..., used]
        self.readings = branch.read(keys[:, :, used], values[:, :, used])
        self.weights = None if weights is None else self._shared(array_of(weights))

    def _shared(self, weights):
        """Weights of query heads as the mean over those of a kv-head."""
        sequences, heads, queries, _ = self.seen.shape
        expected = (sequences, heads * self.branch.setup["group"], queries, self.rows)
        if weights.shape != expected:
            raise ValueError("weights have the shape %s; expected %s" % (
                list(weights.shape), list(expected)))
        weights = weights.reshape(sequences, heads, -1, queries, self.rows)
        return weights.mean(2, dtype=numpy.float64)[..., self.used]

    def weights_of(self, logits):
        """The attention weights over the returned rows: [sequences, query heads, queries, rows]."""
        sequences, heads, queries, _ = self.seen.shape
        setup = self.branch.setup
        payers = heads * setup["group"]
        weights = numpy.zeros((sequences, payers, queries, self.rows), numpy.float32)
        for sequence in range(sequences):
            for payer in range(payers):
                head = payer // setup["group"]
                at = [position_of(token) if token >= 0 else None
                      for token, *_ in self.readings[0][sequence][head]]
                of_payer = logits[(sequence * setup["layers"] + self.layer) * payers + payer]
                for query in range(queries):
                    row = [of_payer[query][p] if sees and p is not None and p < len(of_payer[query])
                           else -math.inf for p, sees in zip(at, self.seen[sequence, head, query])]
                    weights[sequence, payer, query, self.used] = _softmax(numpy.array(row, float))
        return weights

    def fields(self, sequence, head):
        there = self.there[sequence, head]
        kept = [_kept(reading[sequence][head], there) for reading in self.readings]
        seen = self.seen[sequence, head][:, there]
        fields = {"returned": self.branch.columns(*kept, sequence),
                  "visible": ["".join("1" if bit else "0" for bit in row) for row in seen.tolist()]}
        if self.query_positions is not None and self.branch.contract.get("positions") != "untold":
            fields["query_positions"] = list(self.query_positions)
        if self.weights is not None:
            fields["weights"] = self.weights[sequence, head][:, there].tolist()
        return fields


def _mask(mask, shape, count):
    """Which rows each query may attend to: bools [sequences, kv_heads, queries, rows]."""
    rows = shape[2]
    if mask is None:
        queries = numpy.arange(count)[:, None]
        return numpy.broadcast_to(numpy.arange(rows) <= rows - count + queries,
                                  (*shape[:2], count, rows))
    mask = array_of(mask)
    if mask.dtype.kind == "f" and not (mask > 0).any():
        mask = mask > -1  # it is added to the logits
    mask = mask.astype(bool)
    if mask.ndim not in (2, 4) or mask.shape[-2:] != (count, rows) or (
            mask.ndim == 4 and any(have not in (1, other)
                                   for have, other in zip(mask.shape, shape[:2]))):
        raise ValueError("the mask has the shape %s; expected [%d, %d] for %d queries and the %d rows "
                         "returned, or four axes that end so" % (
                             list(mask.shape), count, rows, count, rows))
    return numpy.broadcast_to(mask, (*shape[:2], count, rows))


def _softmax(row):
    most = row.max(initial=-math.inf)
    if most == -math.inf:
        return numpy.zeros(len(row))
    powers = numpy.exp(row - most)
    return powers / powers.sum()


class _Maker:
    """What is the same for all cases: how caches are made, and what their rows are."""

    def __init__(self, cache, tags, arrays, keys, attention, alike):
        if keys not in ("rotated", "raw"):
            raise ValueError("keys is %r; expected 'rotated' or 'raw'" % (keys,))
        self.cache, self.tags, self.arrays = cache, tags, arrays
        self.rotated, self.attention, self.alike = keys == "rotated", attention, alike

    def make(self, setup):
        return serving._call_with(self.cache, dict(setup, head_dim=self.tags.head_dim))


def serve(cache, contract=None, name=None, requested=None, head_dim=64, value_dim=None, dtype="f32",
          arrays="torch", device=None, keys="rotated", theta=10000.0, interleaved=False,
          attention=None, alike=False, sizes=None):
    """Serves caches of tensors until the host closes the connection.

    cache       a class or function that makes a cache of a case's sizes, as this module says
    contract, name, requested
                as in kvcheck.serve; the precision is that of dtype if the contract names none
    head_dim    numbers in a key, and in a value where value_dim is not given
    dtype       "f32", "f16" or "bf16": of the keys and values that the cache is given
    arrays      "torch", "mlx", "numpy", or a function that makes an array of the cache's own from a
                NumPy array of f32, or kvcheck.arrays.Arrays
    device      the torch device that they are on, such as "cuda"
    keys        "rotated": keys arrive rotated for their positions, as models pass them; "raw": not
                rotated, for caches that rotate what they return
    theta, interleaved
                how keys are rotated, so that caches that rotate them do likewise (kvcheck.tags.Tags)
    attention   whether observe is called; by default, whether `cache` has it
    alike       whether the rows of a token are the same in each sequence, for caches that decide by the
                contents of rows; that rows remain in their sequence cannot be judged then
    sizes       sinks, recent and budget, if no others are possible
    """
    if attention is None:
        attention = hasattr(cache, "observe")
    if not isinstance(arrays, Arrays):
        arrays = Arrays(arrays, dtype, device)
    maker = _Maker(cache, Tags(head_dim, value_dim, theta, interleaved), arrays, keys, attention,
                   alike)
    hello = {"name": name or getattr(cache, "__name__", type(cache).__name__), "logits": attention}
    if requested or sizes:
        hello["wanted"] = dict(requested or {}, **(sizes or {}))
    if sizes:
        hello["sizes"] = "wanted"
    serving.serve_model(lambda setup, declared, ask: _Branch(maker, setup, declared), hello, contract,
                        {"precision": dtype})
