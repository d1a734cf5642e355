"""Trace files (traces/FORMAT.md), written with NumPy alone: this runs where the model runs."""

import json
import numbers as kinds
import os
import stat
import tempfile
from typing import Any, Dict, Optional, Sequence

import numpy

from ..arguments import array as array_of, flag, listed, path as path_of, shown, text, whole, wholes, word
from ..errors import Error
from .layers import Layer, checked_layer, entries_of, needs_version_2, short, tensors_of

__all__ = ["write_trace"]

# Where the rounding of a storage type lets the sum of a row be, as traces/FORMAT.md says.
_ROUNDING = {"f32": (0.0, 0.0), "f16": (2.0 ** -11, 2.0 ** -25), "bf16": (2.0 ** -8, 0.0)}


def write_trace(path: "str | os.PathLike", layers: Sequence[Layer], *, rope_applied: bool = False,
                kv_heads: Optional[int] = None, words: Optional[Sequence[str]] = None,
                token_ids: Optional[Sequence[int]] = None, losses: Optional[Sequence[float]] = None,
                queries: Optional[Sequence[int]] = None,
                kv_head_numbers: Optional[Sequence[int]] = None, storage: str = "f16",
                **metadata: Any) -> None:
    """Writes a trace file, which appears whole or not at all.

    layers: with increasing numbers, all of one shape. rope_applied: queries and keys are those after
    rotation. kv_heads: of rows of attention, how many kv-heads the query heads share [one each].
    words: the text of each token. token_ids, losses: [n], the latter -ln of each token's probability.
    queries: the positions of the recorded queries, increasing [all]. kv_head_numbers: the model's
    numbers of the recorded kv-heads [all]. storage: f32, f16 or bf16. metadata: further entries of
    the file, such as model, source, licence, prompt_tokens or model_layers.
    """
    path = path_of("path", path)
    if words is not None:
        words = listed("words", words, "a list with the text of each token")
    layers = [checked_layer(layer) for layer in listed("layers", layers, "a list of record.Layer")]
    sizes = _Sizes(layers, queries, kv_heads, storage)
    entries = {"format": "kvcheck-trace", "version": "1", "kind": sizes.kind}
    entries.update(sizes.metadata())
    if sizes.kind == "qkv":
        entries.update(entries_of(layers, sizes, flag("rope_applied", rope_applied)))
    elif any(layer.sinks is not None for layer in layers):
        entries["learned_sinks"] = "yes"
    if kv_head_numbers is not None:
        entries["kv_head_numbers"] = ",".join(map(str, wholes("kv_head_numbers", kv_head_numbers, 0)))
    for name, value in metadata.items():
        if value is None:
            continue
        if not isinstance(value, (str, kinds.Real)):
            raise Error("%s is %s; expected a text or a number" % (name, shown(value)))
        if value != "":
            entries[name] = text(name, str(value))
    tensors = _beside(sizes, words, token_ids, losses)
    tensors.update(tensors_of(layers, sizes))
    for layer in layers:
        for name in sizes.names:
            label = {"queries": "q", "keys": "k", "values": "v"}.get(name, name)
            array = _stored(layer, name, sizes, storage)
            tensors["layers.%d.%s" % (layer.number, label)] = (storage.upper(), array)
    if words is not None:
        tensors["text"] = ("U8", numpy.frombuffer("".join(words).encode(), numpy.uint8))
    if needs_version_2(entries, tensors):
        entries["version"] = "2"
    _write(path, entries, tensors)


class _Sizes:
    """The sizes that all layers have, and the positions of the queries."""

    def __init__(self, layers, queries, kv_heads, storage):
        word("storage", storage, tuple(_ROUNDING))
        numbers = [layer.number for layer in layers]
        if not numbers or numbers != sorted(set(numbers)) or numbers[0] < 0:
            raise Error("the layers have the numbers %s; expected increasing ones, none below 0" %
                        numbers)
        self.kind = "qkv" if layers[0].attention is None else "attention"
        self.names = ("queries", "keys", "values") if self.kind == "qkv" else ("attention",)
        self.numbers = numbers
        shapes = {name: _shape(layers[0], name) for name in self.names}
        first = shapes[self.names[0]]
        self.query_heads, self.rows = first[0], first[1]
        self.tokens = shapes["keys"][1] if self.kind == "qkv" else first[2]
        self.dim = first[2] if self.kind == "qkv" else 0
        given = self.query_heads if kv_heads is None else whole("kv_heads", kv_heads, 1)
        self.kv_heads = shapes["keys"][0] if self.kind == "qkv" else given
        if self.query_heads % self.kv_heads:
            raise Error("%d query heads share %d kv-heads; expected a divisor" % (
                self.query_heads, self.kv_heads))
        expected = {"queries": (self.query_heads, self.rows, self.dim),
                    "attention": (self.query_heads, self.rows, self.tokens)}
        kept = (self.kv_heads, self.tokens, self.dim)
        for layer in layers:
            for name in self.names:
                if _shape(layer, name) != expected.get(name, kept):
                    raise Error("%s of layer %d have the shape %s; expected %s" % (
                        name, layer.number, list(_shape(layer, name)),
                        list(expected.get(name, kept))))
        self.positions = self._positions(queries)

    def _positions(self, queries):
        if queries is None:
            if self.rows != self.tokens:
                raise Error("there are %d queries of %d tokens; expected their positions in `queries`"
                            % (self.rows, self.tokens))
            return None
        positions = numpy.asarray(wholes("queries", queries, -2**62, 2**62), numpy.int64)
        if len(positions) != self.rows or (numpy.diff(positions) <= 0).any() or (
                self.rows and not 0 <= positions[0] <= positions[-1] < self.tokens):
            raise Error("queries has the positions %s; expected %d increasing ones below %d" % (
                short(positions), self.rows, self.tokens))
        return None if self.rows == self.tokens else positions

    def metadata(self):
        sizes = {"layers": len(self.numbers), "query_heads": self.query_heads,
                 "kv_heads": self.kv_heads}
        if self.dim:
            sizes["head_dim"] = self.dim
        return {name: str(size) for name, size in sizes.items()}


