"""Rows of keys and values that show to which token they belong.

A tag has 48 bits: position, variant, place and check bits. It is cut into one digit for each rotary
pair of a key, which is the pair's length less 1, and one for each number of a value; twelve digits
of four bits if there is room for twelve, and repeated where there is room for more, so every number
of a row is read and a row that is partly another's belongs to no token. Numbers of values are whole
and at most 64, which f16 and bf16 hold exactly. Lengths of pairs change by at most 2^-9 of
themselves when a rotated key is rounded to bf16, where neighbours differ by a 64th or more, so keys
are recognised exactly too, after several rotations. Limits: 65,536 positions (of which the rotary
position is read without doubt up to pi / the slowest speed: 9,900 for a head_dim of 16 and 14,000 for
24), 256 variants, 16 sequences, layers and heads, and an even head_dim of 16 or more.
"""

import math

import numpy

from .serving import IDS_PER_VARIANT, Refused

_TAG_BITS = 48
_CHECK_BITS = 12


class Tags:
    """Encodes tokens as rows, and reads rows.

    interleaved   the pairs of a key are (2 i, 2 i + 1); otherwise (i, i + head_dim / 2)
    theta         pair i rotates by theta^(-2 i / head_dim) radians a position
    """

    def __init__(self, head_dim=64, value_dim=None, theta=10000.0, interleaved=False):
        value_dim = head_dim if value_dim is None else value_dim
        for name, size, least in (("head_dim", head_dim, 16), ("value_dim", value_dim, 8)):
            if not isinstance(size, int) or size < least or size % 2:
                raise ValueError("%s is %r; expected an even number of at least %d, so that a row can "
                                 "say to which token it belongs" % (name, size, least))
        if not theta > 1:
            raise ValueError("theta is %r; expected more than 1" % (theta,))
        self.head_dim, self.value_dim = head_dim, value_dim
        pairs = head_dim // 2
        self.speeds = float(theta) ** (-numpy.arange(pairs) / pairs)
        self._x = numpy.arange(0, head_dim, 2) if interleaved else numpy.arange(pairs)
        self._y = self._x + (1 if interleaved else pairs)
        self._known = ({}, {})  # what was read of keys and of values, by their bytes

    def tags(self, tokens, sequences, layers, heads):
        """The tags of tokens at each place: [layers, sequences, heads, tokens]."""
        tokens = numpy.asarray(tokens, numpy.uint64)
        shift = numpy.uint64
        tag = tokens % shift(IDS_PER_VARIANT) | tokens // shift(IDS_PER_VARIANT) << shift(16)
        for count, bit, axis in ((sequences, 24, 1), (layers, 28, 0), (heads, 32, 2)):
            if count > 16:
                raise Refused("a row's tag has room for 16 sequences, layers and heads")
            shape = [1, 1, 1, 1]
            shape[axis] = count
            tag = tag | (numpy.arange(count, dtype=numpy.uint64) << shift(bit)).reshape(shape)
        return tag | _check(tag) << shift(_TAG_BITS - _CHECK_BITS)

    def keys(self, tags, positions):
        """The keys of tags [layers, ...], rotated for positions [layers, tokens]."""
        lengths = _digits(tags, len(self.speeds)) + 1.0
        positions = numpy.asarray(positions, numpy.float64)
        angles = positions[:, None, None, :, None] * self.speeds
        keys = numpy.empty(tags.shape + (self.head_dim,), numpy.float32)
        keys[..., self._x] = lengths * numpy.cos(angles)
        keys[..., self._y] = lengths * numpy.sin(angles)
        return keys

    def values(self, tags):
        return (_digits(tags, self.value_dim) + 1).astype(numpy.float32)

    def read_keys(self, rows):
        """For each row of [rows, head_dim]: its token, or -1, its place, the position for which it is
        rotated, and its distance from the exactly rotated key as a share of that key."""
        return self._read(0, rows, self._decode_keys)

    def read_values(self, rows):
        """For each row of [rows, value_dim]: its token, or -1, and its place."""
        return self._read(1, rows, self._decode_values)

    def _read(self, kind, rows, decode):
        rows = numpy.ascontiguousarray(rows, numpy.float32)
        if not rows.size:
            return []
        known = self._known[kind]
        if len(known) > 1 << 16:
            known.clear()
        numbers = rows.view(numpy.dtype((numpy.void, rows.shape[1] * 4))).ravel().tolist()
        new = {number: at for at, number in enumerate(numbers) if number not in known}
        if new:
            known.update(zip(new, decode(rows[list(new.values())].astype(numpy.float64))))
        return [known[number] for number in numbers]

    def _decode_values(self, rows):
        tag, good = _tag_in(rows)
        return [(token, place) for token, place in _tokens(tag, good)]

    def _decode_keys(self, rows):
        x, y = rows[:, self._x], rows[:, self._y]
        lengths = numpy.hypot(x, y)
        tag, good = _tag_in(lengths)
        angles = numpy.arctan2(y, x)
        position = numpy.zeros(len(rows))
        for pair in reversed(range(len(self.speeds))):  # the slow ones first, which rotate least
            speed = self.speeds[pair]
            off = angles[:, pair] - position * speed
            position += (off - 2 * math.pi * numpy.rint(off / (2 * math.pi))) / speed
        whole = numpy.rint(position)
        position = numpy.where(numpy.abs(position - whole) < 0.25, whole, position)
        exact = numpy.where(good[:, None], numpy.rint(lengths), 1.0)
        rotated = position[:, None] * self.speeds
        off = numpy.hypot(x - exact * numpy.cos(rotated), y - exact * numpy.sin(rotated))
        error = numpy.sqrt((off ** 2).sum(1) / (exact ** 2).sum(1))
        return [(token, place, int(at) if at.is_integer() else at, float("%.3g" % far))
                if token >= 0 else (-1, place, None, 1.0)
                for (token, place), at, far in zip(_tokens(tag, good), position.tolist(),
                                                   error.tolist())]


