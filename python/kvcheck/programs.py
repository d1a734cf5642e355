"""The program's other commands, run inside this process."""

import inspect
import json
import numbers
import os
import tempfile
import textwrap
from typing import Any, Dict, Iterable, List, NamedTuple, Sequence

import numpy

from . import _kvcheck
from .arguments import listed, path, shown
from .errors import Error, in_keywords
from .policies import spec_of, specs_of
from .tables import Records, frame, table

__all__ = ["Laws", "Printed", "check", "eval", "judge", "run", "uniformity"]


# Options that arguments of a function call otherwise.
_NAMES = {"eval": {"policy": "policies", "budget": "budgets"}}


# Options that a function has an argument for, or that print a text.
_LEFT_OUT = {"explain", "help", "json", "list", "policy", "quiet"}


def _with_options(command: str):
    """Decorates a function that takes the options of that command: its signature and documentation
    list them, so that help(), editors and notebooks do."""
    names = _NAMES.get(command, {})
    options = [option for option in _kvcheck.options_of(command) if option.name not in _LEFT_OUT]

    def keyword(option) -> str:
        return names.get(option.name, option.name).replace("-", "_")

    def described(option) -> str:
        value = option.value or "True"
        default = " [%s]" % option.default_value if option.default_value else ""
        return textwrap.fill("%s=%s: %s%s" % (keyword(option), value, option.help, default), width=100,
                             initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)

    def decorated(function):
        signature = inspect.signature(function)
        own = [parameter for parameter in signature.parameters.values()
               if parameter.kind != inspect.Parameter.VAR_KEYWORD]
        taken = [inspect.Parameter(keyword(option), inspect.Parameter.KEYWORD_ONLY, default=None)
                 for option in options]
        function.__signature__ = signature.replace(parameters=[*own, *taken])
        function.__doc__ = "%s\n\nOptions, as of the command; lists where it takes several:\n%s\n" % (
            inspect.cleandoc(function.__doc__), "\n".join(map(described, options)))
        return function

    return decorated


class Printed(NamedTuple):
    """What the program printed."""

    status: int  # its exit status: 0 done, 1 a law is broken, 2 wrong input, 3 incomplete
    out: str
    err: str


def run(*arguments) -> Printed:
    """Runs `kvcheck ARGUMENTS` in this process, where policies of Python are known, and returns what it
    printed: run("trace", "info", "trace.safetensors"). After Ctrl-C the KeyboardInterrupt has what was
    printed by then in `printed`."""
    words = [_word("run's argument", word) for word in arguments]
    status, out, err = _kvcheck.run([os.fsencode(word) for word in words])
    printed = Printed(status, out.decode(errors="replace"), err.decode(errors="replace"))
    if status == 130:
        interrupt = KeyboardInterrupt()
        interrupt.printed = printed
        raise interrupt
    return printed


def _word(name: str, value: Any) -> str:
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
    raise Error("%s is %s; expected a number, a text or a path" % (name, shown(value)))


def _options(options: Dict[str, Any]) -> List[str]:
    """Options by name: full=True, filter=["size.*"], budget=[64, 128]. The program takes numbers as one
    word, and repeats an option for other words."""
    words: List[str] = []
    for name, given in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if given is None or isinstance(given, (bool, numpy.bool_)):
            words += [option] if given else []
            continue
        values = [given]
        if not isinstance(given, (str, bytes)) and numpy.iterable(given):
            values = listed(name, given, "a number, a text, a path, or a list of them")
            if not values:
                raise Error("%s is empty; expected at least one" % name)
            if all(isinstance(value, numbers.Number) for value in values):
                values = [",".join(_word(name, value) for value in values)]
        for value in values:
            words += [option, _word(name, value)]
    return words


def _lines(command: str, words: Sequence[str], options: Dict[str, Any], quiet=True) -> Records:
    silence = ["--quiet"] if quiet else []
    given = _options(options)
    printed = run(command, *words, *given, *silence, "--json", "-")
    if not printed.out:
        sentence = printed.err.strip()
        before = "kvcheck %s: " % command
        sentence = sentence[len(before):] if sentence.startswith(before) else sentence
        raise Error(in_keywords(sentence, _NAMES.get(command, ())))
    try:
        return Records(json.loads(line) for line in printed.out.splitlines())
    except ValueError:  # of an option that prints a text, as help does
        raise Error("%s(%s) prints a text and has no results; expected kvcheck.run(%s)" % (
            command, ", ".join("%s=%s" % (name, shown(value)) for name, value in options.items()),
            ", ".join(map(repr, [command, *words, *given])))) from None


