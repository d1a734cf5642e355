"""The program's other commands, run inside this process."""

import json
import os
import tempfile
from typing import Any, Dict, Iterable, List, NamedTuple, Sequence

import numpy

from . import _kvcheck
from .arguments import file, shown
from .errors import Error, in_keywords
from .options import NAMES, option_words, with_options, word_of
from .policies import spec_of, specs_of
from .tables import Records, frame, table

__all__ = ["Laws", "Printed", "check", "eval", "judge", "run", "uniformity"]


class Printed(NamedTuple):
    """What the program printed."""

    status: int  # its exit status: 0 done, 1 a law is broken, 2 wrong input, 3 incomplete
    out: str
    err: str


def run(*arguments) -> Printed:
    """Runs `kvcheck ARGUMENTS` in this process, where policies of Python are known, and returns what it
    printed: run("trace", "info", "trace.safetensors"). After Ctrl-C the KeyboardInterrupt has what was
    printed by then in `printed`."""
    words = [word_of("run's argument", word) for word in arguments]
    status, out, err = _kvcheck.run([os.fsencode(word) for word in words])
    printed = Printed(status, out.decode(errors="replace"), err.decode(errors="replace"))
    if status == 130:
        interrupt = KeyboardInterrupt()
        interrupt.printed = printed
        raise interrupt
    return printed


def _lines(command: str, words: Sequence[str], options: Dict[str, Any], quiet=True) -> Records:
    silence = ["--quiet"] if quiet else []
    printed = run(command, *words, *option_words(command, options), *silence, "--json", "-")
    if not printed.out:
        sentence = printed.err.strip()
        before = "kvcheck %s: " % command
        sentence = sentence[len(before):] if sentence.startswith(before) else sentence
        raise Error(in_keywords(sentence, NAMES.get(command, ())))
    return Records(json.loads(line) for line in printed.out.splitlines())


def _laws(command: str, words: Sequence[str], options: Dict[str, Any], quiet=True) -> "Laws":
    try:
        return Laws(_lines(command, words, options, quiet)[0])
    except KeyboardInterrupt as interrupt:
        out = getattr(interrupt, "printed", Printed(130, "", "")).out
        interrupt.found = Laws(json.loads(out.splitlines()[0])) if out else None
        raise


class Laws(dict):
    """What `kvcheck check --json` and `kvcheck judge --json` write: a dictionary with "holds", "complete",
    and in "laws" a dictionary for each law with its verdict and smallest case; the laws also as a table:

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
    others = [name for name in ("exec", "plugin") if options.get(name) is not None]
    if others and given is not None:
        raise Error("subject and %s are two subjects; expected one of them" % others[0])
    return [] if others else [spec_of("subject", given)]


@with_options("check")
def check(subject=None, **options: Any) -> Laws:
    """Tries every law on a policy: `kvcheck check SUBJECT`. Returns what `kvcheck check --json`
    writes.

        check("h2o", full=True, seed=3, filter=["size.*"])
        check(exec="python3 my_cache.py")

    subject: a spec, or a subclass of Policy; none with exec or plugin. After Ctrl-C the
    KeyboardInterrupt has in `found` what had been found by then: Laws that are not complete, or None.
    """
    return _laws("check", _subject(subject, options), options)


@with_options("judge")
def judge(history: "str | os.PathLike | Iterable[Dict[str, Any]]", **options: Any) -> Laws:
    """Tries every law that needs no further calls on what a cache did in a recorded run: `kvcheck judge
    FILE`.

        judge("run.jsonl", declare=["visibility=causal"])

    history: the path of a file, or its lines as dictionaries (properties/HISTORY.md).
    """
    if isinstance(history, (str, os.PathLike)):
        return _laws("judge", [file("history", history)], options, quiet=False)
    if isinstance(history, (bytes, dict)) or not numpy.iterable(history):
        raise Error("history is %s; expected the path of a file, or its lines as dictionaries" %
                    shown(history))
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as lines:
        for number, line in enumerate(history, 1):
            try:
                lines.write(json.dumps(line, default=_plain) + "\n")
            except (TypeError, ValueError) as wrong:
                raise Error("history, line %d: %s" % (number, wrong)) from None
        lines.flush()
        try:
            laws = judge(lines.name, **options)
        except Error as error:
            raise Error(str(error).replace(lines.name, "history")) from None
    for law in laws.broken:
        law["recorded_at"] = law.get("recorded_at", "").replace(lines.name, "history")
    return laws


def _plain(number):
    """A number or an array of NumPy as JSON takes it."""
    if isinstance(number, (numpy.generic, numpy.ndarray)):
        return number.tolist()
    raise TypeError("%r is no text, number, list or dictionary" % (number,))


@with_options("uniformity")
def uniformity(subject=None, **options: Any) -> Records:
    """Tests whether a policy keeps a uniform sample: `kvcheck uniformity SUBJECT`. Returns the record
    that `kvcheck uniformity --json` writes, in a list.

    subject: a spec, or a subclass of Policy; none with exec or plugin.
    """
    return _lines("uniformity", _subject(subject, options), options)


# Named as the command is; this module needs Python's eval as little as its users do.
@with_options("eval")
def eval(policies: Sequence, **options: Any) -> Records:
    """Runs a real model over a text under each policy: `kvcheck eval`. Returns a record for each run, as
    `kvcheck eval --json` writes them. The model runs in C++; policies may be Python's.

        result = kvcheck.eval(["dense", MyPolicy], model="model/data", text="model/data/held-out.txt",
                              tokens=512, budgets=[32, 64])
        result.table()["perplexity"]

    policies: specs, and subclasses of Policy. budgets: each policy runs at each of them, as in replay.
    """
    if "budgets" in options and "budget" in options:
        raise Error("budget and budgets are the same option; expected one of them")
    specs = [word for spec in specs_of("policies", policies) for word in ("--policy", spec)]
    return _lines("eval", specs, options)
