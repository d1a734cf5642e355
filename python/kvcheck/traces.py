"""Traces: recorded attention, as files or as NumPy arrays.

A trace holds, for some layers of a model, either rows of attention or queries, keys and values.
Shapes are [heads, n, n] and [heads, n, d], with a leading axis of layers where there
are several; n is the number of tokens. See traces/FORMAT.md, whose section 4 defines what layers may do.
"""

import numbers
import os
import warnings
from typing import List, Optional, Sequence

import numpy

from . import _kvcheck
from .arguments import flag, path as path_of, real, shown, text, whole, word
from .errors import Error, in_keywords
from .origins import FromArrays, FromFile, FromSpec
from .trace_arguments import (by_layer, joined_words, layer_numbers, layered, listed_by_layer,
                              recorded_queries, require_positions, table_of, token_numbers)

__all__ = ["Trace", "attention", "generate", "open_trace", "qkv"]


class Trace:
    """Recorded attention. Made by open_trace, attention, qkv and generate.

    Attributes: name, kind ("attention" or "qkv"), model, loop, tokens, query_heads, kv_heads,
    head_dim (0 if unknown), layers (the model's numbers of the recorded layers), model_layers (how
    many the model has; 0 if unknown), query_positions (of the recorded queries; None if they are all),
    query_design (how they were selected; empty if that is unknown or they are all), learned_sinks (of
    attention: whether rows may sum to less than 1), rope_applied (whether queries and keys are those
    after rotation) and rules: of a qkv trace, what each layer does, as a dictionary with the names of
    the arguments of qkv.

    A trace can be pickled: one of a file as the file's path and checksum, so that the file must be there
    and unchanged where it is unpickled; a synthetic one as its spec; one of arrays with all of them.
    Copies are the trace itself, which does not change.
    """

    def __init__(self, handle: "_kvcheck.Trace", origin):
        if not isinstance(handle, _kvcheck.Trace):
            raise Error("Trace got %s; expected open_trace, attention, qkv or generate to make the trace"
                        % shown(handle))
        self._handle, self._origin = handle, origin
        self.__dict__.update(handle.facts())

    def __reduce__(self):
        return _again, (self._origin,)

    def __copy__(self):
        return self

    def __deepcopy__(self, _):
        return self

    def __repr__(self):
        def counted(number, noun):
            return "%d %s%s" % (number, noun, "" if number == 1 else "s")

        return "<kvcheck.Trace %r: %s, %s, %s of %s>" % (
            self.name, self.kind, counted(self.tokens, "token"), counted(len(self.layers), "layer"),
            counted(self.query_heads, "head"))

    def _array(self, layer: int, which: str) -> numpy.ndarray:
        index = whole("layer", layer)
        if not 0 <= index < len(self.layers):
            raise Error("there is no layer with index %d; '%s' has %d" % (
                index, self.name, len(self.layers)))
        return self._handle.array(index, which)

    def attention(self, layer: int = 0) -> numpy.ndarray:
        """The rows of the layer with this index into `layers`: [heads, m, n] for m recorded queries,
        float32 or float16; a copy."""
        return self._array(layer, "attention")

    def queries(self, layer: int = 0) -> numpy.ndarray:
        """The recorded queries, before rotation unless rope_applied: [heads, m, d]; a copy."""
        return self._array(layer, "queries")

    def keys(self, layer: int = 0) -> numpy.ndarray:
        """Keys, before rotation unless rope_applied: [kv_heads, n, d]; a copy."""
        return self._array(layer, "keys")

    def values(self, layer: int = 0) -> numpy.ndarray:
        """Values: [kv_heads, n, d]; a copy."""
        return self._array(layer, "values")

    @property
    def token_ids(self) -> numpy.ndarray:
        """[n], int32; empty if the trace has none."""
        return self._handle.token_ids()

    @property
    def words(self) -> List[str]:
        """The text of each token; empty if the trace has no text. Bytes that are no UTF-8 alone, as
        parts of a letter are, become the replacement character."""
        return [word.decode(errors="replace") for word in self._handle.words()]

    def save(self, path: "str | os.PathLike") -> None:
        """Writes a trace file. It appears whole or not at all."""
        self._handle.save(os.fsencode(path_of("path", path)))


