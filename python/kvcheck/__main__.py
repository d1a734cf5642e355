"""The program: python3 -m kvcheck ARGUMENTS, as kvcheck ARGUMENTS, and also

    python3 -m kvcheck --load policies.py replay trace.safetensors --policy my-policy

which runs a Python file first and registers the subclasses of kvcheck.Policy that it defines."""

import runpy
import sys

from . import _kvcheck
from .policies import Policy, register


def load(path):
    for value in runpy.run_path(path).values():
        if isinstance(value, type) and issubclass(value, Policy) and value is not Policy:
            register(value)


def main(arguments):
    words = []
    while len(arguments) >= 2 and arguments[0] == "--load":
        if arguments[1].endswith(".py"):
            load(arguments[1])
        else:
            words += arguments[:2]
        arguments = arguments[2:]
    return _kvcheck.run_on_terminal(words + arguments)


def console():
    """The command `kvcheck` of an installed package."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    console()
