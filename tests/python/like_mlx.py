"""Classes with the interface of mlx-lm's caches, right and wrong, for tests of the adapter."""

import numpy


def causal(count, offset, window_size=None):
    rows, queries = numpy.arange(offset + count), numpy.arange(offset, offset + count)[:, None]
    mask = rows <= queries
    return mask if window_size is None else mask & (rows > queries - window_size)


class KVCache:
    """Memory that grows by steps, of which the first `offset` rows count."""

    step = 8

    def __init__(self):
        self.keys = self.values = None
        self.offset = 0

    def update_and_fetch(self, keys, values):
        begin, self.offset = self.offset, self.offset + keys.shape[2]
        while self.keys is None or self.keys.shape[2] < self.offset:
            more = numpy.zeros((*keys.shape[:2], self.step, keys.shape[3]), keys.dtype)
            self.keys = more if self.keys is None else numpy.concatenate([self.keys, more], 2)
            self.values = self.keys * 0 if self.values is None else numpy.concatenate(
                [self.values, more], 2)
        self.keys[:, :, begin:self.offset] = keys
        self.values[:, :, begin:self.offset] = values
        return self.state

    @property
    def state(self):
        return self.keys[:, :, :self.offset], self.values[:, :, :self.offset]

    @state.setter
    def state(self, pair):
        self.keys, self.values = pair
        self.offset = self.keys.shape[2]

    meta_state = ""

    @classmethod
    def from_state(cls, state, meta_state):
        made = cls.__new__(cls)
        made.state, made.meta_state = state, meta_state
        return made

    def is_trimmable(self):
        return True

    def trim(self, count):
        count = min(self.offset, count)
        self.offset -= count
        return count

    def make_mask(self, count, return_array=False, window_size=None):
        return None if count == 1 else "causal"


class RotatingKVCache:
    """The newest max_size tokens in a ring, whose oldest row the next token takes."""

    def __init__(self, max_size):
        self.max_size, self.offset = max_size, 0
        self.keys = self.values = None

    def in_order(self, rows):
        """The rows of the ring, oldest first."""
        if self.offset <= self.max_size:
            return rows[:, :, :self.offset]
        begin = self.offset % self.max_size
        return numpy.concatenate([rows[:, :, begin:], rows[:, :, :begin]], 2)

    def update_and_fetch(self, keys, values):
        count = keys.shape[2]
        if self.keys is None:
            shape = (*keys.shape[:2], self.max_size, keys.shape[3])
            self.keys, self.values = numpy.zeros(shape, keys.dtype), numpy.zeros(shape, keys.dtype)
        # A chunk's queries see up to max_size - 1 rows before it.
        before = [self.in_order(rows)[:, :, -(self.max_size - 1):].copy() if self.max_size > 1
                  else rows[:, :, :0] for rows in (self.keys, self.values)]
        for at in range(count):
            slot = (self.offset + at) % self.max_size
            self.keys[:, :, slot], self.values[:, :, slot] = keys[:, :, at], values[:, :, at]
        self.offset += count
        if count == 1:
            return self.state
        return [numpy.concatenate([old, new], 2) for old, new in zip(before, (keys, values))]

    @property
    def state(self):
        rows = min(self.offset, self.max_size)
        return self.keys[:, :, :rows], self.values[:, :, :rows]

    @state.setter
    def state(self, pair):
        shape = (*pair[0].shape[:2], self.max_size, pair[0].shape[3])
        self.keys, self.values = (numpy.zeros(shape, rows.dtype) for rows in pair)
        self.keys[:, :, :pair[0].shape[2]], self.values[:, :, :pair[0].shape[2]] = pair

    @property
    def meta_state(self):
        return str(self.max_size), str(self.offset)

    @meta_state.setter
    def meta_state(self, words):
        self.max_size, self.offset = map(int, words)

    @classmethod
    def from_state(cls, state, meta_state):
        made = cls.__new__(cls)
        made.meta_state = meta_state
        made.state = state
        return made

    def is_trimmable(self):
        return self.offset < self.max_size

    def trim(self, count):
        count = min(self.offset, count)
        self.offset -= count
        return count

    def make_mask(self, count, return_array=False, window_size=None):
        if count == 1:
            return None
        return causal(count, min(self.offset, self.max_size - 1), self.max_size)


class OrderAfterWrap(RotatingKVCache):
    """Takes the ring as it lies for the past of a chunk, also once it has wrapped around."""

    def in_order(self, rows):
        return rows[:, :, :min(self.offset, self.max_size)]


class TrimBeyondWindow(RotatingKVCache):
    """Trims although the rows that would come back are overwritten."""

    def is_trimmable(self):
        return True


class MetaLosesOffset(RotatingKVCache):
    """Saves its rows, and of its offset no more than the rows that it has."""

    @property
    def meta_state(self):
        return str(self.max_size), str(min(self.offset, self.max_size))

    @meta_state.setter
    def meta_state(self, words):
        self.max_size, self.offset = map(int, words)


class TrimLeavesOffset(KVCache):
    def trim(self, count):
        return min(self.offset, count)
