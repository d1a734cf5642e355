"""Where traces come from, which is what is pickled of them.

An origin makes its trace again: the same trace, or an Error.
"""

import os
from dataclasses import dataclass
from typing import Any, Dict, List

from . import _kvcheck
from .errors import Error, in_keywords

__all__ = ["FromArrays", "FromFile", "FromSpec"]


@dataclass(frozen=True)
class FromFile:
    """A file, whose content is not pickled: it must be there, and unchanged, where it is unpickled."""

    path: str  # absolute
    kv_heads: int
    learned_sinks: bool
    checksum: int

    small = True

    def again(self) -> "_kvcheck.Trace":
        try:
            handle = _kvcheck.open_trace(os.fsencode(self.path), self.kv_heads, self.learned_sinks)
        except Error as error:
            raise Error("a pickled trace is not there any more: %s" % in_keywords(str(error))) from None
        if handle.checksum() != self.checksum:
            raise Error("'%s' has changed since its trace was pickled: its checksum is %016x; expected "
                        "%016x" % (self.path, handle.checksum(), self.checksum))
        return handle


@dataclass(frozen=True)
class FromSpec:
    """A synthetic stream, which is made again: its spec says all of it."""

    spec: str

    small = True

    def again(self) -> "_kvcheck.Trace":
        return _kvcheck.open_trace("synthetic:" + self.spec)


@dataclass(frozen=True)
class FromArrays:
    """Arrays in memory. All of them are pickled, and checked again when they are unpickled."""

    name: str
    metadata: Dict[str, str]
    numbers: List[int]  # the model's, of the layers
    arrays: List[List[Any]]  # of each layer
    tables: Dict[str, Any]  # attributes of LayerTables
    token_ids: List[int]
    text: str
    text_ends: List[int]

    small = False

    def again(self) -> "_kvcheck.Trace":
        tables = _kvcheck.LayerTables()
        for table, rows in self.tables.items():
            setattr(tables, table, rows)
        return _kvcheck.trace_of(self.name, self.metadata, self.numbers, self.arrays, tables,
                                 self.token_ids, self.text, self.text_ends)
