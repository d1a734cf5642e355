"""What a layer computes attention from, and how a trace file says so (traces/FORMAT.md)."""

from dataclasses import dataclass, replace
from typing import Any, Optional

import numpy

from ..arguments import array, real, shown, whole
from ..errors import Error
from .rotation import Rotation, checked_rotation

__all__ = ["Layer"]


@dataclass
class Layer:
    """What one layer computed attention from, or its rows of attention.

    number: the model's number of the layer, from 0.
    queries: [query_heads, m, d]. keys, values: [kv_heads, n, d]. All are float; m is n, or the number
    of recorded queries.
    attention: [query_heads, m, n], rows of probabilities, instead of the three.
    rotation: that of queries and keys; None: there is none.
    scale: the factor of query times key [1 / sqrt(d)]. soft_cap: c of c * tanh(logit / c).
    window: how many newest positions a query sees, its own included [all].
    sinks, slopes: [query_heads], learned logits beside the keys, and the slopes of ALiBi.
    """

    number: int
    queries: Any = None
    keys: Any = None
    values: Any = None
    attention: Any = None
    rotation: Optional[Rotation] = None
    scale: Optional[float] = None
    soft_cap: Optional[float] = None
    window: Optional[int] = None
    sinks: Any = None
    slopes: Any = None


def checked_layer(layer):
    """The layer with its numbers as those of Python. Its arrays are checked where they are stored."""
    if not isinstance(layer, Layer):
        raise Error("layers has %s; expected a record.Layer for each" % shown(layer))
    number = whole("number of a layer", layer.number)
    checked = {}
    for name, check in (("scale", real), ("soft_cap", real), ("window", whole),
                        ("rotation", checked_rotation)):
        if getattr(layer, name) is not None:
            checked[name] = check("%s of layer %d" % (name, number), getattr(layer, name))
    return replace(layer, number=number, **checked)


def short(values):
    shown = [str(value) for value in values[:6]]
    return "[" + ", ".join(shown) + (", ...]" if len(values) > 6 else "]")


def _list(values):
    """One value if all layers have the same, else one for each."""
    values = [str(value) for value in values]
    return values[0] if len(set(values)) == 1 else ",".join(values)


def entries_of(layers, sizes, rope_applied):
    """The metadata that say how a layer computes attention; what is left out is as in version 1."""
    entries = {}
    rotating = [layer.rotation for layer in layers if layer.rotation is not None]
    entries["rope_layout"] = _list(layer.rotation.layout if layer.rotation else "none"
                                   for layer in layers)
    if rotating:
        for what in ("layout", "dims"):
            if len({getattr(rotation, what) for rotation in rotating}) > 1:
                raise Error("the layers' rotations differ in %s; a trace holds one, so expected "
                            "files for each" % what)
        entries["rope_dims"] = str(rotating[0].dims)
        bases = {rotation.theta for rotation in rotating} - {None}
        if len(bases) == 1:  # where there are several, all layers have tables
            entries["rope_theta"] = repr(bases.pop())
        if any(rotation.scale != 1 for rotation in rotating):
            entries["rope_scale"] = _list(repr(layer.rotation.scale) if layer.rotation else "1"
                                          for layer in layers)
    if rope_applied:
        if not rotating:
            raise Error("rope_applied is true, but no layer has a rotation; expected one")
        entries["rope_applied"] = "yes"
    plain = sizes.dim ** -0.5
    scales = [plain if layer.scale is None else float(layer.scale) for layer in layers]
    if any(abs(scale / plain - 1) > 2.0 ** -22 for scale in scales):
        entries["attention_scale"] = _list(map(repr, scales))
    if any(layer.soft_cap is not None for layer in layers):
        entries["soft_cap"] = _list("none" if layer.soft_cap is None else repr(float(layer.soft_cap))
                                    for layer in layers)
    # A window that is no shorter than the text hides nothing.
    windows = [layer.window if layer.window is not None and layer.window < sizes.tokens else None
               for layer in layers]
    if any(window is not None for window in windows):
        if any(window is not None and window < 1 for window in windows):
            raise Error("a window is below 1; expected how many positions a query sees")
        entries["window"] = _list("none" if window is None else int(window) for window in windows)
    return entries


def tensors_of(layers, sizes):
    """The tensors of the rules, in the order in which kvcheck writes them."""
    tensors = {}
    if sizes.kind != "qkv":
        return tensors
    bases = {layer.rotation.theta for layer in layers if layer.rotation is not None}
    for layer in layers:
        rotation = layer.rotation
        if rotation is None or (rotation.theta is not None and len(bases - {None}) == 1):
            continue
        table = rotation.frequencies
        if table is None:
            table = rotation.theta ** (-2 * numpy.arange(rotation.dims // 2) / rotation.dims)
        tensors["layers.%d.frequencies" % layer.number] = ("F64", numpy.asarray(table, numpy.float64))
    for name in ("sinks", "slopes"):
        for layer in layers:
            if getattr(layer, name) is None:
                continue
            logits = array("%s of layer %d" % (name, layer.number), getattr(layer, name), numpy.float32)
            if logits.shape != (sizes.query_heads,) or not numpy.isfinite(logits).all():
                raise Error("%s of layer %d are %s; expected a finite number for each of the %d query "
                            "heads" % (name, layer.number, short(logits.ravel()), sizes.query_heads))
            tensors["layers.%d.%s" % (layer.number, name)] = ("F32", logits)
    return tensors


def needs_version_2(entries, tensors):
    if "," in entries.get("rope_layout", "") or "queries" in tensors:
        return True
    if {"rope_applied", "rope_scale", "attention_scale", "soft_cap", "window",
            "learned_sinks"} & set(entries):
        return True
    return any(name.endswith((".frequencies", ".sinks", ".slopes")) for name in tensors)
