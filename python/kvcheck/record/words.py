"""The text of each token, from a tokenizer of transformers."""

from ..arguments import shown, wholes
from ..errors import Error

__all__ = ["words_of"]

# Tokens before a token that are decoded with it: tokenizers drop a blank at the beginning of a text,
# and a character may be made of up to four tokens.
_BEFORE = 8


def words_of(tokenizer, ids):
    """The text of each token of `ids`, so that all of them joined are the decoded text.

    tokenizer: any object with decode(ids) that returns text. A character whose bytes are spread over
    several tokens belongs to the last of these, and the others have no text.
    """
    # Where a token is a byte, ids may be bytes.
    ids = wholes("ids", list(ids) if isinstance(ids, bytes) else ids, 0, 2 ** 31 - 1)
    if not callable(getattr(tokenizer, "decode", None)):
        raise Error("tokenizer is %s; expected an object with decode()" % shown(tokenizer))
    words, open_from = [], 0
    for end in range(1, len(ids) + 1):
        begin = max(0, open_from - _BEFORE)
        known = _decoded(tokenizer, ids[begin:open_from])
        text = _decoded(tokenizer, ids[begin:end])
        # The tokens before are cut off; where they are spelt differently alone, the rest is not known.
        if not text.startswith(known):
            raise Error("the tokenizer spells tokens %d to %d differently if another follows; expected "
                        "decode() to append" % (begin, open_from - 1))
        if text.endswith("\ufffd") and end < len(ids) and end - open_from < 4:
            words.append("")
            continue
        words.append(text[len(known):])
        open_from = end
    return words


def _decoded(tokenizer, ids):
    if not ids:
        return ""
    try:
        return tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    except TypeError:
        return tokenizer.decode(ids)  # one of another library
