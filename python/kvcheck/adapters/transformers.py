"""Caches with the interface of transformers' Cache (read in src/transformers/cache_utils.py as of
October 2025, between 4.57 and 5.0, and the change of get_mask_sizes that followed in 5).

The cache is used as a model uses it: the positions of new tokens are counted on from
get_seq_length(), masks are made from get_mask_sizes of the first layer of each kind before any layer
is updated, and layers follow one another through update. Then crop, reorder_cache, reset,
batch_repeat_interleave and batch_select_indices do what a caller asks, and a fork is a deep copy, as
for a prefix that several prompts share. What raises ValueError or NotImplementedError,
or what a layer lacks, is refused.

A class that takes a config gets one with the sizes of the case. --windows makes its layers slide
over the budget; --windows --budgets 16,0 lets every other layer slide over 16 tokens.
"""

import inspect

from ..serving import Refused
from . import call, names_of, serve_tensors

HOME = "transformers"
INSTALL = "pip install transformers"
ARRAYS = "torch"
WORDS = ("config", "max_cache_len", "max_batch_size", "batch_size", "num_hidden_layers", "sliding_window",
         "window_length", "num_sink_tokens")


def _length(setup):
    """The tokens for which caches of a fixed length are made: long cases have few units, and those of
    the level nightly are too long for such caches."""
    units = setup["layers"] * setup["kv_heads"] * setup["sequences"]
    return max(128, 4 * setup["budget"]) + (2200 if units <= 4 else 0)


class Config:
    """What caches read of a model's configuration."""

    def __init__(self, setup, windows, head_dim):
        self.num_hidden_layers = setup["layers"]
        self.num_key_value_heads = setup["kv_heads"]
        self.num_attention_heads = setup["kv_heads"] * setup["group"]
        self.head_dim = head_dim
        self.hidden_size = self.num_attention_heads * head_dim
        self.max_position_embeddings = 1 << 16
        self.sliding_window = max(windows) or None
        self.layer_types = ["sliding_attention" if window else "full_attention" for window in windows]

    def get_text_config(self, *_, **__):
        return self


def _windows(setup, options):
    """The sliding window of each layer; 0: none."""
    if not options.contract.get("windows"):
        return [0] * setup["layers"]
    pattern = options.contract.get("budgets", [setup["budget"]])
    return [pattern[layer % len(pattern)] for layer in range(setup["layers"])]


