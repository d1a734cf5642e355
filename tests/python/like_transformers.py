"""Classes with the interface of transformers' Cache, right and wrong, for tests of the adapter."""

import numpy


class Layer:
    """Keeps everything, or a sliding window."""

    is_sliding = False
    ahead = 1  # rows less than the window that are stored, as the next token's place is made ahead

    def __init__(self, window=0):
        self.keys = self.values = None
        self.sliding_window, self.is_sliding, self.seen = window, window > 0, 0

    def update(self, keys, values, cache_kwargs=None):
        if self.keys is not None:
            keys = numpy.concatenate([self.keys, keys], 2)
            values = numpy.concatenate([self.values, values], 2)
        self.seen += keys.shape[2] - (0 if self.keys is None else self.keys.shape[2])
        self.keys, self.values = self.last(keys), self.last(values)
        return keys, values

    def last(self, rows):
        keep = self.sliding_window - self.ahead if self.is_sliding else rows.shape[2]
        return rows[:, :, max(0, rows.shape[2] - keep):]

    def get_seq_length(self):
        return self.seen

    def get_mask_sizes(self, cache_position):
        count = cache_position.shape[0]
        offset = max(0, self.seen - self.sliding_window + 1) if self.is_sliding else 0
        return self.seen - offset + count, offset

    def crop(self, length):
        if self.is_sliding and self.seen >= self.sliding_window:
            raise ValueError("rows before the window are gone")
        if self.seen <= length:
            return
        self.seen = length
        self.keys, self.values = self.keys[:, :, :length], self.values[:, :, :length]

    def on_batch(self, change):
        if self.keys is not None:
            self.keys, self.values = change(self.keys), change(self.values)


class Cache:
    layer = Layer

    def __init__(self, config):
        text = config.get_text_config(decoder=True)
        self.layers = [self.layer(text.sliding_window if kind == "sliding_attention" else 0)
                       for kind in text.layer_types]

    @property
    def is_sliding(self):
        return [layer.is_sliding for layer in self.layers]

    def update(self, key_states, value_states, layer_idx, cache_kwargs=None):
        return self.layers[layer_idx].update(key_states, value_states, cache_kwargs)

    def get_seq_length(self, layer_idx=0):
        return self.layers[layer_idx].get_seq_length()

    def get_mask_sizes(self, cache_position, layer_idx):
        return self.layers[layer_idx].get_mask_sizes(cache_position)

    def crop(self, length):
        if any(layer.is_sliding and layer.seen >= layer.sliding_window for layer in self.layers):
            raise ValueError("rows before the window are gone")
        for layer in self.layers:
            layer.crop(length)

    def reset(self):
        self.layers = [type(layer)(layer.sliding_window) for layer in self.layers]

    def reorder_cache(self, beams):
        for layer in self.layers:
            layer.on_batch(lambda rows: rows[beams])

    batch_select_indices = reorder_cache

    def batch_repeat_interleave(self, repeats):
        for layer in self.layers:
            layer.on_batch(lambda rows: rows.repeat(repeats, 0))


class LaterCache(Cache):
    """As of 5.x: the length of the queries instead of their positions."""

    def get_mask_sizes(self, query_length, layer_idx):
        return self.layers[layer_idx].get_mask_sizes(numpy.empty(query_length))


class PreallocatedLayer(Layer):
    """Writes into memory of a fixed length."""

    size = 1200

    def update(self, keys, values, cache_kwargs=None):
        if self.keys is None:
            shape = (*keys.shape[:2], self.size, keys.shape[3])
            self.keys, self.values = numpy.zeros(shape, keys.dtype), numpy.zeros(shape, keys.dtype)
        at = cache_kwargs["cache_position"]
        self.keys[:, :, at], self.values[:, :, at] = keys, values
        self.seen += keys.shape[2]
        return self.keys, self.values

    def get_mask_sizes(self, cache_position):
        return self.size, 0

    def crop(self, length):
        if self.seen > length:
            self.keys[:, :, length:], self.values[:, :, length:], self.seen = 0, 0, length


class PreallocatedCache(Cache):
    layer = PreallocatedLayer


class CropLeavesLengthLayer(Layer):
    def crop(self, length):
        seen = self.seen
        super().crop(length)
        self.seen = seen

    def get_mask_sizes(self, cache_position):
        rows = 0 if self.keys is None else self.keys.shape[2]
        return rows + cache_position.shape[0], self.seen - rows


class CropLeavesLength(Cache):
    """The rows go and the sequence length remains, so the next tokens are rotated too far."""
    layer = CropLeavesLengthLayer


class OneRowTooManyLayer(Layer):
    ahead = 0

    def get_mask_sizes(self, cache_position):
        offset = max(0, self.seen - self.sliding_window) if self.is_sliding else 0
        return self.seen - offset + cache_position.shape[0], offset


class OneRowTooMany(Cache):
    """A sliding layer that stores its whole window between calls."""
    layer = OneRowTooManyLayer


class MaskOneShort(Cache):
    """A mask for fewer rows than update returns."""

    def get_mask_sizes(self, cache_position, layer_idx):
        rows, offset = super().get_mask_sizes(cache_position, layer_idx)
        return rows - 1, offset + 1


class SequencesLayer(Layer):
    """Keeps memory of its own for each sequence."""

    size = 1200

    def update(self, keys, values, cache_kwargs=None):
        if self.keys is None:
            shape = (*keys.shape[1:2], self.size, keys.shape[3])
            self.keys = [numpy.zeros(shape, keys.dtype) for _ in keys]
            self.values = [numpy.zeros(shape, keys.dtype) for _ in keys]
        begin, self.seen = self.seen, self.seen + keys.shape[2]
        for mine, theirs in zip(self.keys + self.values, [*keys, *values]):
            mine[:, begin:self.seen] = theirs
        return [numpy.stack(rows)[:, :, :self.seen] for rows in (self.keys, self.values)]

    def crop(self, length):
        if self.seen > length:
            self.seen = length
            for rows in self.keys + self.values:
                rows[:, length:] = 0

    def on_batch(self, change):
        if self.keys is not None:
            order = change(numpy.arange(len(self.keys)))
            self.keys = [self.copied(self.keys[at]) for at in order]
            self.values = [self.copied(self.values[at]) for at in order]

    def copied(self, rows):
        return rows.copy()


class SequencesCache(Cache):
    layer = SequencesLayer


class SharedRowsLayer(SequencesLayer):
    def copied(self, rows):
        return rows


class SharedRows(Cache):
    """Two beams of one parent write into the same memory."""
    layer = SharedRowsLayer


class ReorderForgetsValues(Cache):
    def reorder_cache(self, beams):
        for layer in self.layers:
            if layer.keys is not None:
                layer.keys = layer.keys[beams]


class ResetLeavesRows(Cache):
    """The rows are zeroed and remain."""

    def reset(self):
        for layer in self.layers:
            if layer.keys is not None:
                layer.keys, layer.values = layer.keys * 0, layer.values * 0
