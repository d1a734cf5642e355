"""The one exception of this package."""

from ._kvcheck import Error

Error.__module__ = "kvcheck"

__all__ = ["Error"]