def _again(origin) -> Trace:
    """A pickled trace."""
    return Trace(origin.again(), origin)


def open_trace(path: "str | os.PathLike", kv_heads: Optional[int] = None,
               learned_sinks: bool = False) -> Trace:
    """Opens a trace file, or a NumPy dump of attention (.npy, .npz).

    kv_heads: how many key/value heads the query heads of a dump share. Left out, each query head has
    one of its own, which is wrong for models with grouped-query attention; a warning says so if there
    are 8 or more, unless an .npz file has its `kv_heads`. learned_sinks: the rows of
    a dump have a sink that is no token (gpt-oss), so that they sum to less than one.
    """
    place = path_of("path", path)
    shared = 0 if kv_heads is None else whole("kv_heads", kv_heads, 1, _MOST)
    sinks = flag("learned_sinks", learned_sinks)
    if place.startswith("synthetic:"):
        raise Error("'%s' is a synthetic stream; expected kvcheck.generate(%r)" % (
            place, place[len("synthetic:"):]))
    try:
        handle = _kvcheck.open_trace(os.fsencode(place), shared, sinks)
    except Error as error:
        raise Error(in_keywords(str(error))) from None
    trace = Trace(handle, FromFile(os.path.abspath(place), shared, sinks, handle.checksum()))
    if not shared and place.endswith((".npy", ".npz")) and not _says_kv_heads(place):
        _warn_of_own_caches(trace.name, trace.query_heads)
    return trace


def _says_kv_heads(path: str) -> bool:
    if path.endswith(".npy"):
        return False
    with numpy.load(path) as archive:
        return "kv_heads" in archive.files


_MOST = 2**31 - 1  # heads or layers

# Smaller models rarely group their queries (cli/replay/kv_heads.cpp).
_FEWEST_GROUPED = 8


