"""Adapters: caches of frameworks, and classes with the same methods, as subjects of `kvcheck check`.

    python3 -m kvcheck check transformers:DynamicCache
    python3 -m kvcheck check transformers:DynamicCache --windows --head-dim 64 --dtype bf16
    python3 -m kvcheck check transformers:my_module:MyCache --budget 64 --visibility causal
    python3 -m kvcheck check kvpress:KnormPress
    python3 -m kvcheck check mlx:RotatingKVCache
    python3 -m kvcheck check blocks:my_module:Allocator --page 16

FRAMEWORK:NAME is something of the framework's own module, FRAMEWORK:MODULE:NAME of any other: a class,
or a function that makes the object. It is called with what it takes by name of the sizes of a case
(layers, kv_heads, group, sequences, sinks, recent, budget, seed, head_dim), or of the names that the
framework has for them. Words of the contract (properties/PROTOCOL.md) are options: --timing lazy
--slack 16 --unordered. sinks, recent and budget fix the sizes for every case; without them each case
has its own. What is not declared is what the adapter knows of the framework's classes. The other
options are those of kvcheck check, and of kvcheck.tensors.serve: --head-dim, --dtype, --arrays,
--device, --theta, --interleaved.

python3 -m kvcheck.adapters SUBJECT serves the same to `kvcheck check --exec` of another installation;
it needs NumPy, and not the compiled module.

Each adapter's module states the version of the interface that it was written for. The frameworks are
not part of the tests of kvcheck: the tests use classes with the same methods.
"""

import difflib
import importlib.util
import inspect
import os
import sys

ADAPTERS = ("transformers", "kvpress", "mlx", "blocks")

# What PROTOCOL.md has in a contract: flags, numbers or words, and lists. Not rows_from: a framework's
# cache has the layers that store rows, and the adapters drive only those.
_FLAGS = ("windows", "pinned_first_page", "shows_pages", "unordered", "masks_instead", "self_may_go",
          "random", "keeps_fewer", "evicts_ahead", "shifts", "wants_attention")
_WORDS = ("sinks", "recent", "budget", "largest_budget", "mean_budget", "timing", "slack", "visibility",
          "attended", "attended_page", "dense_layers", "positions", "unit", "page", "longest_chunk",
          "first_chunk", "rollback", "precision", "full_precision_recent", "full_precision_sinks",
          "reference")
_LISTS = ("budgets", "claims")
_TENSORS = {"head_dim": int, "dtype": str, "arrays": str, "device": str, "theta": float}
_SIZES = ("sinks", "recent", "budget")
_SETUP = (*_SIZES, "layers", "kv_heads", "group", "sequences", "seed", "head_dim")


class Wrong(Exception):
    """What the user named cannot be tested; the text is one sentence."""


class Options:
    """What the words after a subject say.

    contract   the words of the contract
    tensors    arguments of kvcheck.tensors.serve
    sizes      the sinks, recent and budget that hold for every case
    own        the words that said so
    rest       the other words, which are options of kvcheck check
    """

    def __init__(self, words=()):
        self.contract, self.tensors, self.own, self.rest = {}, {}, [], []
        words = list(words)
        while words:
            word = words.pop(0)
            option, equals, value = word.partition("=")
            name = option[2:].replace("-", "_") if option.startswith("--") else ""
            takes = name in _WORDS or name in _LISTS or name in _TENSORS
            if name in _FLAGS or name == "interleaved":
                if equals:
                    raise Wrong("%s takes no value; found '%s'" % (option, value))
                (self.tensors if name == "interleaved" else self.contract)[name] = True
                self.own.append(word)
            elif takes:
                if not equals:
                    if not words:
                        raise Wrong("%s needs a value" % option)
                    value = words.pop(0)
                self._take(option, name, value)
                self.own.append(option + "=" + value)
            else:
                self.rest.append(word)
        self.sizes = {name: self.contract[name] for name in _SIZES if name in self.contract}

    def _take(self, option, name, value):
        if name in _TENSORS:
            try:
                self.tensors[name] = _TENSORS[name](value)
            except ValueError:
                raise Wrong("%s is '%s'; expected a number" % (option, value)) from None
            return
        if name in _LISTS:
            parts = [_number_or_word(part) for part in value.split(",")]
            if name == "budgets" and not all(isinstance(part, int) for part in parts):
                raise Wrong("%s is '%s'; expected numbers such as 16,0" % (option, value))
            self.contract[name] = parts
            return
        self.contract[name] = _number_or_word(value)
        if name in _SIZES and not isinstance(self.contract[name], int):
            raise Wrong("%s is '%s'; expected a number of tokens" % (option, value))

    def sized(self, setup):
        return dict(setup, **self.sizes)


def _number_or_word(text):
    return int(text) if text.isdecimal() and len(text) < 19 else text


