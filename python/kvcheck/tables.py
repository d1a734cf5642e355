"""Records of the program as NumPy tables and pandas' data frames."""

from typing import Any, Dict, List, Sequence

import numpy

from .errors import Error

__all__ = ["Records", "frame", "joined", "structured", "table"]


def _column(name: str, values: List[Any]) -> numpy.ndarray:
    if name == "seed":
        return numpy.array(values, dtype=numpy.uint64)
    present = [value for value in values if value is not None]
    if any(isinstance(value, str) for value in present):
        return numpy.array(values, dtype=object)
    if present and len(present) == len(values):
        for one, dtype in ((bool, bool), (int, numpy.int64)):
            if all(isinstance(value, one) for value in present):
                return numpy.array(values, dtype=dtype)
    return numpy.array([numpy.nan if value is None else value for value in values], dtype=float)


def structured(names: Sequence[str], columns: Sequence[numpy.ndarray], count: int) -> numpy.ndarray:
    """A structured array of `count` entries with these fields."""
    entries = numpy.empty(count,
                          dtype=[(name, column.dtype) for name, column in zip(names, columns)])
    for name, column in zip(names, columns):
        entries[name] = column
    return entries


def table(rows: List[Dict[str, Any]], without: Sequence[str] = ()) -> numpy.ndarray:
    """A structured array with a field for each name that any row has and that is a number, a word or
    nothing in all of them."""
    names = [name for name in dict.fromkeys(name for row in rows for name in row)
             if name not in without and
             not any(isinstance(row.get(name), (list, dict)) for row in rows)]
    columns = [_column(name, [row.get(name) for row in rows]) for name in names]
    return structured(names, columns, len(rows))


def _pandas():
    try:
        import pandas
    except ImportError:
        raise Error("pandas is not installed; use the NumPy arrays, or install python3-pandas"
                    ) from None
    return pandas


def frame(entries: numpy.ndarray):
    """The same as a data frame. Needs pandas."""
    # An empty structured array may have no names at all.
    return _pandas().DataFrame({name: entries[name] for name in entries.dtype.names or ()})


def joined(parts: Sequence[numpy.ndarray]):
    """A data frame of the entries of all parts, one after another. Needs pandas."""
    frames = [frame(part) for part in parts]
    pandas = _pandas()
    return pandas.concat(frames, ignore_index=True) if frames else pandas.DataFrame()


class Records(list):
    """What a command writes with --json: a list of dictionaries, such as records[0]["perplexity"], and
    the same as a table:

        records.table()["perplexity"]     # NumPy, one entry a record; what is missing is NaN
        records.to_pandas()

    Lists inside a record are in the dictionaries only.
    """

    def table(self) -> numpy.ndarray:
        """A structured array with an entry for each record."""
        return table(self, ("type",))

    def to_pandas(self):
        """The same as a data frame. Needs pandas."""
        return frame(self.table())
