"""A cache in pure Python that keeps the first tokens and a window of the newest."""

import sys

import kvcheck


class SinkWindow:
    def __init__(self, sinks, recent, budget):
        if budget < sinks + max(recent, 1):
            raise ValueError("the budget leaves no room for a window")
        self.sinks, self.window = sinks, budget - sinks
        self.ids = []

    def append(self, tokens):
        seen = []
        for token in tokens:
            self.ids.append(token)
            if len(self.ids) > self.sinks + self.window:
                del self.ids[self.sinks]
            seen.append(list(self.ids))
        return seen

    def kept(self):
        return self.ids

    def __len__(self):
        return len(self.ids)

    def reset(self):
        self.ids = []


class Broken(SinkWindow):
    """Trims once per chunk before attention, so early queries of a long chunk lose their window."""

    def append(self, tokens):
        self.ids += tokens
        del self.ids[self.sinks : max(self.sinks, len(self.ids) - self.window)]
        return [[i for i in self.ids if kvcheck.position_of(i) <= kvcheck.position_of(token)]
                for token in tokens]


if __name__ == "__main__":
    kvcheck.serve(Broken if "--broken" in sys.argv else SinkWindow)
