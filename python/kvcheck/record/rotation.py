"""Rotations of queries and keys (RoPE): applied, taken back, and recognised in their tables.

A table is what models call cos or sin: [n, w] numbers for n tokens. With r rotated dimensions, w is r
with every number twice, or r / 2. The layout says which dimensions form a pair: "half" for (0, r/2),
(1, r/2 + 1), ..., and "interleaved" for (0, 1), (2, 3), ...
"""

from dataclasses import dataclass
from typing import Optional

import numpy

from ..arguments import array, listed, real, shown, whole, word
from ..errors import Error

__all__ = ["Rotation", "layout_of", "rotate", "rotation_of", "table_pairs", "unrotate"]

LAYOUTS = ("half", "interleaved")


def _table(name, given):
    table = array(name, given, numpy.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise Error("%s has the shape %s; expected [tokens, rotated dimensions]" % (
            name, list(table.shape)))
    if not numpy.isfinite(table).all():
        raise Error("%s holds a number that is not finite" % name)
    return table


def layout_of(cos, sin):
    """The layout that the tables themselves show: "half" or "interleaved" if each number stands twice,
    in these places, and None if no number does, or if all tokens are at position 0."""
    cos, sin = _table("cos", cos), _table("sin", sin)
    width = cos.shape[1]
    if width % 2 or not sin.any():
        return None
    for layout, pairs in (("half", (slice(0, width // 2), slice(width // 2, None))),
                          ("interleaved", (slice(0, None, 2), slice(1, None, 2)))):
        if all((table[:, pairs[0]] == table[:, pairs[1]]).all() for table in (cos, sin)):
            return layout
    return None


def table_pairs(cos, sin, dim):
    """The tables as [n, r / 2] each, float64, whichever way they are given. dim: that of a head, which
    the rotated dimensions must fit in."""
    cos, sin = _table("cos", cos), _table("sin", sin)
    if cos.shape != sin.shape:
        raise Error("cos has the shape %s and sin %s; expected one shape" % (
            list(cos.shape), list(sin.shape)))
    layout = layout_of(cos, sin)
    width = cos.shape[1]
    if layout == "half" or (layout is None and not sin.any() and 2 * width > dim and width % 2 == 0):
        cos, sin = cos[:, :width // 2], sin[:, :width // 2]
    elif layout == "interleaved":
        cos, sin = cos[:, ::2], sin[:, ::2]
    if 2 * cos.shape[1] > dim:
        raise Error("the tables rotate %d dimensions; expected at most the %d of a head" % (
            2 * cos.shape[1], dim))
    return cos, sin


def _rotated(vectors, cos, sin, layout, sign):
    vectors = array("vectors", vectors, numpy.float64)
    if vectors.ndim < 2:
        raise Error("the vectors have the shape %s; expected [..., tokens, dimensions]" % (
            list(vectors.shape),))
    word("layout", layout, LAYOUTS)
    cos, sin = table_pairs(cos, sin, vectors.shape[-1])
    if cos.shape[0] != vectors.shape[-2]:
        raise Error("the tables have %d rows; expected one for each of the %d tokens" % (
            cos.shape[0], vectors.shape[-2]))
    pairs = cos.shape[1]
    if layout == "half":
        first, second = slice(0, pairs), slice(pairs, 2 * pairs)
    else:
        first, second = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)
    if sign < 0:
        # Tables may be scaled, as those of YaRN are, so the inverse divides by the square of that.
        size = cos * cos + sin * sin
        if not (size > 0).all():
            raise Error("the tables hold a pair whose cosine and sine are both 0; expected a rotation")
        cos, sin = cos / size, -sin / size
    result = vectors.copy()
    a, b = result[..., first].copy(), result[..., second].copy()
    result[..., first] = a * cos - b * sin
    result[..., second] = b * cos + a * sin
    return result.astype(numpy.float32)


def rotate(vectors, cos, sin, layout="half"):
    """Vectors [..., n, d] rotated by the tables, as float32. Dimensions beyond the tables' remain."""
    return _rotated(vectors, cos, sin, layout, 1)


def unrotate(vectors, cos, sin, layout="half"):
    """The inverse of rotate: the vectors before the rotation, as float32."""
    return _rotated(vectors, cos, sin, layout, -1)


@dataclass(frozen=True)
class Rotation:
    """A rotation by angles that grow in proportion to the position.

    layout: "half" or "interleaved". dims: r, the number of rotated dimensions. scale: what the tables
    are multiplied with. theta: the base of a plain rotation, whose angle at position p is
    p * theta ** (-2 i / r) for pair i; or None, and frequencies, [r / 2], are the angles of position 1.
    """

    layout: str
    dims: int
    scale: float
    theta: Optional[float]
    frequencies: Optional[numpy.ndarray]

    def tables(self, tokens):
        """cos and sin for the positions 0 to tokens - 1, [tokens, r / 2]."""
        frequencies = self.frequencies
        if frequencies is None:
            frequencies = self.theta ** (-2 * numpy.arange(self.dims // 2) / self.dims)
        angles = numpy.arange(tokens)[:, None] * frequencies
        return self.scale * numpy.cos(angles), self.scale * numpy.sin(angles)


def checked_rotation(name, given):
    """The Rotation with its numbers as those of Python."""
    if not isinstance(given, Rotation):
        raise Error("%s is %s; expected a record.Rotation or None" % (name, shown(given)))
    theta, frequencies = given.theta, given.frequencies
    if theta is None and frequencies is None:
        raise Error("the %s has neither theta nor frequencies; expected one of them" % name)
    return Rotation(
        word("layout of the " + name, given.layout, LAYOUTS), whole("dims of the " + name, given.dims, 2),
        real("scale of the " + name, given.scale),
        None if theta is None else real("theta of the " + name, theta, 0),
        None if frequencies is None else array("frequencies of the " + name, frequencies, numpy.float64))


def rotation_of(cos, sin, dim, *, layout=None, epsilon=2.0 ** -23, among=()):
    """The Rotation that tables for the positions 0, 1, ... are those of, or None if they are of none:
    if other positions were rotated, or frequencies changed on the way.

    dim: dimensions of a head. layout: if the tables do not show it ["half"]. epsilon: the relative
    error of the type in which the tables were stored. among: bases to be tried first, such as that of
    the model's configuration.
    """
    if layout is not None:
        word("layout", layout, LAYOUTS)
    layout = layout or layout_of(cos, sin) or "half"
    cos, sin = table_pairs(cos, sin, whole("dim", dim, 1))
    epsilon = real("epsilon", epsilon)
    among = [real("among", base) for base in listed("among", among, "a list of bases")]
    dims = 2 * cos.shape[1]
    size = numpy.sqrt(cos * cos + sin * sin)
    scale = float(numpy.median(size))
    if abs(scale - 1) <= 4 * epsilon:
        scale = 1.0
    frequencies = _frequencies(cos, sin)
    for theta in [*among, *_bases(frequencies)]:
        if numpy.isfinite(theta) and theta > 0:
            plain = Rotation(layout, dims, scale, float(theta), None)
            if _agrees(plain, cos, sin, epsilon):
                return plain
    other = Rotation(layout, dims, scale, None, frequencies)
    return other if _agrees(other, cos, sin, epsilon) else None


def _agrees(rotation, cos, sin, epsilon):
    # Models compute angles in float32, so those of late positions are inexact themselves.
    allowed = 4 * rotation.scale * (epsilon + numpy.arange(len(cos)) * 2.0 ** -23)[:, None]
    expected = rotation.tables(len(cos))
    return all((abs(one - other) <= allowed).all() for one, other in zip((cos, sin), expected))


def _frequencies(cos, sin):
    """The angles of position 1. Each position that is twice as far tells them twice as exactly."""
    angles = numpy.arctan2(sin, cos)
    if len(angles) < 2:
        return numpy.zeros(angles.shape[1])
    frequencies, position = angles[1].copy(), 2
    while position < len(angles):
        missing = angles[position] - position * frequencies
        frequencies += (missing - 2 * numpy.pi * numpy.rint(missing / (2 * numpy.pi))) / position
        position *= 2
    return frequencies


def _bases(frequencies):
    """The base of a plain rotation with these frequencies, rounded and as it is."""
    exponent = numpy.arange(len(frequencies)) / len(frequencies)
    known = (exponent > 0) & (frequencies > 0)
    if not known.any():
        return []
    base = numpy.median(numpy.exp(-numpy.log(frequencies[known]) / exponent[known]))
    return [float("%.2g" % base), float(base)]
