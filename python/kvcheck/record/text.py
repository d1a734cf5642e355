"""A text, read by a model while it is recorded."""

import contextlib
from typing import Any, Optional, Sequence, Union

import numpy

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
    ids = _ids_of(tokenizer, text)[:tokens]
    if not ids:
        raise Error("the text has no tokens; expected one or more")
    if isinstance(queries, int):
        if not 1 <= queries:
            raise Error("queries is %d; expected one or more, or their positions" % queries)
        queries = numpy.unique(numpy.linspace(0, len(ids) - 1, min(queries, len(ids))).round())
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
    losses = numpy.zeros(len(ids), numpy.float32)
    if len(logits) < len(ids):
        raise Error("there are logits of %d tokens; expected those of %d" % (len(logits), len(ids)))
    for at in range(1, len(ids)):
        row = array_of(logits[at - 1]).astype(numpy.float64)
        largest = row.max()
        losses[at] = largest + numpy.log(numpy.exp(row - largest).sum()) - row[ids[at]]
    return numpy.maximum(losses, 0)


def _ids_of(tokenizer, text):
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