def _warn_of_own_caches(name: str, heads: int) -> None:
    if heads >= _FEWEST_GROUPED:
        warnings.warn("'%s' does not say which of its %d heads share keys, so each has a cache of its "
                      "own; give the model's number of kv-heads, such as kv_heads=%d, or kv_heads=%d if "
                      "it groups no queries" % (name, heads, max(1, heads // 4), heads), stacklevel=3)


def generate(spec: str, **fields) -> Trace:
    """A synthetic stream, such as generate("zipf:tokens=512,heads=4,seed=2"), which is also
    generate("zipf", tokens=512, heads=4, seed=2), also with "synthetic:" before it. See `python3 -m kvcheck
    trace generate --help`."""
    spec = text("spec", spec, "a generator such as 'zipf:tokens=512'")
    spec = spec[len("synthetic:"):] if spec.startswith("synthetic:") else spec
    for name, value in fields.items():
        if isinstance(value, (bool, numpy.bool_)) or not isinstance(value, (str, numbers.Real)):
            raise Error("%s is %s; expected a number or a word" % (name, shown(value)))
        spec += "%s%s=%s" % ("," if ":" in spec else ":", name, text(name, str(value)))
    handle = _kvcheck.open_trace("synthetic:" + spec)
    return Trace(handle, FromSpec(spec))


def trace_of(given) -> Trace:
    """The trace that a caller names: a Trace, a path, "synthetic:SPEC", or rows of attention."""
    if isinstance(given, Trace):
        return given
    if isinstance(given, str) and given.startswith("synthetic:"):
        return generate(given[len("synthetic:"):])
    if isinstance(given, (str, bytes, os.PathLike)):
        return open_trace(given)
    if hasattr(given, "__array__"):
        return attention(given)
    raise Error("trace is a %s; expected a Trace, a path, 'synthetic:SPEC', or an array of attention "
                "rows; qkv(queries, keys, values) makes a Trace of vectors" % type(given).__name__)


def _made(name, metadata, layers, arrays, tokens, words, token_ids, tables=None) -> Trace:
    joined, ends = joined_words(words, tokens)
    origin = FromArrays(text("name", name), {key: str(value) for key, value in metadata.items() if value != ""},
                        layers, arrays, tables or {}, token_numbers(token_ids, tokens), joined, ends)
    return Trace(origin.again(), origin)


def attention(rows, *, name: str = "attention", kv_heads: Optional[int] = None, model: str = "",
              layers: Optional[Sequence[int]] = None, words: Optional[Sequence[str]] = None,
              token_ids: Optional[Sequence[int]] = None, learned_sinks: bool = False,
              query_positions: Optional[Sequence[int]] = None, query_design: str = "") -> Trace:
    """A trace of attention rows: probabilities, [heads, n, n] or [layers, heads, n, n].

    Row t holds what query t gives to keys 0 to t; it sums to one, and what is above the diagonal is
    zero. Every number is checked. float64 is rounded to float32; arrays that are not contiguous are
    copied. What a model of transformers returns for one text is taken as it is, as in
    attention(outputs.attentions): a tuple with [1, heads, n, n] for each layer.

    kv_heads: how many key/value heads the query heads share [one each, with a warning if they are 8 or
    more]. layers: the model's numbers
    of the layers [0, 1, ...]. words: the text of each token, for policies that read words.
    learned_sinks: each row also has a sink that is no token, so that it may sum to less than one.
    query_positions: with rows [heads, m, n], the positions of their m queries, increasing [all].
    query_design: how these were selected, such as "64/1000" (as in `kvcheck record --queries`), for
    which a replay has intervals.
    """
    array = layered("rows", rows, "heads, n, n")
    require_positions(query_positions, query_design)
    count, heads, queries, tokens = array.shape
    if queries != tokens and query_positions is None:
        raise Error("rows has %d queries and %d keys; expected as many, or query_positions" % (
            queries, tokens))
    if kv_heads is None:
        _warn_of_own_caches(text("name", name), heads)
    shared = heads if kv_heads is None else whole("kv_heads", kv_heads)
    if shared < 1 or heads % shared != 0:
        raise Error("kv_heads is %d; expected a divisor of the %d heads" % (shared, heads))
    metadata = {"format": "kvcheck-trace", "version": 1, "kind": "attention", "model": text("model", model),
                "query_heads": heads, "kv_heads": shared}
    if flag("learned_sinks", learned_sinks):
        metadata.update(version=2, learned_sinks="yes")
    tables = recorded_queries(query_positions, query_design, queries, metadata)
    return _made(name, metadata, layer_numbers(layers, count), [[layer] for layer in array], tokens,
                 words, token_ids, tables)


def qkv(queries, keys, values, *, rope="half", theta: Optional[float] = 10000.0,
        rope_dims: Optional[int] = None, frequencies=None, rope_scale=1.0, rope_applied: bool = False,
        attention_scale=None, soft_cap=None, window=None, sinks=None, slopes=None,
        model_layers: int = 0, name: str = "qkv", model: str = "",
        layers: Optional[Sequence[int]] = None, words: Optional[Sequence[str]] = None,
        token_ids: Optional[Sequence[int]] = None, query_positions: Optional[Sequence[int]] = None,
        query_design: str = "") -> Trace:
    """A trace of queries [heads, n, d], keys and values [kv_heads, n, d], before rotation, with an
    axis of layers before these where there are several.

    rope: "none", "half" (pairs a dimension with the one half a head away, as Llama and NeoX do in
    transformers) or "interleaved" (neighbours, as in GPT-J). theta: the base of its frequencies.
    rope_dims: how many of the first dimensions rotate [all]. rope_applied: queries and keys were
    recorded after rotation.

    What follows may be a value for all layers or a list with one for each, None where a layer has
    none; rope may be such a list too. frequencies: the radians per position of each pair
    (inv_freq in transformers), in place of theta. rope_scale: multiplies cosines and sines (YaRN).
    attention_scale: of q . k [1 / sqrt(d)]. soft_cap: logits x become soft_cap tanh(x / soft_cap).
    window: how many newest positions a query sees. sinks: a logit for each head that has no value
    (gpt-oss). slopes: what each head's logits lose per position (ALiBi). model_layers: how many
    layers the model has.

    query_positions: with queries [heads, m, d], the positions of these m, increasing [all]; keys and
    values are always those of all tokens. query_design: how they were selected, such as "64/1000" (as
    in `kvcheck record --queries`), for which a replay has intervals.
    """
    arrays = [layered(what, given, "heads, n, d")
              for what, given in (("queries", queries), ("keys", keys), ("values", values))]
    if len({array.dtype for array in arrays}) > 1:
        raise Error("queries, keys and values have the dtypes %s; expected one dtype" % ", ".join(
            str(array.dtype) for array in arrays))
    require_positions(query_positions, query_design)
    count, heads, rows, dim = arrays[0].shape
    shared, tokens = arrays[1].shape[1:3] if query_positions is not None else (
        arrays[1].shape[1], rows)
    for what, array in zip(("keys", "values"), arrays[1:]):
        if array.shape != (count, shared, tokens, dim):
            raise Error("%s has the shape %s; expected %s, as queries has %s" % (
                what, array.shape, (count, shared, tokens, dim), arrays[0].shape))
    if heads % shared != 0:
        raise Error("keys has %d heads; expected a divisor of the %d of queries" % (shared, heads))
    layouts = [word("rope", layout, ("none", "half", "interleaved"))
               for layout in listed_by_layer(rope)]
    metadata = {"format": "kvcheck-trace", "version": 1, "kind": "qkv", "model": text("model", model),
                "query_heads": heads, "kv_heads": shared, "head_dim": dim,
                "rope_layout": by_layer("rope", layouts, count)}
    if set(layouts) != {"none"}:
        metadata["rope_dims"] = dim if rope_dims is None else whole("rope_dims", rope_dims)
        if not 2 <= metadata["rope_dims"] <= dim:
            raise Error("rope_dims is %d; expected 2 to %d" % (metadata["rope_dims"], dim))
        if theta is not None:
            metadata["rope_theta"] = repr(real("theta", theta, 0))
        elif frequencies is None:
            raise Error("theta is None; expected a number above 0, or frequencies")
    rules = {what: by_layer(what, given, count) for what, given in
             (("rope_scale", rope_scale), ("soft_cap", soft_cap), ("window", window),
              ("attention_scale", attention_scale))}
    # What is as usual is left out, as in version 1.
    rules = {what: value for what, value in rules.items()
             if value != ("1.0" if what == "rope_scale" else "none")}
    if flag("rope_applied", rope_applied):
        rules["rope_applied"] = "yes"
    if whole("model_layers", model_layers, 0, _MOST):
        rules["model_layers"] = int(model_layers)
    tables = {what: table_of(what, given, count) for what, given in
              (("frequencies", frequencies), ("sinks", sinks), ("slopes", slopes)) if given is not None}
    for layer, table in enumerate(tables.get("frequencies", ())):
        if table and 2 * len(table) != metadata.get("rope_dims", 0):
            raise Error("frequencies of layer %d has %d numbers; expected %d, one for each pair of rope_dims" % (
                layer, len(table), metadata.get("rope_dims", 0) // 2))
    if rules or tables or len(layouts) > 1:
        metadata.update(rules, version=2)
    tables.update(recorded_queries(query_positions, query_design, rows, metadata))
    return _made(name, metadata, layer_numbers(layers, count),
                 [list(layer) for layer in zip(*arrays)], tokens, words, token_ids, tables)
