"""A text, read by a model while it is recorded."""

import contextlib
from typing import Any, Optional, Sequence, Union

import numpy

from ..arguments import shown, text as text_of, whole, wholes
from ..arrays import array_of
from ..errors import Error
from .hook import Recorder
from .words import words_of

__all__ = ["losses_of", "record_text"]


def record_text(model: Any, tokenizer: Any, text: str, path: Any, *, tokens: int = 512,
                queries: Union[None, int, slice, Sequence[int]] = None,
                layers: Optional[Sequence[int]] = None, kv_heads: Optional[Sequence[int]] = None,
                rotation: str = "taken-back", functions: Any = None, **words: Any) -> Recorder:
    """Runs a model of transformers over the first `tokens` tokens of a text, in one pass, and writes a
    trace with the words of the text and the losses of the model.

    queries: the positions of those to record, or how many, evenly over the text [all]. words: those of
    write_trace, and kind. The other arguments are those of Recorder, which is returned.
    """
    ids = _ids_of(tokenizer, text_of("text", text))[:whole("tokens", tokens, 1)]
    if not ids:
        raise Error("the text has no tokens; expected one or more")
    if not (queries is None or isinstance(queries, slice) or numpy.iterable(queries)):
        queries = whole("queries", queries, 1)
        queries = numpy.unique(numpy.linspace(0, len(ids) - 1, min(queries, len(ids))).round().astype(int))
    recorder = Recorder(model, layers=layers, kv_heads=kv_heads, queries=queries, rotation=rotation,
                        functions=functions)
    with recorder, _without_gradients():
        output = model(input_ids=_tensor_for(model, ids), use_cache=False)
    given = {"token_ids": ids, "words": words_of(tokenizer, ids)}
    if getattr(output, "logits", None) is not None:
        given["losses"] = losses_of(output.logits[0], ids)
    recorder.save(path, **{**given, **words})
    return recorder


def losses_of(logits: Any, ids: Sequence[int]) -> numpy.ndarray:
    """-ln of the probability that a model gave each token, [n], from its logits [n, vocabulary]; 0 for
    the first token, of which it was not asked."""
    ids = wholes("ids", ids, 0, 2 ** 31 - 1)
    if not hasattr(logits, "__len__"):
        raise Error("logits is %s; expected an array, [n, vocabulary]" % shown(logits))
    losses = numpy.zeros(len(ids), numpy.float32)
    if len(logits) < len(ids):
        raise Error("there are logits of %d tokens; expected those of %d" % (len(logits), len(ids)))
    for at in range(1, len(ids)):
        row = array_of(logits[at - 1]).astype(numpy.float64)
        if row.ndim != 1 or ids[at] >= len(row):
            raise Error("ids has %d; expected numbers below the vocabulary of logits, which have the shape %s" % (
                ids[at], [len(logits), *row.shape]))
        largest = row.max()
        losses[at] = largest + numpy.log(numpy.exp(row - largest).sum()) - row[ids[at]]
    return numpy.maximum(losses, 0)


def _ids_of(tokenizer, text):
    if not (callable(tokenizer) or callable(getattr(tokenizer, "encode", None))):
        raise Error("tokenizer is %s; expected one that can be called, or has encode()" % shown(tokenizer))
    ids = tokenizer(text)["input_ids"] if callable(tokenizer) else tokenizer.encode(text)
    return [int(token) for token in getattr(ids, "ids", ids)]


def _tensor_for(model, ids):
    parameters = getattr(model, "parameters", None)
    first = next(iter(parameters()), None) if parameters else None
    if first is None or not type(first).__module__.startswith("torch"):
        return numpy.asarray([ids])
    import torch
    return torch.tensor([ids], device=first.device)


def _without_gradients():
    try:
        import torch
    except ModuleNotFoundError:
        return contextlib.nullcontext()
    return torch.no_grad()
