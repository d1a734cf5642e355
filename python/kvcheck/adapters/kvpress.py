"""Presses with the interface of kvpress's BasePress (read in kvpress/presses of 0.5.4).

A press compresses what a cache holds after the forward pass of an attention layer. Here an ordinary
growing cache is updated for each layer, its queries see everything stored, and then the press's
forward_hook is called as PyTorch calls it, with a module that has the sizes of the case and whose
projections give the layer's own keys as queries and keys. A class that has compress alone is called
once, after the prompt. Rows of one token are the same in each sequence, as presses score by what is in
them. Presses that read other parts of a model (norms, weights) need that model and
cannot be tested so.

A press has no budget but a share of the prompt to remove. Before each prompt compression_ratio is set
to the share that leaves the budget. What follows the prompt grows, so the contract says that a unit
stores from the budget up to everything, unless the press has a decoding_press: that is expected to
compress to the budget whenever its interval is over. A function that takes budget makes one:

    def both(budget):
        return PrefillDecodingPress(KnormPress(), DecodingPress(
            KnormPress(), compression_interval=1, target_size=budget, hidden_states_buffer_size=0))
"""

from types import SimpleNamespace

import numpy

from ..arrays import array_of
from ..serving import Refused
from . import call, serve_tensors

HOME = "kvpress"
INSTALL = "pip install kvpress"
ARRAYS = "torch"
WORDS = ("target_size",)


class _Layer:
    """What presses read and write of a layer of transformers' DynamicCache."""

    def __init__(self, join):
        self.keys = self.values = None
        self.join = join

    def update(self, keys, values):
        self.keys = keys if self.keys is None else self.join(self.keys, keys)
        self.values = values if self.values is None else self.join(self.values, values)


def _join(old, new):
    if isinstance(old, numpy.ndarray):
        return numpy.concatenate([old, new], 2)
    import torch
    return torch.cat([old, new], 2)


class _Module:
    """An attention layer of the sizes of a case. Its hidden states are its keys, once for each query
    head, so projections have nothing to do."""

    def __init__(self, setup, layer):
        heads = setup["kv_heads"] * setup["group"]
        self.layer_idx, self.head_dim = layer, setup["head_dim"]
        self.num_key_value_groups, self.training, self.is_sliding = setup["group"], False, False
        self.config = SimpleNamespace(
            num_attention_heads=heads, num_key_value_heads=setup["kv_heads"],
            head_dim=setup["head_dim"], hidden_size=heads * setup["head_dim"],
            num_hidden_layers=setup["layers"], _attn_implementation="eager")
        self.group = setup["group"]

    def q_proj(self, hidden):
        return hidden

    def k_proj(self, hidden):
        width = hidden.shape[-1] // self.head_dim
        return hidden.reshape(*hidden.shape[:-1], width, self.head_dim)[..., ::self.group, :].reshape(
            *hidden.shape[:-1], -1)

    v_proj = k_proj


class Pressed:
    """A cache under a press as kvcheck.tensors drives it."""

    def __init__(self, factory, setup, arrays, attention):
        self.setup, self.arrays, self.attention, self.fed = setup, arrays, attention, 0
        self.press = call(factory, dict(setup, target_size=setup["budget"]))
        self.layers = [_Layer(_join) for _ in range(setup["layers"])]  # as past_key_values.layers
        self.modules = [_Module(setup, layer) for layer in range(setup["layers"])]

    def update(self, keys, values, layer):
        count = keys.shape[2]
        if layer == 0:
            self.first, self.fed = self.fed, self.fed + count
        self.layers[layer].update(keys, values)
        returned = self.layers[layer].keys, self.layers[layer].values
        if self.attention:
            self.new_keys = keys  # the press runs in observe, which has the weights
        else:
            self._press(keys, None, layer)
        return returned

    def observe(self, weights, layer):
        self._press(self.new_keys, weights, layer)

    def _press(self, keys, weights, layer):
        """What happens after a layer's forward pass over `keys`."""
        mine, module = self.layers[layer], self.modules[layer]
        count = keys.shape[2]
        prompt = self.first == 0
        self._set_ratio(mine.keys.shape[2] if prompt else 0)
        positions = numpy.arange(self.first, self.fed)
        hidden = numpy.repeat(array_of(keys), self.setup["group"], 1).swapaxes(1, 2)
        hidden = self.arrays.floats(numpy.ascontiguousarray(
            hidden.reshape(hidden.shape[0], count, -1), numpy.float32))
        words = {"hidden_states": hidden, "past_key_values": self, "attention_mask": None,
                 "cache_position": self.arrays.integers(positions),
                 "position_embeddings": self._rotations(positions)}
        if hasattr(self.press, "forward_hook"):
            self.press.forward_hook(module, [], words, [hidden, weights])
        elif prompt:
            mine.keys, mine.values = self.press.compress(module, hidden, mine.keys, mine.values,
                                                         weights, words)

    def _set_ratio(self, rows):
        press = getattr(self.press, "prefilling_press", None) or self.press
        if rows and hasattr(press, "compression_ratio"):
            # Half a row more than the budget, which presses round down.
            press.compression_ratio = max(0.0, 1 - (self.setup["budget"] + 0.5) / rows)

    def _rotations(self, positions):
        dim = self.setup["head_dim"]
        speeds = 10000.0 ** (-numpy.arange(dim // 2) / (dim // 2))
        angles = numpy.tile(positions[:, None] * speeds, 2)[None]
        return tuple(self.arrays.floats(rotate(angles).astype(numpy.float32))
                     for rotate in (numpy.cos, numpy.sin))

    def stored(self, layer):
        return self.layers[layer].keys, self.layers[layer].values


def serve(factory, options, name):
    attention = bool(options.contract.get("wants_attention"))

    def contract(setup):
        if setup["budget"] == 0:
            raise Refused("a press keeps at least one row")
        words = {"sinks": 0, "recent": 0, "budget": setup["budget"], "visibility": "causal",
                 "unordered": True, "self_may_go": True, "longest_chunk": 1, "first_chunk": "any"}
        press = call(factory, dict(setup, target_size=setup["budget"]))
        decoding = getattr(press, "decoding_press", None)
        if decoding is None:
            return dict(words, largest_budget="any")
        interval = int(getattr(decoding, "compression_interval", 1))
        return dict(words, timing="lazy", slack=interval - 1) if interval > 1 else words

    serve_tensors(lambda setup, arrays: Pressed(factory, setup, arrays, attention), contract, options,
                  name, ARRAYS, attention, alike=True)
