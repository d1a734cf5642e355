"""Options of the program's commands as arguments of functions: their documentation, checks and words."""

import inspect
import numbers
import os
import textwrap
from typing import Any, Dict, List

import numpy

from . import _kvcheck
from .arguments import file, flag, listed, path, shown, text
from .errors import Error, in_keywords

__all__ = ["NAMES", "option_words", "with_options", "word_of"]


# Options that arguments of a function call otherwise.
NAMES = {"eval": {"policy": "policies", "budget": "budgets"}}


# Options that print a text, or what a function returns.
_LEFT_OUT = {"explain", "help", "json", "list", "quiet"}

# What a value is, by the word for it in help; other values are numbers, texts or paths.
_FILES = {"DIR", "FILE", "LIB", "PATH"}
_NUMBERS = {"N", "R"}


def with_options(command: str):
    """Decorates a function that takes the options of that command: its signature and documentation
    list them, so that help(), editors and notebooks do."""
    names = NAMES.get(command, {})
    options = [option for option in _kvcheck.options_of(command) if option.name not in _LEFT_OUT]

    def keyword(option) -> str:
        return names.get(option.name, option.name).replace("-", "_")

    def described(option) -> str:
        value = option.value or "True"
        about = in_keywords(option.help.replace("; - is standard output", ""), names)
        default = " [%s]" % option.default_value if option.default_value else ""
        return textwrap.fill("%s=%s: %s%s" % (keyword(option), value, about, default), width=100,
                             initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)

    def decorated(function):
        signature = inspect.signature(function)
        own = [parameter for parameter in signature.parameters.values()
               if parameter.kind != inspect.Parameter.VAR_KEYWORD]
        others = [option for option in options if keyword(option) not in signature.parameters]
        taken = [inspect.Parameter(keyword(option), inspect.Parameter.KEYWORD_ONLY, default=None)
                 for option in others]
        function.__signature__ = signature.replace(parameters=[*own, *taken])
        function.__doc__ = "%s\n\nOptions, as of the command; lists where it takes several:\n%s\n" % (
            inspect.cleandoc(function.__doc__), "\n".join(map(described, others)))
        return function

    return decorated


def word_of(name: str, value: Any, expected: str = "a number, a text or a path") -> str:
    """A number, a text or a path as a word of a command line."""
    if isinstance(value, numpy.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, (str, numbers.Number)) and not isinstance(value, (bool, numpy.bool_)):
        value = str(value)
    try:
        if isinstance(value, (str, os.PathLike)):
            return value and path(name, value)  # a text may be empty, and a path any bytes
    except Error:
        pass
    raise Error("%s is %s; expected %s" % (name, shown(value), expected))


def _refuse_others(command: str, name: str, given: Any) -> None:
    """An option that has no use in a function."""
    if name in ("explain", "help", "list"):
        words = [command, "--" + name, *([given] if isinstance(given, str) else [])]
        raise Error("%s(%s=%s) prints a text and has no results; expected kvcheck.run(%s)" % (
            command, name, shown(given), ", ".join(map(repr, words))))
    if name in ("json", "quiet"):
        raise Error("%s is no argument of %s, which %s" % (
            name, command, "returns what that would write" if name == "json" else "prints nothing"))


def _values(name: str, given: Any, option) -> List[str]:
    """The words of what is given for an option that has a value. The program takes numbers as one word, and
    repeats an option for other words."""
    if option.value in _FILES:
        return [file(name, given)]
    if option.value == "COMMAND" and not isinstance(given, os.PathLike):
        return [text(name, given, "a text, which is a command line for the shell")]
    if option.value in _NUMBERS:
        return [word_of(name, given, "a number")]
    if isinstance(given, (str, bytes)) or not numpy.iterable(given):
        return [word_of(name, given)]
    if not option.list and not option.value.endswith(",..."):
        raise Error("%s is %s; expected one value, not several" % (name, shown(given)))
    values = listed(name, given, "a number, a text, a path, or a list of them")
    if not values:
        raise Error("%s is empty; expected at least one" % name)
    words = [word_of(name, value) for value in values]
    return [",".join(words)] if all(isinstance(value, numbers.Number) for value in values) else words


def option_words(command: str, given: Dict[str, Any]) -> List[str]:
    """Options by name: full=True, filter=["size.*"], budget=[64, 128]."""
    known = {option.name: option for option in _kvcheck.options_of(command)}
    known.update({name: known[option] for option, name in NAMES.get(command, {}).items()})
    words: List[str] = []
    for name, value in given.items():
        if value is None:
            continue
        spelt = name.rstrip("_").replace("_", "-")
        option = known.get(spelt)
        _refuse_others(command, spelt, value)
        if option is None:  # the program has a sentence for it
            words.append("--" + spelt)
        elif not option.value:
            words += ["--" + option.name] if flag(name, value) else []
        else:
            for word in _values(name, value, option):
                words += ["--" + option.name, word]
    return words
