"""The program: python3 -m kvcheck ARGUMENTS, as kvcheck ARGUMENTS, and also

    python3 -m kvcheck --load policies.py replay trace.safetensors --policy my-policy

which runs a Python file first and registers the subclasses of kvcheck.Policy that it defines, and

    python3 -m kvcheck check transformers:DynamicCache

which checks a cache of a framework (kvcheck/adapters)."""

import os
import runpy
import shlex
import sys
import traceback

from . import _kvcheck, adapters
from .errors import Error
from .policies import Policy, register, registered


def load(path):
    """Registers the policies that a Python file defines. Error if it cannot be run or defines none."""
    try:
        values = runpy.run_path(path).values()
    except OSError as error:
        raise Error("--load: cannot open '%s': %s" % (path, error.strerror)) from None
    except Exception as error:
        raise Error("--load: '%s' throws an exception: %s" % (path, _said(error, path))) from None
    classes = [value for value in dict.fromkeys(value for value in values if isinstance(value, type))
               if issubclass(value, Policy) and value is not Policy]
    # What others are derived from need not be a policy itself.
    decided = [policy for policy in classes if policy.evict is not Policy.evict]
    if not decided and not registered:  # a file may also call register itself
        raise Error("--load: '%s' defines no subclass of kvcheck.Policy with evict()" % path)
    for policy in decided:
        register(policy)


def _said(error, path):
    """What an exception says, and in which line of the file."""
    if isinstance(error, SyntaxError):
        line = error.lineno
    else:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
                 if frame.filename == path]
        line = lines[-1] if lines else None
    text = " ".join(str(getattr(error, "msg", error)).split())
    return "%s: %s%s" % (type(error).__name__, text, " (line %d)" % line if line else "")


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
            try:
                load(arguments[1])
            except Error as error:
                print("kvcheck: %s" % error, file=sys.stderr)
                return 2
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
