"""Rows of attention, computed from queries and keys."""

import numpy

from ..arguments import array, real, whole
from ..errors import Error

__all__ = ["attention_rows"]


def _of_heads(name, given, heads):
    if given is None:
        return None
    numbers = array(name, given, numpy.float64)
    if numbers.shape != (heads,):
        raise Error("%s have the shape %s; expected a number for each of the %d query heads" % (
            name, list(numbers.shape), heads))
    return numbers


def attention_rows(queries, keys, *, scale=None, window=None, soft_cap=None, sinks=None, slopes=None,
                   positions=None):
    """The weights that causal attention gives, [query_heads, m, n], float32.

    queries: [query_heads, m, d], keys: [kv_heads, n, d], both as they are multiplied, after rotation.
    positions: [m], those of the queries [0 to n - 1]. The other arguments are those of a Layer. Rows
    sum to one, less what goes to sinks.
    """
    queries, keys = array("queries", queries, numpy.float32), array("keys", keys, numpy.float32)
    for name, given in (("queries", queries), ("keys", keys)):
        if given.ndim != 3 or 0 in given.shape:
            raise Error("%s have the shape %s; expected three sizes above 0" % (name, list(given.shape)))
    scale = queries.shape[2] ** -0.5 if scale is None else real("scale", scale)
    window = None if window is None else whole("window", window, 1)
    soft_cap = None if soft_cap is None else real("soft_cap", soft_cap, 0)
    sinks, slopes = (_of_heads(name, given, len(queries)) for name, given in (
        ("sinks", sinks), ("slopes", slopes)))
    heads, count, dim = queries.shape
    shared, tokens = keys.shape[:2]
    if heads % shared or keys.shape[2] != dim:
        raise Error("queries have the shape %s and keys %s; expected heads that divide and equal "
                    "dimensions" % (list(queries.shape), list(keys.shape)))
    at = numpy.arange(tokens) if positions is None else array("positions", positions, numpy.int64)
    if at.shape != (count,):
        raise Error("there are %d queries and %d positions; expected as many" % (count, at.size))
    if at.min() < 0:
        raise Error("positions has %d; expected 0 or more" % at.min())
    distance = at[:, None] - numpy.arange(tokens)
    hidden = distance < 0
    if window is not None:
        hidden |= distance >= window
    rows = numpy.empty((heads, count, tokens), numpy.float32)
    for head in range(heads):
        logits = queries[head].astype(numpy.float64) @ keys[head * shared // heads].T.astype(
            numpy.float64)
        logits *= scale
        if soft_cap is not None:
            logits = soft_cap * numpy.tanh(logits / soft_cap)
        if slopes is not None:
            logits -= slopes[head] * distance
        logits[hidden] = -numpy.inf
        sink = -numpy.inf if sinks is None else float(sinks[head])
        largest = numpy.maximum(logits.max(axis=1), sink)[:, None]
        weights = numpy.exp(logits - largest)
        total = weights.sum(axis=1, keepdims=True) + numpy.exp(sink - largest)
        rows[head] = weights / total
    return rows
