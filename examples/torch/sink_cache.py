"""A cache of PyTorch tensors that keeps the first tokens and a window of the newest."""

import sys

import torch

from kvcheck import tensors


class SinkCache:
    def __init__(self, layers, sinks, recent, budget):
        if budget < sinks + max(recent, 1):
            raise ValueError("the budget leaves no room for a window")
        self.sinks, self.window = sinks, budget - sinks
        self.keys, self.values = [None] * layers, [None] * layers
        self.seen = [0] * layers

    def update(self, keys, values, layer):
        first, count = self.seen[layer], keys.shape[2]
        self.seen[layer] += count
        places = torch.arange(first, first + count)
        if self.keys[layer] is not None:
            keys = torch.cat([self.keys[layer], keys], dim=2)
            values = torch.cat([self.values[layer], values], dim=2)
        self.keep(layer, keys, values)
        rows = self.places_of(first, keys.shape[2] - count, places)
        query, row = places[:, None], rows[None, :]
        mask = (row <= query) & ((row < self.sinks) | (row > query - self.window))
        return keys, values, mask

    def places_of(self, first, held, places):
        """The positions of the rows: sinks, the newest stored rows, then the rows of this call."""
        sinks = min(self.sinks, held)
        old = torch.cat([torch.arange(sinks), torch.arange(first - held + sinks, first)])
        return torch.cat([old, places])

    def keep(self, layer, keys, values):
        def trimmed(rows):
            if rows.shape[2] <= self.sinks + self.window:
                return rows
            return torch.cat([rows[:, :, : self.sinks], rows[:, :, -self.window :]], dim=2)

        self.keys[layer], self.values[layer] = trimmed(keys), trimmed(values)

    def stored(self, layer):
        if self.keys[layer] is None:
            return [], []
        return self.keys[layer], self.values[layer]

    def length(self, layer):
        return 0 if self.keys[layer] is None else self.keys[layer].shape[2]


class Broken(SinkCache):
    """Stores the values one row off their keys once the cache is full."""

    def keep(self, layer, keys, values):
        super().keep(layer, keys, torch.roll(values, 1, dims=2) if keys.shape[2] > self.sinks +
                     self.window else values)


if __name__ == "__main__":
    tensors.serve(Broken if "--broken" in sys.argv else SinkCache)
