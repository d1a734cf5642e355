"""The window of a layer, and whether the mask that it was given is the causal one."""

import numpy

from ..arrays import array_of
from ..errors import Error

__all__ = ["window_of"]


def window_of(stated, mask, first, count, keys, layer):
    """How many newest positions the queries at `first` and after saw; None: all.

    stated: what the layer says. mask: what it was given for `count` queries and the last `keys` keys.
    Error if the mask is neither causal within that window nor causal.
    """
    stated = None if stated is None else int(stated)
    if mask is None or not hasattr(mask, "dtype"):
        return stated  # the attention function makes its own, from the window
    allowed = _allowed(mask, count, keys, layer)
    if allowed is None:
        return stated
    distance = (first + numpy.arange(count))[:, None] - (first + count - keys + numpy.arange(keys))
    for window in dict.fromkeys((stated, None)):
        expected = (distance >= 0) & (distance < (window or first + count + 1))
        if (allowed == expected).all():
            return window
    query, key = numpy.argwhere(allowed != expected)[0]
    raise Error("the mask of layer %d lets the query at position %d %s the key at position %d; expected "
                "a causal mask, without padding" % (
                    layer, first + query, "see" if allowed[query, key] else "not see",
                    first + count - keys + key))


def _allowed(mask, count, keys, layer):
    """[count, keys]; None if the mask says of each token whether it is padding, and none is."""
    mask = array_of(mask)
    if mask.ndim == 2 and (mask.shape[0] == 1 and mask.shape != (count, keys)):
        if not mask.all():
            raise Error("the mask of layer %d hides token %d of the text; expected no padding" % (
                layer, numpy.flatnonzero(~mask[0].astype(bool))[0]))
        return None
    if mask.ndim < 2 or mask.shape[-2] != count or mask.shape[-1] < keys:
        raise Error("the mask of layer %d has the shape %s; expected one for %d queries and %d keys" % (
            layer, list(mask.shape), count, keys))
    # True where a query may attend, or added to the logits: 0 there, and very negative elsewhere.
    allowed = (mask if mask.dtype == bool else mask > -1)[..., :keys].reshape(-1, count, keys)
    if (allowed != allowed[0]).any():
        raise Error("the mask of layer %d differs between heads; expected one mask" % layer)
    return allowed[0]