def is_subject(word):
    """Whether a word of a command line names something for an adapter: no spec begins so."""
    return word.partition(":")[0] in ADAPTERS and ":" in word


def call(function, words):
    """Calls a class or function with those of `words` that it takes by name; one that takes any name
    gets none but those it names, as it would hand the others on."""
    return function(**{name: words[name] for name in names_of(function) if name in words})


def names_of(function):
    """The arguments that a class or function takes by name."""
    kinds = inspect.Parameter
    return {name: parameter for name, parameter in inspect.signature(function).parameters.items()
            if parameter.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)}


class Subject:
    """What one word names: the adapter's module, and the class or function in it."""

    def __init__(self, word, options):
        framework, _, path = word.partition(":")
        if framework not in ADAPTERS:
            raise Wrong("unknown framework '%s'; expected one of %s" % (
                framework, ", ".join(ADAPTERS)))
        self.word, self.options = word, options
        self.adapter = importlib.import_module("." + framework, __name__)
        home, _, name = path.rpartition(":")
        self.factory = self._found(home or self.adapter.HOME, name, home == "")
        self.name = name
        self._check_arguments()
        if self.adapter.ARRAYS:
            _check_tensors(dict({"arrays": self.adapter.ARRAYS}, **options.tensors))
        elif options.tensors:
            raise Wrong("--%s is for caches of tensors; these have none" %
                        next(iter(options.tensors)).replace("_", "-"))

    def _check_arguments(self):
        known = {*_SETUP, *self.adapter.WORDS}
        for name, parameter in names_of(self.factory).items():
            if parameter.default is parameter.empty and name not in known:
                raise Wrong("%s needs the argument '%s', which no case has; name a function that makes "
                            "the object, such as %s:my_module:make" % (
                                self.name, name, self.word.partition(":")[0]))

    def _found(self, home, name, of_framework):
        if os.getcwd() not in sys.path and "" not in sys.path:
            sys.path.insert(0, os.getcwd())  # as python3 -m has it
        try:
            module = importlib.import_module(home)
        except ModuleNotFoundError as error:
            missing = error.name or home
            if of_framework and missing.partition(".")[0] == home.partition(".")[0]:
                raise Wrong("%s is not installed here; install it (%s), or name a class of your own "
                            "as %s:MODULE:NAME" % (home.partition(".")[0], self.adapter.INSTALL,
                                                   self.word.partition(":")[0])) from None
            raise Wrong("'%s' cannot be imported: there is no module '%s' here" % (
                home, missing)) from None
        except Exception as error:
            raise Wrong("'%s' cannot be imported: %s: %s" % (
                home, type(error).__name__, str(error).partition("\n")[0])) from None
        found = getattr(module, name, None)
        if not callable(found):
            near = difflib.get_close_matches(name, dir(module), 1)
            raise Wrong("module '%s' has no class or function '%s'%s" % (
                home, name, "; did you mean '%s'?" % near[0] if near else ""))
        return found

    def serve(self):
        """Serves it until the host closes the connection."""
        self.adapter.serve(self.factory, self.options, self.name)


def _check_tensors(words):
    """What kvcheck.tensors would refuse, before a program is started for it."""
    from ..arrays import DTYPES
    from ..tags import Tags
    kind = words["arrays"]
    if kind not in ("torch", "mlx", "numpy"):
        raise Wrong("--arrays is '%s'; expected torch, mlx or numpy" % kind)
    if importlib.util.find_spec(kind) is None:
        raise Wrong("these caches take arrays of %s, which is not installed here; install it, or give "
                    "--arrays numpy if yours take NumPy's" % kind)
    if words.get("dtype", "f32") not in DTYPES:
        raise Wrong("--dtype is '%s'; expected f32, f16 or bf16" % words["dtype"])
    if "device" in words and kind != "torch":
        raise Wrong("--device is '%s', but only torch has devices here" % words["device"])
    try:
        Tags(words.get("head_dim", 64), theta=words.get("theta", 10000.0))
    except ValueError as error:
        raise Wrong(str(error)) from None


def serve_tensors(cache, contract, options, name, arrays, attention=False, alike=False):
    """Serves a cache of tensors. contract(setup) returns what the adapter knows; the options go over
    it. cache(setup, arrays) makes the adapted cache."""
    from .. import tensors
    from ..arrays import Arrays
    words = dict(options.tensors)
    made = Arrays(words.pop("arrays", arrays), words.get("dtype", "f32"), words.pop("device", None))

    def declared(setup):
        words = dict(contract(options.sized(setup)), **options.contract)
        if "budgets" in options.contract:  # a pattern for stacks of any depth
            given = options.contract["budgets"]
            words["budgets"] = [given[layer % len(given)] for layer in range(setup["layers"])]
        return words

    tensors.serve(lambda **setup: cache(options.sized(setup), made), declared, name,
                  sizes=options.sizes, arrays=made, attention=attention, alike=alike,
                  **words)
