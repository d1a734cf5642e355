"""Simulation and property testing of key/value-cache eviction policies.

    import kvcheck

    trace = kvcheck.attention(rows)                     # NumPy, [heads, n, n]
    result = kvcheck.replay(trace, ["h2o", "tova"], budgets=[32, 64])
    result.cells["retained_mass_after"]                 # a NumPy array, one entry a cell
    result.to_pandas()                                  # where pandas is there

Traces:    open_trace, attention, qkv, generate          class Trace
Replays:   replay, oracle                                class Replay
Policies:  Policy, Parameter, register                   decisions made in Python
Models:    record                                        traces of models that run in Python
Programs:  check, judge, uniformity, eval, run           the program's other commands
Caches:    serve, serve_model                            a Python cache as a subject of `kvcheck check`

Whatever is wrong with an argument or a file raises kvcheck.Error with the program's sentence.
`python3 -m kvcheck` is the program. Serving caches needs only the standard library, and recording models
NumPy too; all else needs NumPy and the compiled module.
"""

from .serving import (Attention, Draws, Facts, Refused, position_of, requested_sizes, serve,
                      serve_model)

# The rest is imported when it is used, as it needs NumPy and the compiled module.
_HOMES = {
    "Error": "errors",
    "Trace": "traces", "open_trace": "traces", "attention": "traces", "qkv": "traces",
    "generate": "traces",
    "Replay": "replays", "replay": "replays", "oracle": "replays", "Residency": "replays",
    "Policy": "policies", "Parameter": "policies", "register": "policies",
    "run": "programs", "check": "programs", "judge": "programs", "uniformity": "programs",
    "eval": "programs", "Laws": "programs", "Printed": "programs", "Records": "tables",
}

# Modules that need no more than NumPy, as kvcheck.record after `import kvcheck`.
_MODULES = ("adapters", "record", "tensors")

# A star import leaves Python's own eval alone.
__all__ = ["Attention", "Draws", "Facts", "Refused", "position_of", "requested_sizes", "serve",
           "serve_model", *(name for name in _HOMES if name != "eval")]


def __getattr__(name):
    if name not in _HOMES and name not in (*_MODULES, "__version__"):
        raise AttributeError("module 'kvcheck' has no attribute %r" % name)
    from importlib import import_module
    if name in _MODULES:
        return import_module("." + name, __name__)
    try:
        import_module("numpy")
    except ModuleNotFoundError:
        raise ImportError("kvcheck.%s needs NumPy, which is not here (Debian: python3-numpy)" % name,
                          name="numpy") from None
    try:
        compiled = import_module("._kvcheck", __name__)
    except ModuleNotFoundError as error:
        if error.name != __name__ + "._kvcheck":
            raise
        raise ImportError("kvcheck.%s needs the compiled module, which is not here; build it with "
                          "pip install . in the source tree" % name, name=error.name) from None
    if name == "__version__":
        return compiled.version
    return getattr(import_module("." + _HOMES[name], __name__), name)


def __dir__():
    return sorted([*__all__, *_MODULES, "eval", "__version__"])
