"""Records what a cache did in a run: python3 record_run.py run.jsonl; kvcheck judge run.jsonl"""

import json
import sys

import sink_window


class History:
    """A file of one run. properties/HISTORY.md names the fields."""

    def __init__(self, path, **head):
        self.file = open(path, "w")
        self.line(kvcheck_history=1, **head)

    def line(self, **fields):
        print(json.dumps(fields), file=self.file)

    def feed(self, count, units):
        self.line(do="feed", tokens=count, units=units)


def unit(layer, cache, tokens):
    """Feeds the tokens to one layer's cache, and says what its queries saw and what is left."""
    rows = cache.kept() + tokens
    seen = cache.append(tokens)
    return {"layer": layer, "returned": rows, "stored": list(cache.kept()),
            "visible": ["".join("01"[row in rows_of] for row in rows) for rows_of in seen]}


def main(path, kind):
    layers, sinks, budget = 2, 4, 32
    history = History(path, name="sink-window", setup={"layers": layers},
                      contract={"sinks": sinks, "recent": budget - sinks, "budget": budget})
    caches = [kind(sinks, budget - sinks, budget) for _ in range(layers)]
    fed = 0
    for count in [20] + [1] * 60 + [40]:  # a prompt, single tokens, and a second prompt
        tokens = list(range(fed, fed + count))
        fed += count
        history.feed(count, [unit(i, cache, tokens) for i, cache in enumerate(caches)])


if __name__ == "__main__":
    main(sys.argv[1], sink_window.Broken if "--broken" in sys.argv else sink_window.SinkWindow)