def _shape(layer, name):
    given = getattr(layer, name)
    try:
        shape = () if given is None else tuple(numpy.shape(given))
    except ValueError as wrong:  # lists of unequal lengths
        raise Error("%s of layer %d are no array: %s" % (name, layer.number, wrong)) from None
    if len(shape) != 3 or 0 in shape:
        raise Error("%s of layer %d have the shape %s; expected three sizes above 0" % (
            name, layer.number, list(shape)))
    return shape


def _beside(sizes, words, token_ids, losses):
    """The tensors beside the layers, and the recorded positions."""
    tensors = {}

    def each(name, values):
        values = listed(name.replace(" ", "_"), values, "a list with one for each token")
        if len(values) != sizes.tokens:
            raise Error("there are %d %s; expected one for each of the %d tokens" % (
                len(values), name, sizes.tokens))
        return values

    if words is not None:
        ends = numpy.cumsum([len(text("words", one, "the text of each token").encode())
                             for one in each("words", words)])
        tensors["text_ends"] = ("I64", ends.astype(numpy.int64))
    if token_ids is not None:
        ids = [whole("token_ids", token, 0, 2 ** 31 - 1) for token in each("token ids", token_ids)]
        tensors["tokens"] = ("I32", numpy.asarray(ids, numpy.int32))
    if losses is not None:
        numbers = array_of("losses", each("losses", losses), numpy.float32)
        if not (numpy.isfinite(numbers) & (numbers >= 0)).all():
            raise Error("a loss is not a finite number of 0 or more; expected -ln of a probability")
        tensors["nll"] = ("F32", numbers)
    if sizes.positions is not None:
        tensors["queries"] = ("I32", sizes.positions.astype(numpy.int32))
    return tensors


def _stored(layer, name, sizes, storage):
    """The numbers of a tensor in the type of the file, after they were checked."""
    array = numpy.asarray(getattr(layer, name))
    if array.dtype.kind != "f":
        raise Error("%s of layer %d have the dtype %s; expected floats" % (
            name, layer.number, array.dtype))
    numbers = array.astype(numpy.float32)
    if not numpy.isfinite(numbers).all():
        raise Error("%s of layer %d hold a number that is not finite" % (name, layer.number))
    if name == "attention":
        _check_rows(layer, numbers, sizes, storage)
    if storage == "f32":
        return numpy.ascontiguousarray(numbers, "<f4")
    if storage == "bf16":
        bits = numpy.ascontiguousarray(numbers).view(numpy.uint32)
        return ((bits + (0x7FFF + (bits >> 16 & 1))) >> 16).astype("<u2")
    with numpy.errstate(over="ignore"):
        halves = numbers.astype("<f2")
    if not numpy.isfinite(halves).all():
        raise Error("%s of layer %d reach %.3g, which float16 cannot hold; expected storage='bf16' or "
                    "'f32'" % (name, layer.number, abs(numbers).max()))
    return halves


def _check_rows(layer, rows, sizes, storage):
    positions = numpy.arange(sizes.tokens) if sizes.positions is None else sizes.positions
    later = numpy.arange(sizes.tokens) > positions[:, None]
    if (rows < 0).any() or rows[:, later].any():
        raise Error("attention of layer %d has a weight below 0, or one of a key after its query" %
                    layer.number)
    share, step = _ROUNDING[storage]
    sums = rows.sum(axis=2, dtype=numpy.float64)
    allowed = share + (positions + 1) * step + (positions + 9) * 2.0 ** -23
    wrong = sums > 1 + allowed if layer.sinks is not None else abs(sums - 1) > allowed
    if wrong.any():
        head, row = numpy.unravel_index(wrong.argmax(), wrong.shape)
        raise Error("attention of layer %d, head %d, query %d sums to %.6g; expected 1" % (
            layer.number, head, positions[row], sums[head, row]))


def _target(path):
    """Where the file is and its permissions: a symbolic link remains one, as wherever kvcheck writes."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return path, 0o666 & ~mask
    if not stat.S_ISREG(mode):
        raise Error("cannot write '%s': it is %s" % (
            path, "a directory" if stat.S_ISDIR(mode) else "not a regular file"))
    return os.path.realpath(path), mode & 0o777


def _write(path, entries, tensors):
    header: Dict[str, Any] = {"__metadata__": entries}
    at = 0
    for name, (dtype, array) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets":
                        [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    target, permissions = _target(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=".kvcheck-", dir=os.path.dirname(target) or ".")
    except OSError as error:
        raise Error("cannot write '%s': %s" % (path, error.strerror)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for _, array in tensors.values():
                numpy.ascontiguousarray(array).tofile(file)
        os.chmod(temporary, permissions)
        os.replace(temporary, target)
    except OSError as error:
        os.unlink(temporary)
        raise Error("cannot write '%s': %s" % (path, error.strerror)) from None
    except BaseException:
        os.unlink(temporary)
        raise
