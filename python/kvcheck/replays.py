"""Replays of recorded attention through policies."""

import json
import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Union

import numpy

from . import _kvcheck
from .arguments import file, flag, text, whole, wholes
from .errors import Error, in_keywords
from .origins import FromSpec
from .policies import specs_of
from .tables import frame, joined, structured, table
from .traces import Trace, trace_of

__all__ = ["Replay", "Residency", "oracle", "replay"]


class Residency(NamedTuple):
    """When each token of one unit was resident."""

    layer: int
    head: int  # the unit's first query head
    evicted_at: numpy.ndarray  # [n]: tokens seen when it was evicted; n + 1 if it never was

    def resident(self) -> numpy.ndarray:
        """[n, n], bool: whether query t could read token p."""
        tokens = len(self.evicted_at)
        query = numpy.arange(tokens)[:, None]
        position = numpy.arange(tokens)[None, :]
        return (position <= query) & (query < self.evicted_at[None, :])


# Fields that every row of a replay of one trace would repeat.
_REPEATED = ("type", "trace")


class Replay:
    """The results of a replay. A cell is a spec, with its budget, and a seed.

    cells     a structured array with an entry for each cell; its fields are those of the records of
              type "cell" that `kvcheck replay --json` writes (reports/SCHEMA.md), such as policy,
              budget, seed, retained_mass, topk_overlap, evictions; what was not measured is NaN
    labels    a short name for each cell, as in the program's tables: "h2o", "streaming:sinks=0"; cells
              that differ in budget or seed only share it
    heads     the same for each cell and query head
    dense     for each layer and head, the attention without evictions: first_mass, sinks_mass,
              recent_mass, entropy
    left_out  the policies of "all" that the trace has not the inputs for
    trace     what was replayed

    A replay can be pickled, with all results and words. Its trace is pickled with it if that is a file
    or a synthetic stream, and opened when it is asked for; arrays are not. Replays are equal if all
    results are.
    """

    def __init__(self, trace: Trace, results: Dict[str, Any]):
        self._trace: Optional[Trace] = trace
        self._origin = trace._origin if trace._origin.small else None
        self._name = trace.name
        self._words: Optional[List[str]] = None  # of a replay that was pickled
        self._read(results)

    def _read(self, results: Dict[str, Any]) -> None:
        self._results = results
        self.lines: str = results["lines"]
        rows = [json.loads(line) for line in self.lines.splitlines()]
        self.cells = table([row for row in rows if row["type"] == "cell"], _REPEATED)
        self.heads = table([row for row in rows if row["type"] == "head"], _REPEATED)
        dense = results["dense"]
        self.dense = structured(list(dense), list(dense.values()), len(dense["layer"]))
        self.labels: List[str] = results["labels"]
        self.left_out: List[str] = results["left_out"]
        self._cells = results["cells"]

    @property
    def trace(self) -> Trace:
        if self._trace is None:
            if self._origin is None:
                raise Error("the trace '%s' of this pickled replay was made of arrays, which are not pickled "
                            "with it; expected pickle.dumps(trace) beside it" % self._name)
            self._trace = Trace(self._origin.again(), self._origin)
        return self._trace

    def _words_of_trace(self) -> List[str]:
        return self._trace.words if self._words is None else self._words

    def __getstate__(self):
        return {"name": self._name, "origin": self._origin, "words": self._words_of_trace(),
                "results": self._results}

    def __setstate__(self, state):
        self._trace, self._origin = None, state["origin"]
        self._name, self._words = state["name"], state["words"]
        self._read(state["results"])

    def __eq__(self, other):
        return _same(self._results, other._results) if isinstance(other, Replay) else NotImplemented

    def __hash__(self):
        return hash(self.lines)

    def __repr__(self):
        count = len(self.cells)
        return "<kvcheck.Replay of %r: %d cell%s>" % (self._name, count, "" if count == 1 else "s")

    def __len__(self):
        return len(self.cells)

    def _arrays(self, cell: int) -> Dict[str, Any]:
        cell = whole("cell", cell)
        if not -len(self._cells) <= cell < len(self._cells):
            raise Error("there is no cell %d; there are %d" % (cell, len(self._cells)))
        return self._cells[cell]

    def series(self, cell: int) -> numpy.ndarray:
        """How the cell did over the stream: a structured array with first_step, retained_mass,
        kl_to_dense, topk_overlap, output_error, stored, kept and visible, each the mean over heads
        and a few queries."""
        columns = self._arrays(cell)["series"]
        return structured(list(columns), list(columns.values()), len(columns["first_step"]))

    def kept(self, cell: int) -> numpy.ndarray:
        """[n]: in how many units each token was resident at the end."""
        return self._arrays(cell)["kept"]

    def lifetimes(self, cell: int) -> numpy.ndarray:
        """[n + 1]: how many evicted tokens had been resident for so many tokens."""
        return self._arrays(cell)["lifetimes"]

    def residency(self, cell: int) -> List[Residency]:
        """When each token of each unit was resident. Recorded for the first 16 seeds of each spec: for all
        units of as many seeds as have at most 1,048,576 tokens times query heads together, and of each
        other for the first unit of the last layer. Empty for later seeds."""
        return [Residency(*unit) for unit in self._arrays(cell)["residency"]]

    def kept_words(self, cell: int) -> List[str]:
        """The words of the tokens that any unit held at the end, in order."""
        words = self._words_of_trace()
        if not words:
            raise Error("'%s' has no text; expected a trace with words" % self._name)
        return [words[position] for position in numpy.flatnonzero(self.kept(cell))]

    def to_pandas(self, what: str = "cells"):
        """A data frame. Needs pandas.

        what: "cells", which begins with the label of each; "heads" or "dense"; "series", whose rows are
        those of series() for each cell; or "residency", with a row for each token of each recorded
        unit: position, and evicted_at as in Residency. The last two begin with cell, label, budget and
        seed.
        """
        text("what", what)
        if what in ("cells", "heads", "dense"):
            table_of = frame(getattr(self, what))
            if what == "cells":
                table_of.insert(0, "label", self.labels)
            return table_of
        if what not in ("series", "residency"):
            raise Error("there is no table %r; expected 'cells', 'heads', 'dense', 'series' or "
                        "'residency'" % (what,))
        parts = [part for cell in range(len(self))
                 for part in (self._series_of(cell) if what == "series" else self._residency_of(cell))]
        return joined(parts)

    def _named(self, cell: int, rows: numpy.ndarray) -> numpy.ndarray:
        about = {"cell": cell, "label": self.labels[cell], "budget": self.cells["budget"][cell],
                 "seed": self.cells["seed"][cell]}
        columns = [numpy.full(len(rows), value, object if name == "label" else None)
                   for name, value in about.items()]
        return structured([*about, *rows.dtype.names],
                          [*columns, *(rows[name] for name in rows.dtype.names)], len(rows))

    def _series_of(self, cell: int) -> List[numpy.ndarray]:
        return [self._named(cell, self.series(cell))]

    def _residency_of(self, cell: int) -> List[numpy.ndarray]:
        parts = []
        for layer, head, evicted_at in self.residency(cell):
            count = len(evicted_at)
            parts.append(self._named(cell, structured(
                ["layer", "head", "position", "evicted_at"],
                [numpy.full(count, layer), numpy.full(count, head), numpy.arange(count), evicted_at],
                count)))
        return parts


