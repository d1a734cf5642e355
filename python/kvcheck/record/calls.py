"""The calls of one layer, joined to what a trace holds of it."""

import numpy

from ..arrays import array_of
from ..errors import Error
from .layers import Layer
from .masks import window_of
from .projections import rotation_shown
from .rotation import rotation_of, unrotate
from .rows import attention_rows

__all__ = ["Calls"]

# The relative error of a table of cosines, by the name of its type.
_EPSILON = {"float16": 2.0 ** -11, "bfloat16": 2.0 ** -8}


class Calls:
    """What one attention module was called with, one call after another.

    kv_heads: which are recorded, increasing; None: all. queries: the positions of the queries that are
    recorded, an array or a slice; None: all.
    """

    def __init__(self, module, kv_heads, queries):
        self.module, self.number = module, module.layer_idx
        self.kv_heads, self.queries = kv_heads, queries
        self.tokens = 0
        self._parts = {"queries": [], "keys": [], "values": []}
        self._positions, self._tables, self._epsilon = [], [], 2.0 ** -23
        self._facts = None
        self.shown = None  # as rotation_shown has it

    def add(self, query, key, value, mask, named, tables, outputs):
        """One call: tensors [1, heads, m or n, d], the mask, the words of the call and of the module, the
        tables that the module was given, and the outputs of its own modules so far."""
        query, key, value = (_one(what, tensor, self.number) for what, tensor in (
            ("query", query), ("key", key), ("value", value)))
        first, count, held = self.tokens, query.shape[1], key.shape[1]
        if not count <= held <= first + count:
            raise Error("layer %d attends to %d keys after %d tokens; expected a cache that holds tokens "
                        "only, as DynamicCache does" % (self.number, held, first + count))
        if len(query) % len(key):
            raise Error("layer %d has %d query heads and %d kv-heads; expected a multiple" % (
                self.number, len(query), len(key)))
        self._note({
            "scale": named("scaling"), "soft_cap": named("softcap", "attn_logit_softcapping"),
            "window": window_of(named("sliding_window"), mask, first, count, held, self.number),
            "sinks": named("s_aux")}, len(key))
        new = slice(held - count, None)
        self._rotate(tables, key[:, new], outputs)
        keep = self._kept(first, count)
        self._parts["queries"].append(self._query_heads(query, len(key))[:, keep])
        self._parts["keys"].append(self._heads(key[:, new]))
        self._parts["values"].append(self._heads(value[:, new]))
        self._positions.append(first + keep)
        self.tokens += count

    @property
    def positions(self):
        return numpy.concatenate(self._positions)

    @property
    def recorded_kv_heads(self):
        return len(self._parts["keys"][0])

    def _note(self, facts, kv_heads):
        for name, value in facts.items():
            if name == "sinks" and value is not None:
                facts[name] = self._query_heads(array_of(value).ravel(), kv_heads)
            elif name != "window" and value is not None:
                facts[name] = float(value)
        if self._facts is None:
            self._facts = facts
        for name, value in facts.items():
            if not numpy.array_equal(value, self._facts[name]):
                raise Error("the %s of layer %d changed from %s to %s; expected one for all tokens" % (
                    name, self.number, self._facts[name], value))

    def _rotate(self, tables, keys, outputs):
        if not (isinstance(tables, (tuple, list)) and len(tables) == 2):
            self._tables.append(None)
            return
        for name, epsilon in _EPSILON.items():
            if name in str(getattr(tables[0], "dtype", "")):
                self._epsilon = epsilon
        cos, sin = (array_of(table) for table in tables)
        cos, sin = (table.reshape(-1, table.shape[-1])[:keys.shape[1]] for table in (cos, sin))
        self._tables.append((cos, sin))
        # At position 0 nothing is rotated, and any guess would be right.
        if self.shown is None and outputs and sin.any():
            self.shown = rotation_shown(keys, cos, sin, outputs)

    def _kept(self, first, count):
        """Which of the new queries are recorded, as indices."""
        at = numpy.arange(first, first + count)
        if self.queries is None:
            return at - first
        if isinstance(self.queries, slice):
            end = first + count if self.queries.stop is None else self.queries.stop
            selected = numpy.arange(self.queries.start or 0, end, self.queries.step or 1)
        else:
            selected = self.queries
        return numpy.flatnonzero(numpy.isin(at, selected))

    def _heads(self, array):
        requested = self.kv_heads
        if requested is None:
            return array
        if not 0 <= requested[0] <= requested[-1] < len(array):
            raise Error("kv_heads is %s; expected numbers below the %d of layer %d" % (
                requested, len(array), self.number))
        return array[requested]

    def _query_heads(self, array, kv_heads):
        """[query_heads, ...] of the recorded kv-heads."""
        grouped = array.reshape(kv_heads, len(array) // kv_heads, *array.shape[1:])
        return self._heads(grouped).reshape(-1, *array.shape[1:])

    def layer(self, kind, taken_back, bases):
        """The Layer of kind "qkv", before rotation if it is taken back, or of "attention".

        bases: bases of rotations that the model's configuration names."""
        parts = {name: numpy.concatenate(arrays, 1) for name, arrays in self._parts.items()}
        if parts["queries"].shape[1] == 0:
            raise Error("no query is recorded: none of the %d tokens is in `queries`" % self.tokens)
        if kind == "attention":
            rows = attention_rows(parts["queries"], parts["keys"], positions=self.positions,
                                  **self._facts)
            return Layer(self.number, attention=rows, sinks=self._facts["sinks"])
        # Values of fewer dimensions than keys are padded with zeros, which add nothing to an output.
        dim, wide = parts["queries"].shape[2], parts["values"].shape[2]
        if wide > dim:
            raise Error("the values of layer %d have %d dimensions and the keys %d; expected at most as "
                        "many" % (self.number, wide, dim))
        parts["values"] = numpy.pad(parts["values"], ((0, 0), (0, 0), (0, dim - wide)))
        rotation = self._rotation(dim, taken_back, bases)
        if rotation is not None and taken_back:
            cos, sin = self._joined()
            for name, rows in (("queries", self.positions), ("keys", slice(None))):
                parts[name] = unrotate(parts[name], cos[rows], sin[rows], rotation.layout)
        return Layer(self.number, rotation=rotation, **parts, **self._facts)

    def _joined(self):
        return (numpy.concatenate(tables) for tables in zip(*self._tables))

    def _rotation(self, dim, taken_back, bases):
        given = [tables is not None for tables in self._tables]
        if not any(given) or self.shown == "none":
            return None
        rotation = None
        if all(given):
            cos, sin = self._joined()
            rotation = rotation_of(cos, sin, dim, layout=self.shown, epsilon=self._epsilon,
                                   among=bases)
        if rotation is None and taken_back:
            raise Error("the keys of layer %d are rotated by angles that do not grow with the position; "
                        "rotation='as-given' records them as they are" % self.number)
        return rotation


def _one(what, tensor, layer):
    """[heads, tokens, d] of a tensor [1, heads, tokens, d], as float32."""
    array = array_of(tensor)
    if array.ndim != 4 or array.shape[0] != 1:
        raise Error("the %s of layer %d has the shape %s; expected [1, heads, tokens, dimensions], of one "
                    "sequence" % (what, layer, list(array.shape)))
    return array[0].copy()