def _laws(command: str, words: Sequence[str], options: Dict[str, Any], quiet=True) -> "Laws":
    try:
        return Laws(_lines(command, words, options, quiet)[0])
    except KeyboardInterrupt as interrupt:
        out = getattr(interrupt, "printed", Printed(130, "", "")).out
        interrupt.found = Laws(json.loads(out.splitlines()[0])) if out else None
        raise


class Laws(dict):
    """What a command that tries laws writes with --json: a dictionary with "holds", "complete", and in
    "laws" a dictionary for each law with its verdict and smallest case; the laws also as a table:

        laws["holds"]
        laws.table()["status"]            # NumPy, one entry a law
        laws.to_pandas()
        laws.broken                       # those of "laws" that are broken
    """

    def __repr__(self):
        return "<kvcheck.Laws of %s: %s>" % (self["subject"], "no law is broken" if not self.broken else
                                             "broken: " + ", ".join(law["law"] for law in self.broken))

    @property
    def broken(self) -> List[Dict[str, Any]]:
        """The laws that are broken."""
        return [law for law in self["laws"] if law["status"] == "broken"]

    def table(self) -> numpy.ndarray:
        """A structured array with an entry for each law."""
        return table(self["laws"])

    def to_pandas(self):
        """The same as a data frame. Needs pandas."""
        return frame(self.table())


def _subject(given, options: Dict[str, Any]) -> List[str]:
    elsewhere = given is None and not options.keys().isdisjoint(("exec", "plugin"))
    return [] if elsewhere else [spec_of("subject", given)]


@_with_options("check")
def check(subject=None, **options: Any) -> Laws:
    """Tries every law on a policy: `kvcheck check SUBJECT`. Returns what --json writes.

        check("h2o", full=True, seed=3, filter=["size.*"])
        check(exec="python3 my_cache.py")

    subject: a spec, or a subclass of Policy; none with exec or plugin. After Ctrl-C the
    KeyboardInterrupt has in `found` what had been found by then: Laws that are not complete, or None.
    """
    return _laws("check", _subject(subject, options), options)


@_with_options("judge")
def judge(history: "str | os.PathLike | Iterable[Dict[str, Any]]", **options: Any) -> Laws:
    """Tries every law that needs no further calls on what a cache did in a recorded run: `kvcheck judge
    FILE`.

        judge("run.jsonl", declare=["visibility=causal"])

    history: the path of a file, or its lines as dictionaries (properties/HISTORY.md).
    """
    if isinstance(history, (str, os.PathLike)):
        return _laws("judge", [path("history", history)], options, quiet=False)
    if isinstance(history, (bytes, dict)) or not numpy.iterable(history):
        raise Error("history is %s; expected the path of a file, or its lines as dictionaries" %
                    shown(history))
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for number, line in enumerate(history, 1):
            try:
                file.write(json.dumps(line, default=_plain) + "\n")
            except (TypeError, ValueError) as wrong:
                raise Error("history, line %d: %s" % (number, wrong)) from None
        file.flush()
        try:
            laws = judge(file.name, **options)
        except Error as error:
            raise Error(str(error).replace(file.name, "history")) from None
    for law in laws.broken:
        law["recorded_at"] = law.get("recorded_at", "").replace(file.name, "history")
    return laws


def _plain(number):
    """A number or an array of NumPy as JSON takes it."""
    if isinstance(number, (numpy.generic, numpy.ndarray)):
        return number.tolist()
    raise TypeError("%r is no text, number, list or dictionary" % (number,))


@_with_options("uniformity")
def uniformity(subject=None, **options: Any) -> Records:
    """Tests whether a policy keeps a uniform sample: `kvcheck uniformity SUBJECT`. Returns the records
    that --json writes.

    subject: a spec, or a subclass of Policy; none with exec or plugin.
    """
    return _lines("uniformity", _subject(subject, options), options)


# Named as the command is; this module needs Python's eval as little as its users do.
@_with_options("eval")
def eval(policies: Sequence, **options: Any) -> Records:
    """Runs a real model over a text under each policy: `kvcheck eval`. Returns the records that --json
    writes. The model runs in C++; policies may be Python's.

        result = kvcheck.eval(["dense", MyPolicy], model="model/data", text="model/data/held-out.txt",
                              tokens=512, budgets=[32, 64])
        result.table()["perplexity"]

    policies: specs, and subclasses of Policy. budgets is --budget, as in replay.
    """
    if "budgets" in options:
        if "budget" in options:
            raise Error("budget and budgets are the same option; expected one of them")
        options["budget"] = options.pop("budgets")
    specs = [word for spec in specs_of("policies", policies) for word in ("--policy", spec)]
    return _lines("eval", specs, options)
