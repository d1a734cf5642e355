"""Policies of Python beside those of C++ that decide the same."""

import numpy

import kvcheck


class Fifo(kvcheck.Policy):
    """fifo."""
    name = "py-fifo"
    sinks = 4
    claims = ("constant-size", "chunk-invariant", "deterministic", "admits-newcomers")

    def evict(self, candidates, draws):
        return range(len(candidates.positions) - candidates.capacity)


class Tova(kvcheck.Policy):
    """tova: the least attention of the last query; of equals the older."""
    name = "py-tova"
    recent_percent = 0
    claims = ("constant-size", "deterministic", "score-driven")

    def observe(self, observation):
        self.mass = observation.mass

    def evict(self, candidates, draws):
        count = len(candidates.positions)
        mass = self.mass[candidates.first_rank:candidates.first_rank + count]
        return numpy.argsort(mass, kind="stable")[:count - candidates.capacity]

    def forget(self, ranks):
        self.mass = numpy.delete(self.mass, ranks)


class Random(kvcheck.Policy):
    """random: the same draws, so the same tokens."""
    name = "py-random"
    sinks = 4
    claims = ("constant-size", "chunk-invariant", "age-geometric", "admits-newcomers")

    def evict(self, candidates, draws):
        return [draws.below(candidates.capacity, int(candidates.positions[-1]))]


class KeyNorm(kvcheck.Policy):
    """key-norm: the longest keys."""
    name = "py-key-norm"
    needs = ("keys",)
    claims = ("constant-size", "chunk-invariant", "deterministic")

    def __init__(self):
        self.lengths = numpy.zeros(0, numpy.float64)

    def observe(self, observation):
        keys = observation.keys.astype(numpy.float64)
        self.lengths = numpy.append(self.lengths, numpy.sqrt((keys**2).sum(axis=1)).mean())

    def evict(self, candidates, draws):
        count = len(candidates.positions)
        lengths = self.lengths[candidates.first_rank:candidates.first_rank + count]
        return numpy.argsort(-lengths, kind="stable")[:count - candidates.capacity]

    def forget(self, ranks):
        self.lengths = numpy.delete(self.lengths, ranks)
