"""Inputs of runs.py beside those of tests/faults/inputs.py: a trace with every rule that a layer can
have, caches that declare much or die, and the log of a model that another program ran."""

import json
import os
import struct

import inputs

# Declares what a class of its own behaviour would, so that its contract has every kind of value.
CACHE = """#!/usr/bin/env python3
import os, sys
sys.path.insert(0, %r)
import kvcheck

class Cache:
    def __init__(self, sinks, recent, budget):
        self.ids = []

    def append(self, tokens):
        if %r and len(self.ids) > 3:
            os._exit(7)
        seen = []
        for token in tokens:
            self.ids.append(token)
            seen.append(list(self.ids))
        return seen

    def kept(self):
        return self.ids

    def __len__(self):
        return len(self.ids)

    def reset(self):
        self.ids = []

    def truncate(self, length):
        del self.ids[length:]

kvcheck.serve(Cache, contract=%s)
"""

DECLARED = """lambda setup: {
    "budgets": [8] + [0] * (setup["layers"] - 1), "visibility": "causal", "rollback": "any",
    "longest_chunk": 8, "first_chunk": "any",
    "rows_from": [min(layer, 1) for layer in range(setup["layers"])]}"""


def safetensors(metadata, tensors):
    """A trace whose tensors are lists of numbers with a shape."""
    header = {"__metadata__": {"format": "kvcheck-trace", **metadata}}
    data = b""
    for name, (shape, numbers) in tensors.items():
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [len(data), len(data) + 4 * len(numbers)]}
        data += struct.pack("<%df" % len(numbers), *numbers)
    text = json.dumps(header).encode()
    text = text.ljust((len(text) + 7) // 8 * 8)
    return struct.pack("<Q", len(text)) + text + data


def ruled_trace(layout):
    """Three layers: one with every rule, one that has none of them, and one that does not rotate."""
    rules = {"version": "2", "kind": "qkv", "rope_layout": "%s,%s,none" % (layout, layout),
             "rope_dims": "4", "rope_theta": "10000", "rope_scale": "1.5", "window": "3,none,none",
             "soft_cap": "50,none,none", "attention_scale": "0.25,none,none", "model_layers": "9"}
    tensors = {}
    for layer in (0, 1, 2):
        for name in ("q", "k", "v"):
            tensors["layers.%d.%s" % (layer, name)] = ([2, 6, 4], [0.125 * (i % 7) for i in range(48)])
    tensors["layers.0.frequencies"] = ([2], [1.0, 0.01])
    tensors["layers.0.sinks"] = ([2], [0.5, -0.5])
    tensors["layers.0.slopes"] = ([2], [0.25, 0.125])
    return safetensors(rules, tensors)


def own_run():
    """A recorded run of a window of four tokens over the eight of in/rows.npy."""
    lines = [{"kvcheck_history": 1, "setup": {"layers": 1, "kv_heads": 2},
              "contract": {"sinks": 0, "recent": 4, "budget": 4, "visibility": "causal"}}]
    for token in range(8):
        lines.append({"do": "feed", "tokens": 1, "units": [
            {"evicted": [token - 4] if token >= 4 else [], "visible": "causal"}]})
    return "".join(json.dumps(line) + "\n" for line in lines)


def said():
    """Hypotheses about files of the runs, with every kind of condition and verdict."""
    mass = {"results": "seeds.db", "measure": "retained_mass", "of": "random"}
    above = dict(mass, mean={"above": 0.001, "below": 1.5}, about="replays")
    window = {"results": "run.db", "measure": "perplexity", "window": 100, "of": "window:budget=32",
              "against": "dense", "ratio": {"above": 0}}
    spread = dict(mass, spread=True, layer=0, against="random", difference={"below": -1})
    law = {"results": "broken.json", "law": "resident.recent"}
    uniform = {"results": "uniform.json", "uniform": "reservoir"}
    growth = {"results": "run.db", "measure": "kv_bytes", "of": "dense", "growth": {"above": 0}}
    timed = {"results": "run.db", "measure": "token_s", "length": 8, "of": "window", "mean": {"above": 0}}
    return json.dumps({"hypotheses": [
        {"hypothesis": "Five.", "conditions": [growth, timed]},
        {"hypothesis": "One.", "source": "Me.", "note": "So far.", "conditions": [above, law, uniform]},
        {"hypothesis": "Two.", "conditions": [above, spread]},
        {"hypothesis": "Three.", "conditions": [spread, dict(law, law="chance.exact")]},
        {"hypothesis": "Four.", "conditions": [window, law]}]})


def make(program, source, folder):
    """Makes in/ and logs/ in the folder of the runs."""
    inputs.make(program, folder + "/in")
    package = source + "/python"
    for name, dies, contract in (("dies", True, "{}"), ("declares", False, DECLARED)):
        inputs.write("%s/in/%s" % (folder, name), CACHE % (package, dies, contract))
        os.chmod("%s/in/%s" % (folder, name), 0o755)
    for name, layout in (("rules", "interleaved"), ("half", "half")):
        inputs.write("%s/in/%s.safetensors" % (folder, name), ruled_trace(layout))
    inputs.write(folder + "/in/own.jsonl", own_run())
    inputs.write(folder + "/in/said.json", said())
    inputs.write(folder + "/logs/window.csv",
                 "input_length,nll\n" + "".join("%d,1.5\n" % length for length in range(1, 257)))
