"""Caches with the interface of mlx-lm's (read in mlx_lm/models/cache.py and base.py of 0.32.0).

As in mlx-lm there is one object for each layer. Keys are rotated for positions from `offset` on, masks
are what make_mask of the first cache of each class says, before any cache is updated, and rows are
given to attention as update_and_fetch returns them. A rollback asks is_trimmable and then trims the
tokens that are to go; a fork is a deep copy; a snapshot is state and meta_state, loaded by from_state
as load_prompt_cache does.

A class that takes max_size gets the budget as its size, and the sinks as what it keeps. A function
that takes layers returns the list of all caches of a model, as make_cache does.
"""

import copy

from ..serving import Refused
from . import call, names_of, serve_tensors

HOME = "mlx_lm.models.cache"
INSTALL = "pip install mlx-lm"
ARRAYS = "mlx"
WORDS = ("max_size", "max_kv_size", "chunk_size", "window_size", "keep")
_SIZED = {"max_size", "max_kv_size", "chunk_size", "sinks", "recent", "budget", "window_size"}


class Caches:
    """The caches of all layers as kvcheck.tensors drives them."""

    def __init__(self, factory, setup, arrays):
        self.setup, self.arrays, self.fed = setup, arrays, 0
        words = dict(setup, max_size=setup["budget"], max_kv_size=setup["budget"],
                     chunk_size=setup["budget"], window_size=setup["budget"], keep=setup["sinks"])
        if "layers" in names_of(factory):
            self.caches = list(call(factory, words))
        else:
            self.caches = [call(factory, words) for _ in range(setup["layers"])]

    def positions(self, count, layer):
        if layer == 0:
            self.masks = {}
            for cache in self.caches:
                if hasattr(cache, "make_mask") and type(cache) not in self.masks:
                    self.masks[type(cache)] = cache.make_mask(count, return_array=False,
                                                              window_size=None)
        first = int(self.caches[layer].offset)
        return range(first, first + count)

    def update(self, keys, values, layer):
        cache = self.caches[layer]
        if layer == 0:
            self.fed += keys.shape[2]
        returned = cache.update_and_fetch(keys, values)
        mask = self.masks.get(type(cache), "causal")
        if mask is None:  # attention without a mask sees whatever it is given
            mask = [[True] * returned[0].shape[2]] * keys.shape[2]
        return (*returned, None if isinstance(mask, str) else mask)

    def stored(self, layer):
        cache = self.caches[layer]
        return None if cache.keys is None or cache.offset == 0 else cache.state

    def truncate(self, length):
        count = self.fed - length
        if not 0 <= length <= self.fed:
            raise Refused("%d of %d tokens" % (length, self.fed))
        if not all(hasattr(cache, "is_trimmable") and cache.is_trimmable() for cache in self.caches):
            raise Refused("is_trimmable says no")
        trimmed = [int(cache.trim(count)) for cache in self.caches]
        if set(trimmed) != {count}:
            raise Refused("of %d tokens, the layers trimmed %s" % (count, trimmed))
        self.fed = length

    def snapshot(self):
        if self.fed == 0 or not all(hasattr(cache, "meta_state") for cache in self.caches):
            raise Refused("there is no state to save")
        # Deep copies stand for the file between save_prompt_cache and load_prompt_cache.
        return self.fed, copy.deepcopy([(type(cache), cache.state, cache.meta_state)
                                        for cache in self.caches])

    def restore(self, saved):
        self.fed, states = saved
        self.caches = [kind.from_state(state, meta) for kind, state, meta in states]


def serve(factory, options, name):
    takes = set(names_of(factory))

    def contract(setup):
        if not takes & _SIZED:
            return {"sinks": 0, "recent": 0, "budget": 0}
        if setup["budget"] == 0:
            raise Refused("a size of 0 holds nothing")
        return {"sinks": setup["sinks"] if takes & {"keep", "sinks"} else 0,
                "recent": setup["budget"] - (setup["sinks"] if takes & {"keep", "sinks"} else 0),
                "budget": setup["budget"], "unordered": True}

    serve_tensors(lambda setup, arrays: Caches(factory, setup, arrays), contract, options, name, ARRAYS)
