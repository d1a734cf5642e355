"""Records what a model of transformers computes, at its attention interface.

Read in src/transformers between 4.57 and 5.0: modeling_utils.AttentionInterface, and the models llama,
mistral, qwen3, gemma2, smollm3, cohere2 and gpt_oss. Each attention module has a layer_idx, is given the
tables of the rotation as position_embeddings, and calls

    function(module, query, key, value, attention_mask, scaling=..., sliding_window=..., softcap=...,
             s_aux=...)

with query [1, heads, m, d], and key and value [1, kv_heads, n, d], after rotation. The function is that of
ALL_ATTENTION_FUNCTIONS for the model's implementation, or eager_attention_forward of the module's own
file. While a Recorder is entered it stands in the place of that function, and calls it.
"""

import contextlib
import sys
from typing import Any, List, Optional, Sequence, Union

import numpy

from ..arguments import listed, shown, whole, word
from ..errors import Error
from .calls import Calls
from .files import write_trace
from .layers import Layer

__all__ = ["Recorder"]


class Recorder:
    """Records the calls of a model, in one pass or several:

        with kvcheck.record.Recorder(model, layers=[0, 8]) as recorder:
            model(input_ids)
        recorder.save("llama.safetensors", words=kvcheck.record.words_of(tokenizer, ids))

    One sequence is recorded, whose tokens follow one another: a text in one pass or in chunks, or a
    generation, with a cache that keeps all keys or slides over a window.

    layers, kv_heads: the model's numbers of those to record [all]; each kv-head comes with the query
    heads that read it. queries: the positions of those to record, as a list or a slice [all].
    rotation: "taken-back" records queries and keys before rotation, "as-given" after it.
    functions: the model's table of attention functions [ALL_ATTENTION_FUNCTIONS of transformers].

    unchecked: the layers that were given tables of a rotation while no output of their own modules showed
    the keys before it; they are taken to have rotated.

    Cost: each layer keeps 4 * d * (query_heads + 2 * kv_heads) bytes of a token in memory.
    """

    def __init__(self, model: Any, *, layers: Optional[Sequence[int]] = None,
                 kv_heads: Optional[Sequence[int]] = None,
                 queries: Union[None, slice, Sequence[int]] = None, rotation: str = "taken-back",
                 functions: Any = None):
        word("rotation", rotation, ("taken-back", "as-given"))
        if not callable(getattr(model, "modules", None)):
            raise Error("model is %s; expected a model of transformers, whose modules() lists its layers" %
                        shown(model))
        if functions is None:
            from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS as functions
        self.model, self.functions, self.rotation = model, functions, rotation
        self._requested = _selected("layers", layers)
        self.kv_heads = _selected("kv_heads", kv_heads)
        if not (queries is None or isinstance(queries, slice)):
            queries = numpy.asarray(_selected("queries", queries))
        self.queries = queries
        self._modules = {id(module): module for module in model.modules()
                         if isinstance(getattr(module, "layer_idx", None), int)}
        if not self._modules:
            raise Error("%s has no module with a layer_idx; expected a model of transformers whose "
                        "layers use its attention interface" % type(model).__name__)
        self._calls = {}  # by layer
        self._running = {}  # by id of a module that is in a call: its tables, and outputs of its children

    def __enter__(self):
        with contextlib.ExitStack() as undo:
            self._stand_in(undo)
            for module in self._modules.values():
                self._watch(module, undo)
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *_):
        self._undo.close()

    def _stand_in(self, undo):
        """Stands in for the attention functions that the model uses."""
        names = {_implementation(module, self.model) for module in self._modules.values()}
        for name in sorted(names - {"eager"}):
            if name not in self.functions:
                raise Error("the model's attention is '%s', which its table of functions lacks" % name)
            undo.callback(self.functions.__setitem__, name, self.functions[name])
            self.functions[name] = self._around(self.functions[name])
        files = {type(module).__module__ for module in self._modules.values()}
        for file in [sys.modules[name] for name in sorted(files)] if "eager" in names else []:
            if hasattr(file, "eager_attention_forward"):
                _replace(file, "eager_attention_forward", self._around(file.eager_attention_forward),
                         undo)

    def _around(self, function):
        def recorded(module, query, key, value, attention_mask=None, *rest, **named):
            if id(module) in self._modules and self._wants(module.layer_idx):
                words = dict(zip(("scaling", "dropout"), rest), **named)
                self._calls_of(module).add(query, key, value, attention_mask, _lookup(module, words),
                                           *self._running.get(id(module), (None, [])))
            return function(module, query, key, value, attention_mask, *rest, **named)
        return recorded

    def _calls_of(self, module):
        calls = self._calls.setdefault(module.layer_idx, Calls(module, self.kv_heads, self.queries))
        if calls.module is not module:
            raise Error("two attention modules have the layer_idx %d; expected one, as in a decoder" %
                        module.layer_idx)
        return calls

    def _wants(self, layer):
        return self._requested is None or layer in self._requested

    def _watch(self, module, undo):
        """Notes the tables that the module is called with, and the outputs of its own modules."""
        forward = module.forward

        def watched(*given, **named):
            tables = named.get("position_embeddings")
            if tables is None:
                tables = next((one for one in given[1:] if isinstance(one, tuple)), None)
            self._running[id(module)] = (tables, [])
            try:
                return forward(*given, **named)
            finally:
                del self._running[id(module)]

        _replace(module, "forward", watched, undo)
        for child in module.children():
            self._watch_child(module, child, undo)

    def _watch_child(self, module, child, undo):
        forward = child.forward

        def watched(*given, **named):
            result = forward(*given, **named)
            tables, outputs = self._running.get(id(module), (None, []))
            calls = self._calls.get(module.layer_idx)
            if tables is not None and (calls is None or calls.shown is None):
                outputs.append(result)
            return result

        _replace(child, "forward", watched, undo)

    @property
    def unchecked(self) -> List[int]:
        return [layer.number for layer in self.layers() if layer.rotation is not None
                and self._calls[layer.number].shown is None]

    @property
    def positions(self) -> Optional[numpy.ndarray]:
        """The positions of the recorded queries; None: those of all tokens."""
        if self.queries is None or not self._calls:
            return None
        return next(iter(self._calls.values())).positions

    def layers(self, kind: str = "qkv") -> List[Layer]:
        """The recorded layers: of kind "qkv", or rows of "attention"."""
        word("kind", kind, ("qkv", "attention"))
        missing = [layer for layer in self._requested or [] if layer not in self._calls]
        if missing or not self._calls:
            raise Error("nothing was recorded of %s; expected a call of the model within `with`, and "
                        "layers that use the attention interface" % (
                            "layer %d" % missing[0] if missing else "any layer"))
        return [self._calls[number].layer(kind, self.rotation == "taken-back", _bases(self.model))
                for number in sorted(self._calls)]

    def save(self, path: Any, *, kind: str = "qkv", **words: Any) -> None:
        """Writes what was recorded as a trace file. words: those of write_trace, such as words,
        token_ids, losses, storage, model, source and licence; what follows from the recording is
        given."""
        layers = self.layers(kind)
        config = _config(self.model)
        known = {"model": getattr(config, "_name_or_path", ""),
                 "model_layers": getattr(config, "num_hidden_layers", None),
                 "queries": self.positions, "kv_head_numbers": self.kv_heads}
        if kind == "attention":
            known["kv_heads"] = self._calls[layers[0].number].recorded_kv_heads
        else:
            known["rope_applied"] = self.rotation == "as-given" and any(
                layer.rotation is not None for layer in layers)
        write_trace(path, layers, **{**known, **words})


