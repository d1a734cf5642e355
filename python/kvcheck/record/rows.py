"""Rows of attention, computed from queries and keys."""

import numpy

from ..errors import Error

__all__ = ["attention_rows"]


def attention_rows(queries, keys, *, scale=None, window=None, soft_cap=None, sinks=None, slopes=None,
                   positions=None):
    """The weights that causal attention gives, [query_heads, m, n], float32.

    queries: [query_heads, m, d], keys: [kv_heads, n, d], both as they are multiplied, after rotation.
    positions: [m], those of the queries [0 to n - 1]. The other arguments are those of a Layer. Rows
    sum to one, less what goes to sinks.
    """
    queries, keys = numpy.asarray(queries, numpy.float32), numpy.asarray(keys, numpy.float32)
    heads, count, dim = queries.shape
    shared, tokens = keys.shape[:2]
    if heads % shared or keys.shape[2] != dim:
        raise Error("queries have the shape %s and keys %s; expected heads that divide and equal "
                    "dimensions" % (list(queries.shape), list(keys.shape)))
    at = numpy.arange(tokens) if positions is None else numpy.asarray(positions)
    if len(at) != count:
        raise Error("there are %d queries and %d positions; expected as many" % (count, len(at)))
    distance = at[:, None] - numpy.arange(tokens)
    hidden = distance < 0
    if window is not None:
        hidden |= distance >= window
    rows = numpy.empty((heads, count, tokens), numpy.float32)
    for head in range(heads):
        logits = queries[head].astype(numpy.float64) @ keys[head * shared // heads].T.astype(
            numpy.float64)
        logits *= dim ** -0.5 if scale is None else scale
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