def _check(tag):
    """Bits that a tag made of pieces of others has by chance only: one time in 4,096."""
    mixed = (tag + numpy.uint64(1)) * numpy.uint64(0x9E3779B97F4A7C15)
    return mixed >> numpy.uint64(64 - _CHECK_BITS)


def _cut(room):
    count = min(12, room)
    return count, -(-_TAG_BITS // count)


def _digits(tags, room):
    """[..., room] digits: those of the tag, again and again."""
    count, bits = _cut(room)
    shifts = numpy.arange(room, dtype=numpy.uint64) % numpy.uint64(count) * numpy.uint64(bits)
    return (tags[..., None] >> shifts & numpy.uint64((1 << bits) - 1)).astype(numpy.int64)


def _tag_in(numbers):
    """The tags in rows of numbers, and whether all numbers of the row agree with it."""
    count, bits = _cut(numbers.shape[1])
    finite = numpy.isfinite(numbers).all(1)
    digits = numpy.rint(numpy.where(finite[:, None], numbers, 0)) - 1
    good = finite & ((digits >= 0) & (digits < 1 << bits)).all(1)
    digits = numpy.where(good[:, None], digits, 0).astype(numpy.uint64)
    shifts = numpy.arange(count, dtype=numpy.uint64) * numpy.uint64(bits)
    tag = (digits[:, :count] << shifts).sum(1, dtype=numpy.uint64)
    good &= (digits == _digits(tag, numbers.shape[1]).astype(numpy.uint64)).all(1)
    plain = tag & numpy.uint64((1 << (_TAG_BITS - _CHECK_BITS)) - 1)
    return tag, good & (tag >> numpy.uint64(_TAG_BITS - _CHECK_BITS) == _check(plain))


def _tokens(tags, good):
    for tag, fits in zip(tags.tolist(), good.tolist()):
        if not fits:
            yield -1, [0, 0, 0]
            continue
        token = (tag >> 16 & 255) * IDS_PER_VARIANT + (tag & 65535)
        yield token, [tag >> 24 & 15, tag >> 28 & 15, tag >> 32 & 15]
