"""Classes with the interface of kvpress's presses, right and wrong, for tests of the adapter."""

import numpy


class KnormPress:
    """Keeps the keys of the least length."""

    def __init__(self, compression_ratio=0.0):
        self.compression_ratio = compression_ratio

    def score(self, module, hidden_states, keys, values, attentions, kwargs):
        return -numpy.linalg.norm(keys.astype(numpy.float32), axis=-1)

    def selected(self, scores, count):
        return numpy.argsort(-scores, axis=-1, kind="stable")[..., :count]

    def compress(self, module, hidden_states, keys, values, attentions, kwargs):
        if self.compression_ratio == 0:
            return keys, values
        scores = self.score(module, hidden_states, keys, values, attentions, kwargs)
        rows = self.selected(scores, int(keys.shape[2] * (1 - self.compression_ratio)))[..., None]
        return numpy.take_along_axis(keys, rows, 2), numpy.take_along_axis(values, rows, 2)

    def forward_hook(self, module, input, kwargs, output):
        layer = kwargs["past_key_values"].layers[module.layer_idx]
        if kwargs["cache_position"][-1] + 1 == kwargs["hidden_states"].shape[1]:
            layer.keys, layer.values = self.compress(module, kwargs["hidden_states"], layer.keys,
                                                     layer.values, output[1], kwargs)
        return output


class ObservedPress(KnormPress):
    """Keeps the rows with the most attention."""

    def score(self, module, hidden_states, keys, values, attentions, kwargs):
        sequences, heads, _, rows = attentions.shape
        assert hidden_states.shape[-1] == heads * module.head_dim
        return attentions.reshape(sequences, keys.shape[1], -1, rows).sum(2)


class CompressOnly:
    """A press without a hook."""

    def __init__(self, compression_ratio=0.0):
        self.compression_ratio = compression_ratio
        self.compress = KnormPress.compress.__get__(self)

    score, selected = KnormPress.score, KnormPress.selected


class Decoding:
    compression_interval = 1

    def __init__(self, budget):
        self.budget, self.press = budget, KnormPress()

    def forward_hook(self, module, input, kwargs, output):
        layer = kwargs["past_key_values"].layers[module.layer_idx]
        rows = layer.keys.shape[2]
        if rows > self.budget:
            self.press.compression_ratio = 1 - (self.budget + 0.5) / rows
            layer.keys, layer.values = self.press.compress(module, None, layer.keys, layer.values,
                                                           output[1], kwargs)


class Both:
    """A press for the prompt and one for decoding."""

    def __init__(self, prefilling, decoding):
        self.prefilling_press, self.decoding_press = prefilling, decoding

    def forward_hook(self, module, input, kwargs, output):
        prompt = kwargs["cache_position"][-1] + 1 == kwargs["hidden_states"].shape[1]
        press = self.prefilling_press if prompt else self.decoding_press
        return press.forward_hook(module, input, kwargs, output)


def both(budget):
    return Both(KnormPress(), Decoding(budget))


class ValuesOfHead0(KnormPress):
    """Gathers the values of all heads by the rows of the first."""

    def compress(self, module, hidden_states, keys, values, attentions, kwargs):
        if self.compression_ratio == 0:
            return keys, values
        scores = self.score(module, hidden_states, keys, values, attentions, kwargs)
        rows = self.selected(scores, int(keys.shape[2] * (1 - self.compression_ratio)))[..., None]
        return numpy.take_along_axis(keys, rows, 2), numpy.take_along_axis(values, rows[:, :1], 2)


class KeepsOneFewer(KnormPress):
    def selected(self, scores, count):
        return super().selected(scores, count - 1 if count > 1 else count)


class DecodingForgets(Decoding):
    """Compresses at every second step although it says at every one."""

    steps = 0

    def forward_hook(self, module, input, kwargs, output):
        self.steps += module.layer_idx == 0
        if self.steps % 2:
            super().forward_hook(module, input, kwargs, output)


def forgetful(budget):
    return Both(KnormPress(), DecodingForgets(budget))
