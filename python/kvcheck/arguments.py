"""Arguments of the package's functions, checked. Each function here returns its argument as the package
uses it, or raises an Error that names it, what was found and what was expected. Needs NumPy only."""

import operator
import os
from collections.abc import Mapping, Set
from typing import Any, List, Optional

import numpy

from .errors import Error

__all__ = ["array", "file", "flag", "listed", "path", "real", "shown", "text", "whole", "wholes", "word"]


def shown(given: Any) -> str:
    """A value in a sentence: one line, and not all of an array."""
    found = " ".join(repr(given).split())
    return found if len(found) <= 60 else found[:57] + "..."


def _number(given: Any) -> Optional[int]:
    """A whole number of any library; None if it is none. A truth value counts nothing."""
    if isinstance(given, (bool, numpy.bool_)):
        return None
    try:
        return operator.index(given)
    except TypeError:
        return None


def _range(least: Optional[int], most: Optional[int]) -> str:
    if least is None:
        return ""
    return " from %d on" % least if most is None else " from %d to %d" % (least, most)


def whole(name: str, given: Any, least: Optional[int] = None, most: Optional[int] = None) -> int:
    """A whole number, from least to most."""
    number = _number(given)
    if number is None or (least is not None and number < least) or (most is not None and number > most):
        raise Error("%s has %s; expected a whole number%s" % (name, shown(given), _range(least, most)))
    return number


def listed(name: str, given: Any, expected: str) -> list:
    """The entries of what has an order: a list, a tuple, an array, or any other that can be iterated."""
    if isinstance(given, (str, bytes, bytearray, Mapping, Set, type)) or not numpy.iterable(given):
        raise Error("%s is %s; expected %s" % (name, shown(given), expected))
    return list(given)


def wholes(name: str, given: Any, least: int, most: Optional[int] = None) -> List[int]:
    """Whole numbers, of which one may be given alone."""
    expected = "whole numbers%s" % _range(least, most)
    single = isinstance(given, (str, bytes, bytearray)) or not numpy.iterable(given)
    numbers = [given] if single else listed(name, given, expected)
    for number in numbers:
        found = _number(number)
        if found is None or found < least or (most is not None and found > most):
            raise Error("%s has %s; expected %s" % (name, shown(number), expected))
    return [_number(number) for number in numbers]


def real(name: str, given: Any, above: Optional[float] = None) -> float:
    """A number, which is above the other one if that is given."""
    try:
        if isinstance(given, (bool, numpy.bool_, str, bytes, bytearray)) or numpy.ndim(given) > 0:
            raise TypeError
        number = float(given)
        if above is None or number > above:
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise Error("%s has %s; expected a number%s" % (
        name, shown(given), "" if above is None else " above %g" % above))


def array(name: str, given: Any, dtype: Any) -> numpy.ndarray:
    """Numbers as an array of this type."""
    try:
        found = numpy.asarray(given)
        if found.dtype.kind in "biuf" and found.dtype.kind + numpy.dtype(dtype).kind != "fi":
            return found.astype(dtype, copy=False)
    except (TypeError, ValueError):  # lists of unequal lengths
        pass
    raise Error("%s is %s; expected an array of numbers" % (name, shown(given)))


def flag(name: str, given: Any) -> bool:
    """True or False. Others would count too, such as the text "no"."""
    if not isinstance(given, (bool, numpy.bool_)):
        raise Error("%s is %s; expected True or False" % (name, shown(given)))
    return bool(given)


def text(name: str, given: Any, expected: str = "a text") -> str:
    """A text that can be written as UTF-8."""
    if not isinstance(given, str):
        raise Error("%s is %s; expected %s" % (name, shown(given), expected))
    try:
        given.encode()
    except UnicodeEncodeError:
        raise Error("%s is %s, which is no Unicode text; expected %s" % (
            name, shown(given), expected)) from None
    return given


def word(name: str, given: Any, words) -> str:
    """One of a few words."""
    if not isinstance(given, str) or given not in words:
        quoted = ["'%s'" % each for each in words]
        raise Error("%s is %s; expected %s or %s" % (
            name, shown(given), ", ".join(quoted[:-1]), quoted[-1]))
    return given


def path(name: str, given: Any) -> str:
    """A path, whose bytes os.fsencode gives."""
    try:
        found = os.fsdecode(given)
        if os.fsencode(found) and "\0" not in found:
            return found
    except (TypeError, UnicodeEncodeError):
        pass
    raise Error("%s is %s; expected a path" % (name, shown(given)))


def file(name: str, given: Any) -> str:
    """A path of a file or folder. "-" is none: a command line means its standard streams by it."""
    found = path(name, given)
    if found == "-":
        raise Error("%s is '-', which names a standard stream on command lines only; expected a path, such "
                    "as './-' for a file of that name" % name)
    return found