class Cache:
    """One cache as kvcheck.tensors drives it."""

    def __init__(self, factory, options, setup, arrays):
        self.setup, self.arrays = setup, arrays
        windows = _windows(setup, options)
        if len(set(windows) - {0}) > 1:
            raise ValueError("--budgets names two windows; transformers has one for all its layers")
        config = Config(setup, windows, setup["head_dim"])
        self.cache = call(factory, dict(
            setup, config=config, max_cache_len=_length(setup), max_batch_size=setup["sequences"],
            batch_size=setup["sequences"], num_hidden_layers=setup["layers"],
            sliding_window=config.sliding_window or setup["budget"], window_length=setup["budget"],
            num_sink_tokens=setup["sinks"]))
        asks = getattr(self.cache, "get_mask_sizes", None)
        self.asks = asks and next(iter(inspect.signature(asks).parameters))

    def _sliding(self):
        kinds = list(getattr(self.cache, "is_sliding", None) or [])
        return kinds + [False] * (self.setup["layers"] - len(kinds))

    def _window(self, layer):
        layers = getattr(self.cache, "layers", None)
        if not self._sliding()[layer]:
            return 0
        window = getattr(layers[layer], "sliding_window", None) if layers else None
        return int(window or layers[layer].max_cache_len)

    def contract(self, sized):
        windows = [self._window(layer) for layer in range(self.setup["layers"])]
        if not any(windows):
            if sized:
                return {name: self.setup[name] for name in ("sinks", "recent", "budget")}
            return {"sinks": 0, "recent": 0, "budget": 0}
        ahead = not hasattr(self.cache.layers[windows.index(max(windows))], "max_cache_len")
        known = {"sinks": 0, "recent": max(windows), "budget": max(windows), "evicts_ahead": ahead,
                 "windows": True}
        if not all(windows):
            known["budgets"] = windows
        return known

    def positions(self, count, layer):
        if layer == 0:
            self.first = int(self.cache.get_seq_length())
            self.masks = self._masks(count)
        return range(self.first, self.first + count)

    def _masks(self, count):
        """For each kind of layer, the rows that its mask has and the position of the first."""
        if not self.asks:
            return {}
        given = count
        if self.asks == "cache_position":
            given = self.arrays.integers(list(range(self.first, self.first + count)))
        kinds = self._sliding()
        return {kind: [int(size) for size in self.cache.get_mask_sizes(given, kinds.index(kind))]
                for kind in set(kinds)}

    def update(self, keys, values, layer):
        count = keys.shape[2]
        at = range(self.first, self.first + count)
        result = self.cache.update(keys, values, layer,
                                   {"cache_position": self.arrays.integers(list(at))})
        kind = self._sliding()[layer]
        if kind not in self.masks:
            return result
        rows, offset = self.masks[kind]
        if rows != result[0].shape[2]:
            raise ValueError("get_mask_sizes said %d rows for layer %d, and update returned %d" % (
                rows, layer, result[0].shape[2]))
        window = self._window(layer)
        mask = [[row <= query and (not window or row > query - window)
                 for row in range(offset, offset + rows)] for query in at]
        return result[0], result[1], mask

    def stored(self, layer):
        layers = getattr(self.cache, "layers", None)
        if layers is not None:
            return (layers[layer].keys, layers[layer].values) if layer < len(layers) else None
        keys = getattr(self.cache, "key_cache", None)
        if keys is not None:
            return (keys[layer], self.cache.value_cache[layer]) if layer < len(keys) else None
        return self.cache[layer]

    def _ask(self, name, *words):
        """Calls a method of the cache; one that it or its layers lack has refused."""
        if not hasattr(self.cache, name):
            raise Refused("there is no " + name)
        try:
            return getattr(self.cache, name)(*words)
        except (NotImplementedError, ValueError) as refusal:
            raise Refused(str(refusal)) from None
        except AttributeError as missing:
            if missing.name != name:
                raise
            raise Refused("a layer has no " + name) from None

    def truncate(self, length):
        fed = int(self.cache.get_seq_length())
        if not 0 <= length <= fed:  # crop gives a meaning of its own to these
            raise Refused("%d of %d tokens" % (length, fed))
        self._ask("crop", length)

    def reset(self):
        self._ask("reset")

    def reorder(self, source):
        count = self.setup["sequences"]
        if len(source) != count or not all(0 <= sequence < count for sequence in source):
            raise Refused("there are %d sequences" % count)
        ways = [self._beams, self._select, self._repeat]
        # Which way is taken follows from the call, so that a case is the same each time.
        first = sum((at + 1) * sequence for at, sequence in enumerate(source)) % len(ways)
        for way in ways[first:] + ways[:first]:
            try:
                return way(source)
            except Refused as refusal:
                last = refusal
        raise last

    def _beams(self, source):
        self._ask("reorder_cache", self.arrays.integers(list(source)))

    def _select(self, source):
        self._ask("batch_select_indices", self.arrays.integers(list(source)))

    def _repeat(self, source):
        self._ask("batch_repeat_interleave", 2)
        self._ask("batch_select_indices", self.arrays.integers(
            [2 * sequence + at % 2 for at, sequence in enumerate(source)]))


def serve(factory, options, name):
    sized = set(names_of(factory)) & {"sinks", "recent", "budget", "sliding_window", "window_length"}

    def contract(setup):
        from ..arrays import Arrays
        dim = options.tensors.get("head_dim", 64)
        return Cache(factory, options, dict(setup, head_dim=dim), Arrays("numpy")).contract(sized)

    serve_tensors(lambda setup, arrays: Cache(factory, options, setup, arrays), contract, options,
                  name, ARRAYS)
