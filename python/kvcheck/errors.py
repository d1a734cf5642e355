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
    options that the arguments call otherwise."""
    return re.sub(r"(?<![-\w])--(?!help\b)([a-z][a-z-]*)",
                  lambda option: dict(names).get(option[1], option[1].replace("-", "_")), sentence)
