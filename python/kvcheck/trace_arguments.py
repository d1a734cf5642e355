"""What makes a trace of arrays, checked: blocks of numbers, and what layers and tokens have beside them."""

from typing import List, Optional, Sequence

import numpy

from .arguments import listed, real, shown, text, whole
from .arrays import array_of
from .errors import Error

__all__ = ["by_layer", "joined_words", "layer_numbers", "layered", "listed_by_layer", "recorded_queries",
           "require_positions", "table_of", "token_numbers"]

_MOST = 2**31 - 1  # of what a trace file holds as 32 bits


def _on_cpu(tensor):
    """What NumPy takes of a library's tensor; anything else as it is."""
    if "bfloat16" in str(getattr(tensor, "dtype", "")):
        return array_of(tensor)
    return tensor.detach().cpu() if hasattr(tensor, "detach") else tensor  # torch's may have a gradient


def _numbers(name: str, given) -> numpy.ndarray:
    """A contiguous float32 or float16 array; float64 is rounded to float32."""
    if numpy.ma.isMaskedArray(given):
        raise Error("%s is a masked array; expected numbers, as %s.filled(0) gives them" % (name, name))
    try:
        array = numpy.asarray([_on_cpu(layer) for layer in given] if isinstance(given, (list, tuple))
                              else _on_cpu(given))
    except (TypeError, ValueError) as wrong:  # lists of unequal lengths
        raise Error("%s is no array: %s" % (name, wrong)) from None
    if array.dtype.kind != "f" or array.dtype.itemsize not in (2, 4, 8):
        raise Error("%s has the dtype %s; expected float32, float16 or float64" % (name, array.dtype))
    if array.size == 0:
        raise Error("%s is empty: its shape is %s" % (name, array.shape))
    # Little-endian and contiguous, whatever the strides are.
    kind = "<f2" if array.dtype.itemsize == 2 else "<f4"
    return numpy.ascontiguousarray(array, dtype=kind)


def layered(name: str, given, axes: str) -> numpy.ndarray:
    """The numbers with an axis of layers before them: four axes."""
    array = _numbers(name, given)
    if array.ndim == 3:
        array = array[None]
    if array.ndim == 5 and array.shape[1] == 1:  # a batch of one text, as models return it by layer
        array = array[:, 0]
    if array.ndim == 5:
        raise Error("%s has the shape %s, which is a batch of %d texts; expected one text, without the "
                    "axis of the batch, as %s[:, 0] of an array has the first" % (
                        name, array.shape, array.shape[1], name))
    if array.ndim != 4:
        raise Error("%s has the shape %s; expected [%s], or that with an axis of layers before it" % (
            name, array.shape, axes))
    return array


def joined_words(words: Optional[Sequence[str]], tokens: int):
    """The joined text of all words, and where each ends."""
    if words is None:
        return "", []
    words = listed("words", words, "a list with the text of each token")
    if len(words) != tokens:
        raise Error("words has %d texts; expected one for each of the %d tokens" % (len(words), tokens))
    for word in words:
        if not isinstance(word, str):
            raise Error("words has %s; expected the text of each token" % shown(word))
    encoded = [text("words", word, "the text of each token").encode() for word in words]
    return b"".join(encoded).decode(), numpy.cumsum([len(word) for word in encoded]).tolist()


def token_numbers(given: Optional[Sequence[int]], tokens: int) -> List[int]:
    """The number of each token; none if they are not given."""
    if given is None:
        return []
    ids = [whole("token_ids", token, 0, _MOST)
           for token in listed("token_ids", given, "a list with the number of each token")]
    if ids and len(ids) != tokens:
        raise Error("there are %d token ids; expected one for each of the %d tokens" % (
            len(ids), tokens))
    return ids


def layer_numbers(layers: Optional[Sequence[int]], count: int) -> List[int]:
    """The model's number of each layer."""
    if layers is None:
        return list(range(count))
    numbers = [whole("layers", layer, most=_MOST)
               for layer in listed("layers", layers, "a list of the layers' numbers")]
    if len(numbers) != count:
        raise Error("layers has %d numbers; expected one for each of the %d layers" % (
            len(numbers), count))
    if numbers != sorted(set(numbers)) or numbers[0] < 0:
        raise Error("layers is %s; expected increasing numbers, none below 0" % numbers)
    return numbers


def listed_by_layer(given) -> list:
    """The values of a list with one for each layer, or the one for all of them."""
    many = isinstance(given, (list, tuple)) or isinstance(given, numpy.ndarray) and given.ndim == 1
    return list(given) if many else [given]


def by_layer(name: str, given, count: int) -> str:
    """A number, a word or None for all layers, or a list of these with one for each layer, as
    metadata."""
    values = listed_by_layer(given)
    if len(values) not in (1, count):
        raise Error("%s has %d values; expected one, or one for each of the %d layers" % (
            name, len(values), count))
    texts = []
    for value in values:
        if value is None or isinstance(value, str):
            texts.append(text(name, value or "none"))
        elif name == "window":
            texts.append(str(whole(name, value)))
        else:
            texts.append(repr(real(name, value)))
    return ",".join(texts)


def table_of(name: str, given, count: int):
    """Numbers for all layers [m], or for each [layers, m], where None stands for a layer without."""
    if given is None:
        return []
    wrong = Error("%s is %s; expected a list of numbers, or one for each layer" % (name, shown(given)))
    try:
        each = isinstance(given, (list, tuple)) and any(
            value is None or numpy.ndim(value) > 0 for value in given) or numpy.ndim(given) == 2
    except ValueError:  # lists of unequal lengths
        raise wrong from None
    rows = list(given) if each else [given] * count
    if len(rows) != count:
        raise Error("%s has %d lists; expected one for each of the %d layers" % (
            name, len(rows), count))
    try:
        tables = [numpy.asarray([] if row is None else row, dtype=numpy.float64) for row in rows]
    except (TypeError, ValueError):
        raise wrong from None
    if any(table.ndim != 1 for table in tables):
        raise wrong
    return [table.tolist() for table in tables]


def require_positions(positions: Optional[Sequence[int]], design: str) -> None:
    """That recorded queries which were selected in some way have positions."""
    if text("query_design", design) and positions is None:
        raise Error("query_design is %r without query_positions; expected both" % (design,))


def recorded_queries(positions: Optional[Sequence[int]], design: str, rows: int, metadata) -> dict:
    """The table of recorded queries, whose design is added to the metadata."""
    if positions is None:
        return {}
    numbers = [whole("query_positions", position)
               for position in listed("query_positions", positions, "a list of positions")]
    if len(numbers) != rows:
        raise Error("query_positions has %d numbers; expected one for each of the %d queries" % (
            len(numbers), rows))
    if any(not 0 <= number <= _MOST for number in numbers):
        raise Error("query_positions has numbers below 0 or too large; expected positions")
    for before, number in zip(numbers, numbers[1:]):
        if number <= before:
            raise Error("query_positions has %d after %d; expected increasing positions" % (number, before))
    metadata.update(version=2, query_design=design)
    return {"queries": numbers}