def _selected(name, numbers):
    if numbers is None:
        return None
    expected = "one or more numbers, none below 0"
    selected = sorted({whole(name, number) for number in listed(name, numbers, expected)})
    if not selected or selected[0] < 0:
        raise Error("%s is %s; expected %s" % (name, selected, expected))
    return selected


def _config(model):
    config = getattr(model, "config", None)
    return config.get_text_config() if hasattr(config, "get_text_config") else config


def _implementation(module, model):
    config = getattr(module, "config", None) or getattr(model, "config", None)
    return getattr(config, "_attn_implementation", None) or "eager"


def _lookup(module, words):
    """The word of a call by its name, else the module's attribute of the same or another name."""
    def named(name, attribute=None):
        return words[name] if name in words else getattr(module, attribute or name, None)
    return named


def _bases(model):
    """The bases of rotations that a configuration names, in any of its spellings."""
    config, found = _config(model), []
    for name in ("rope_theta", "rope_local_base_freq", "rotary_emb_base"):
        found.append(getattr(config, name, None))
    parameters = [getattr(config, "rope_parameters", None)]
    while parameters:
        one = parameters.pop()
        if isinstance(one, dict):
            found.append(one.get("rope_theta"))
            parameters += one.values()
    return [float(base) for base in found if isinstance(base, (int, float))]


def _replace(holder, name, value, undo):
    """Sets an attribute of one object until `undo` is closed."""
    if name in vars(holder):
        undo.callback(setattr, holder, name, vars(holder)[name])
    else:
        undo.callback(delattr, holder, name)
    setattr(holder, name, value)
