"""The one exception of this package, and its sentences."""

import re

try:
    from ._kvcheck import Error
except ModuleNotFoundError as missing:
    if missing.name != __package__ + "._kvcheck":
        raise

    # kvcheck.record runs where only the sources are.
    class Error(ValueError):
        """Something about an argument or a file is wrong."""

Error.__module__ = "kvcheck"

__all__ = ["Error", "in_keywords"]


def in_keywords(sentence, names=()):
    """A sentence of the program with its options as arguments: top_k instead of --top-k. names: those of
    options that the arguments call otherwise. A command line in the sentence is left as it is."""
    return re.sub(r"\bkvcheck [a-z]+(?: --[a-z-]+)+|(?<![-\w])--(?!help\b)([a-z][a-z-]*)",
                  lambda found: dict(names).get(found[1], found[1].replace("-", "_")) if found[1] else found[0],
                  sentence)
