"""Whether a layer rotated its keys, and in which layout, by what its own projections gave.

Models hand the tables of the rotation to layers that do not rotate too, and not every table shows its
layout. The keys before rotation are among the outputs of the layer's own modules: of the projection of
keys, of its norm, or of a projection of queries, keys and values together.
"""

import numpy

from ..arrays import array_of
from .rotation import LAYOUTS, unrotate

__all__ = ["rotation_shown"]

# Of bfloat16, which rounds at the projection and again after the rotation.
_TOLERANCE = 0.02


def rotation_shown(keys, cos, sin, outputs):
    """The layout in which keys [kv_heads, m, d] were rotated by the tables, "none" if they were not, and
    None if no output [..., m, heads * d] or [..., heads, m, d] has the keys before rotation."""
    _, count, dim = keys.shape
    guesses = {layout: unrotate(keys[0], cos, sin, layout) for layout in LAYOUTS}
    guesses["none"] = keys[0]
    size = numpy.linalg.norm(keys[0])
    best, shown = _TOLERANCE, None
    for output in outputs:
        for heads in _as_heads(output, count, dim):
            for layout, guess in guesses.items():
                error = numpy.linalg.norm(heads - guess, axis=(1, 2)).min() / max(size, 1e-30)
                if error < best:
                    best, shown = error, layout
    return shown


def _as_heads(output, count, dim):
    """The ways to read an output as [heads, m, d]."""
    if isinstance(output, (tuple, list)):
        output = output[0] if output else None
    if not hasattr(output, "shape"):
        return
    array = array_of(output)
    while array.ndim > 2 and array.shape[0] == 1:
        array = array[0]
    if array.ndim == 3 and array.shape[1:] == (count, dim):
        yield array
    if array.ndim in (2, 3) and array.shape[0] == count and array.shape[-1] % dim == 0:
        yield array.reshape(count, -1, dim).swapaxes(0, 1)
