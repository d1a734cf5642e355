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
Error.__doc__ = """What is wrong with an argument or a file, as a sentence; a ValueError."""

__all__ = ["Error", "in_keywords"]


# A command line with options, which is left as it is; -o or --NAME, with the word for a value if one follows.
_OPTIONS = re.compile(r"(\bkvcheck(?: [a-z]+)*(?: --[a-z-]+)+)"
                      r"|(?<![-\w])(?:-(o)|--(?!help\b)([a-z][a-z-]*))\b"
                      r"( [A-Z]{2,}\b| \d+[smh](?=;|$))?")


def in_keywords(sentence, names=()):
    """A sentence of the program with its options as arguments: top_k instead of --top-k, output=FILE instead
    of -o FILE. names: those of options that the arguments call otherwise. A command line in the sentence is
    left as it is."""
    def spelt(found):
        command, letter, name, value = found.groups()
        if command:
            return command
        name = "output" if letter else name
        value = value and (value[1:] if value.isupper() else repr(value[1:]))
        return dict(names).get(name, name.replace("-", "_")) + ("=" + value if value else "")

    return _OPTIONS.sub(spelt, sentence)
