"""The program: python3 -m kvcheck ARGUMENTS, as kvcheck ARGUMENTS, and also

    python3 -m kvcheck --load policies.py replay trace.safetensors --policy my-policy

which runs a Python file first and registers the subclasses of kvcheck.Policy that it defines, and

    python3 -m kvcheck check transformers:DynamicCache

which checks a cache of a framework (kvcheck/adapters)."""

import os
import runpy
import shlex
import sys

from . import _kvcheck, adapters
from .policies import Policy, register


def load(path):
    for value in runpy.run_path(path).values():
        if isinstance(value, type) and issubclass(value, Policy) and value is not Policy:
            register(value)


def adapted(words):
    """A check of a framework's cache, as check --exec of what serves it; other words as they are."""
    named = [word for word in words[1:] if adapters.is_subject(word)]
    if words[:1] != ["check"] or len(named) != 1:
        return words
    rest = words[1:]
    rest.remove(named[0])
    options = adapters.Options(rest)
    adapters.Subject(named[0], options)  # what is wrong with it is said here, and once
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))
    serving = [sys.executable, "-m", "kvcheck.adapters", named[0], *options.own]
    return ["check", "--exec", shlex.join(serving), *options.rest]


def main(arguments):
    words = []
    while len(arguments) >= 2 and arguments[0] == "--load":
        if arguments[1].endswith(".py"):
            load(arguments[1])
        else:
            words += arguments[:2]
        arguments = arguments[2:]
    try:
        words += adapted(arguments)
    except adapters.Wrong as wrong:
        print("kvcheck check: %s" % wrong, file=sys.stderr)
        return 2
    return _kvcheck.run_on_terminal(words)


def console():
    """The command `kvcheck` of an installed package."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    console()
