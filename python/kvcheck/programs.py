"""The program's other commands, run inside this process."""

import json
import os
from typing import Any, Dict, List, NamedTuple, Sequence

from . import _kvcheck
from .errors import Error
from .policies import spec_of
from .tables import Records

__all__ = ["Printed", "check", "eval", "run", "uniformity"]


class Printed(NamedTuple):
    """What the program printed."""

    status: int  # its exit status: 0 done, 1 a law is broken, 2 wrong input, 3 incomplete
    out: str
    err: str


def run(*arguments) -> Printed:
    """Runs `kvcheck ARGUMENTS` in this process, where policies of Python are known, and returns what it
    printed: run("trace", "info", "trace.safetensors")."""
    words = [os.fspath(word) if hasattr(word, "__fspath__") else str(word) for word in arguments]
    status, out, err = _kvcheck.run(words)
    if status == 130:
        raise KeyboardInterrupt
    return Printed(status, out.decode(errors="replace"), err.decode(errors="replace"))


def _options(options: Dict[str, Any]) -> List[str]:
    """Options by name: full=True, filter=["size.*"], budget=64."""
    words: List[str] = []
    for name, given in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if given is False or given is None:
            continue
        if given is True:
            words.append(option)
            continue
        for value in given if isinstance(given, (list, tuple)) else [given]:
            words += [option, os.fspath(value) if hasattr(value, "__fspath__") else str(value)]
    return words


def _lines(command: str, words: Sequence[str], options: Dict[str, Any]) -> Records:
    printed = run(command, *words, *_options(options), "--quiet", "--json", "-")
    if not printed.out:
        sentence = printed.err.strip()
        before = "kvcheck %s: " % command
        raise Error(sentence[len(before):] if sentence.startswith(before) else sentence)
    return Records(json.loads(line) for line in printed.out.splitlines())


def check(subject, **options) -> Dict[str, Any]:
    """Tries every law on a policy: `kvcheck check SUBJECT`. Returns what --json writes: "holds",
    "complete", and in "laws" the verdict and the smallest case of each.

    subject: a spec, or a subclass of Policy. options: those of the command by their names, as in
    check("h2o", full=True, seed=3, filter=["size.*"]).
    """
    return _lines("check", [spec_of(subject)], options)[0]


def uniformity(subject, **options) -> Records:
    """Tests whether a policy keeps a uniform sample: `kvcheck uniformity SUBJECT`. Returns the records
    that --json writes."""
    return _lines("uniformity", [spec_of(subject)], options)


# Named as the command is; this module needs Python's eval as little as its users do.
def eval(policies: Sequence, **options) -> Records:
    """Runs a real model over a text under each policy: `kvcheck eval`. Returns the records that --json
    writes. The model runs in C++; policies may be Python's.

        result = kvcheck.eval(["dense", MyPolicy], model="model/data", text="model/data/held-out.txt",
                              tokens=512, budget=64)
        result.table()["perplexity"]
    """
    if isinstance(policies, str) or not hasattr(policies, "__iter__"):
        policies = [policies]
    specs = [word for policy in policies for word in ("--policy", spec_of(policy))]
    return _lines("eval", specs, options)
