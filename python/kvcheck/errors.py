"""The one exception of this package."""

try:
    from ._kvcheck import Error
except ModuleNotFoundError as missing:
    if missing.name != __package__ + "._kvcheck":
        raise

    # kvcheck.record runs where only the sources are.
    class Error(ValueError):
        """Something about an argument or a file is wrong."""

Error.__module__ = "kvcheck"

__all__ = ["Error"]
