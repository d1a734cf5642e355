"""Policies whose decisions are made in Python."""

import copy
import inspect
import math
import pickle
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, List, Sequence, Tuple

from . import _kvcheck
from .arguments import listed, real, shown, text, whole
from .errors import Error
from .watch import watch

__all__ = ["Parameter", "Policy", "register"]

NEEDS = ("attention", "keys", "values", "queries", "output_norms", "token_classes")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a policy, `name=value` in a spec.

    A whole default makes a parameter of whole numbers, a float one of decimals, both between least
    and most; a text one of the words in choices.
    """

    default: Any
    meaning: str = "a parameter of a policy in Python"
    least: float = 0
    most: float = 1e9
    choices: Tuple[str, ...] = ()


class Policy:
    """Decides which tokens are evicted. A subclass overrides evict, and observe and forget if it learns.

    kvcheck makes one object for each unit of a cell: for each kv-head and seed, by default. The cache
    holds the budget: `sinks` first and `recent` last tokens are protected, and only the middle between
    them is up for eviction. Residents are numbered by rank, in stream order.

        class Oldest(kvcheck.Policy):
            claims = ("constant-size", "chunk-invariant", "deterministic")

            def evict(self, candidates, draws):
                return range(len(candidates.positions) - candidates.capacity)

        kvcheck.replay(trace, [Oldest, "h2o"], budgets=[64])

    Attributes of the class:
        name            the name in specs [the class's, as in my-policy]
        needs           what observe receives: of "attention", "keys", "values", "queries",
                        "output_norms" (beside "values") and "token_classes" [("attention",) if the
                        class overrides observe]
        sinks           how many first tokens are protected [0]
        recent_percent  the share of the budget for recent tokens [50]
        parameters      names and defaults, or Parameter(...); each is an argument of __init__
        claims          what the policy promises, which `check` tests; see kvcheck.check
        seconds         how long one call may take, before it ends the replay with an error [60]
        summary, source, differs, cost   what help shows
    """

    name: str = ""
    needs: Sequence[str] = ()
    sinks: int = 0
    recent_percent: int = 50
    parameters: dict = {}
    claims: Sequence[str] = ()
    seconds: float = 60
    summary: str = "A policy in Python."
    source: str = "Python"
    differs: str = "nothing"
    cost: str = "a call of Python at every token"

    def observe(self, observation) -> None:
        """Learns from one query.

        observation.query is its position. observation.mass, [visible], float32, is the attention that
        it gave to the residents that it saw, by rank, its own key last; it sums to one.
        observation.keys, values and queries are the vectors of its own token, [heads, dim], before
        rotation; what `needs` does not name is None. observation.output_norms, [query heads], where a
        model runs, are the 1-norms of what the layer's output projection makes of the value; None in
        replays and checks. observation.token_class is "content", "function" or "separator".
        observation.draws is as in evict. The arrays are the policy's to keep.
        """

    def evict(self, candidates, draws) -> Sequence[int]:
        """Returns indices into candidates.positions of those to evict, at least
        len(candidates.positions) - candidates.capacity of them, in any order; of a mask of truth values,
        numpy.flatnonzero(mask).

        candidates.positions: [n], increasing; candidates.newcomers: how many of the last of them have
        just left the recent window; candidates.capacity: how many may be kept; candidates.first_rank:
        the rank of positions[0]; candidates.entered: how many tokens ever left the recent window.
        draws.below(bound, position, index=0) is uniform on 0 to bound - 1, and
        draws.uniform(position, index=0) on (0, 1): use no other random numbers, so that a seed gives
        the same result in any chunks.
        """
        raise NotImplementedError("%s has no evict(); expected one" % type(self).__name__)

    def forget(self, ranks) -> None:
        """The residents of these ranks, increasing, were evicted; the others move up."""

    def clone(self) -> "Policy":
        """An independent copy in the same state."""
        return copy.deepcopy(self)

    def save(self) -> bytes:
        """The state, which load reads unless it is empty."""
        return pickle.dumps(self.__dict__)

    def load(self, state: bytes) -> None:
        self.__dict__.update(pickle.loads(state))


@dataclass(frozen=True)
class _Described:
    """A parameter as the module takes it."""

    name: str
    kind: str
    default: str
    meaning: str
    least: float = 0
    most: float = 0
    choices: Tuple[str, ...] = ()


@dataclass(frozen=True)
class Description:
    """A class as the module takes it."""

    type: type
    name: str
    summary: str
    source: str
    differs: str
    cost: str
    claims: Tuple[str, ...]
    needs: Tuple[str, ...]
    forgets: bool
    sinks: int
    recent_percent: int
    seconds: float
    parameters: Tuple[_Described, ...]


def _described(owner: str, name: str, given) -> _Described:
    parameter = given if isinstance(given, Parameter) else Parameter(given)
    default = parameter.default
    spelt = text("a parameter's name in %s" % owner, name).replace("_", "-")
    about = "the parameter '%s' of %s" % (name, owner)
    meaning = text("the meaning of " + about, parameter.meaning)
    if isinstance(default, str):
        choices = _words(owner, "the choices of '%s'" % name, parameter.choices or (default,))
        return _Described(spelt, "word", default, meaning, choices=choices)
    if isinstance(default, bool) or not isinstance(default, (int, float)) or not math.isfinite(default):
        raise Error("%s has the default %s; expected a number or a word" % (about, shown(default)))
    kind = "count" if isinstance(default, int) else "real"
    return _Described(spelt, kind, repr(default), meaning, real("least of " + about, parameter.least),
                      real("most of " + about, parameter.most))


def _share(owner: str, name: str, value, most: int) -> int:
    try:
        return whole(name, value, 0, most)
    except Error:
        raise Error("%s of %s is %s; expected 0 to %d" % (name, owner, shown(value), most)) from None


def _words(owner: str, name: str, given) -> Tuple[str, ...]:
    about = "%s of %s" % (name, owner)
    return tuple(text(about, each, "words") for each in listed(about, given, "a tuple of words"))


def name_of(policy: type) -> str:
    """The name by which specs call the class."""
    given = text("name of " + policy.__name__, policy.name)
    return given or re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_+", "-", policy.__name__).strip("-").lower()


def describe(policy: type) -> Description:
    """The class as the registry takes it. Error if something about it is wrong."""
    if isinstance(policy, Policy):
        raise Error("%s is an object of the policy; expected its class" % shown(policy))
    if not (inspect.isclass(policy) and issubclass(policy, Policy)):
        raise Error("%s is not a policy; expected a subclass of kvcheck.Policy" % shown(policy))
    owner = policy.__name__
    if policy.evict is Policy.evict or not callable(policy.evict):
        raise Error("%s has no evict(); expected one" % owner)
    observes = policy.observe is not Policy.observe
    needs = _words(owner, "needs", policy.needs) or (("attention",) if observes else ())
    for need in needs:
        if need not in NEEDS:
            raise Error("%s needs %s; expected %s" % (owner, shown(need), ", ".join(NEEDS)))
    if "output_norms" in needs and "values" not in needs:
        raise Error("%s needs 'output_norms' without 'values'; expected both" % owner)
    if needs and not observes:
        raise Error("%s needs %s but has no observe(); expected one" % (owner, ", ".join(needs)))
    if observes and policy.forget is Policy.forget:
        # What it keeps of a token that is gone would be taken for that of the token after it.
        raise Error("%s has observe() but no forget(); expected one, which may do nothing" % owner)
    seconds = real("seconds of " + owner, policy.seconds)
    if not 0 < seconds < math.inf:
        raise Error("seconds of %s is %s; expected a number above 0" % (owner, shown(policy.seconds)))
    if not isinstance(policy.parameters, Mapping):
        raise Error("parameters of %s is %s; expected a dictionary of names and defaults" % (
            owner, shown(policy.parameters)))
    texts = {name: text("%s of %s" % (name, owner), getattr(policy, name))
             for name in ("summary", "source", "differs", "cost")}
    return Description(
        type=policy, name=name_of(policy), **texts, claims=_words(owner, "claims", policy.claims),
        needs=needs,
        forgets=policy.forget is not Policy.forget,
        sinks=_share(owner, "sinks", policy.sinks, 2**31 - 1),
        recent_percent=_share(owner, "recent_percent", policy.recent_percent, 100),
        seconds=seconds,
        parameters=tuple(_described(owner, name, given)
                         for name, given in policy.parameters.items()))


registered = {}  # the classes by their names


def register(policy: type) -> type:
    """Makes a subclass of Policy known to specs under its name; also a class decorator.

    A class that is given to replay, check, uniformity or eval is registered there. A second class
    of the same name takes the place of the first, as in a notebook whose cell runs again.
    """
    described = describe(policy)
    for name in ("__init__", "evict", "observe", "forget", "clone", "save", "load"):
        method = getattr(policy, name)
        if method is not getattr(Policy, name):  # which all classes share, and which do not hang
            watch(method, "%s of %s" % (name, policy.__name__), described.seconds)
    _kvcheck.register_class(described)  # makes an object of it
    registered[name_of(policy)] = policy
    return policy


def spec_of(name: str, policy) -> str:
    """The spec of an argument of this name: a text, or a class, which is registered."""
    if isinstance(policy, str):
        return text(name, policy)
    if isinstance(policy, Policy):
        raise Error("%s has an object of %s; expected the class" % (name, type(policy).__name__))
    if not inspect.isclass(policy):
        raise Error("%s has %s; expected a spec such as 'h2o:sinks=4', or a subclass of kvcheck.Policy" % (
            name, shown(policy)))
    return name_of(register(policy))


def specs_of(name: str, policies) -> List[str]:
    """The specs of a list of texts and classes, of which one may be given alone."""
    if not isinstance(policies, (str, type, Policy)):
        policies = listed(name, policies, "specs such as 'h2o:sinks=4', and subclasses of kvcheck.Policy")
        if not policies:
            raise Error("%s is empty; expected at least one" % name)
        return [spec_of(name, policy) for policy in policies]
    return [spec_of(name, policies)]