def _same(one: Any, other: Any) -> bool:
    """Whether two results are equal, to the last bit of their arrays."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, numpy.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return one == other


_MOST = 2**32 - 1
_MOST_SEEDS = 4096  # cells that one replay may have


def _distinct(name: str, numbers: List[int]) -> List[int]:
    """A cell that runs twice would count as two."""
    for i, number in enumerate(numbers):
        if number in numbers[:i]:
            raise Error("%s names %d twice; expected each once" % (name, number))
    return numbers


def _seeds(given: Union[int, Sequence[int]]) -> List[int]:
    """So many seeds from 1 on, or those of a list."""
    if not numpy.iterable(given):
        count = whole("seeds", given)
        if not 1 <= count <= _MOST_SEEDS:
            raise Error("seeds is %d; expected how many, from 1 to %d, or a list of seeds" % (
                count, _MOST_SEEDS))
        return list(range(1, count + 1))
    seeds = wholes("seeds", given, 0, 2**64 - 1)
    if not seeds:
        raise Error("seeds is empty; expected at least one")
    return _distinct("seeds", seeds)


def replay(trace: "Trace | str | os.PathLike | numpy.ndarray", policies: Sequence,
           budgets: Union[int, Sequence[int]] = (), *,
           seeds: Union[int, Sequence[int]] = 1, chunk: Optional[int] = None, oracle: bool = False,
           top_k: int = 16, threads: Optional[int] = None,
           output: "str | os.PathLike | None" = None) -> Replay:
    """Replays a trace through policies, as `kvcheck replay` does, with the same numbers.

    trace: a Trace, the path of one, "synthetic:SPEC", or an array of attention rows, which becomes
    attention(rows); qkv makes a Trace of queries, keys and values. policies: specs such as
    "h2o:sinks=4", "all", and subclasses of Policy. budgets: each policy runs at each of them [those of
    the specs]. seeds: so many seeds from 1 on, or their list; policies without random draws run once.
    chunk: tokens that are fed together. oracle: also compute what an optimal cache would have
    retained. threads: [all cores]; one if a policy is Python's. output: add the run to this results
    file, of which the program makes pages and figures: run("explore", "run.db"). For the words and the
    attention of a trace of arrays, save() it and name the file: run(..., "--trace", "t.safetensors").

    Python's lock is free meanwhile, but for calls of Python policies. Ctrl-C raises KeyboardInterrupt.
    """
    request = _kvcheck.ReplayRequest()
    request.budgets = _distinct("budgets", wholes("budgets", budgets, 1, _MOST))
    request.seeds = _seeds(seeds)
    request.chunk = 0 if chunk is None else whole("chunk", chunk, 1, _MOST)
    request.oracle = flag("oracle", oracle)
    request.top_k = whole("top_k", top_k, 0, _MOST)
    request.threads = 0 if threads is None else whole("threads", threads, 1, _MOST)
    request.policies = specs_of("policies", policies)
    if output is not None:
        request.output = os.fsencode(file("output", output))
    given, trace = trace, trace_of(trace)  # last, as it may take long
    request.command = _command(_named(given, trace), request)
    try:
        return Replay(trace, _kvcheck.replay(trace._handle, request))
    except Error as error:
        raise Error(in_keywords(str(error), {"policy": "policies", "budget": "budgets"})) from None


def _named(given: Any, trace: Trace) -> str:
    """What names this trace in a call: a path as it was given."""
    if isinstance(given, (str, bytes, os.PathLike)):
        return str(os.fsdecode(given))
    return "synthetic:" + trace.name if isinstance(trace._origin, FromSpec) else trace.name


def _command(source: str, request: "_kvcheck.ReplayRequest") -> str:
    """The call that made a run, for the pages that tell of it; what has its default is left out."""
    given = {"budgets": request.budgets, "seeds": request.seeds, "chunk": request.chunk,
             "oracle": request.oracle, "top_k": request.top_k}
    default = {"budgets": [], "seeds": [1], "chunk": 0, "oracle": False, "top_k": 16}
    return "kvcheck.replay(%s)" % ", ".join(
        [repr(source), repr(request.policies),
         *("%s=%r" % (name, value) for name, value in given.items() if value != default[name])])


# What a replay's oracle found. The mean over all queries, and over those after the first eviction.
_BOUNDS = ("optimum", "per_step_bound", "greedy_oracle")


def oracle(trace: "Trace | str | os.PathLike | numpy.ndarray",
           budgets: Union[int, Sequence[int]], *, fields: str = "",
           threads: Optional[int] = None) -> numpy.ndarray:
    """What any cache could retain of a trace, as `kvcheck replay --oracle` says (docs/oracle.md).

    trace: as in replay. Returns a structured array with an entry for each budget: budget; optimum, the
    retained mass of the best cache that never takes back what it evicted; per_step_bound, that of a
    cache that could; greedy_oracle, that of a cache that knows the future and evicts what will receive
    the least; and the same three after the first eviction, named ..._after.

    fields: those of a spec that decide how many rows a query sees, such as
    "timing=trim-then-attend;unit=layer;chunk=16" [those of a spec that names none].
    """
    spec = "fifo;" + fields if text("fields", fields) else "fifo"
    cells = replay(trace, [spec], budgets, oracle=True, threads=threads).cells
    names = ["budget", *_BOUNDS, *(name + "_after" for name in _BOUNDS)]
    return structured(names, [cells[name] for name in names], len(cells))
