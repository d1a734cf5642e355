"""A tour of the Python package, in cells: run it whole, or cell by cell in an editor.

    pip install .
    python3 examples/python/tutorial.py FOLDER        # results and the figure are written there

It reads a trace that lies in kvcheck's sources. Elsewhere, name a trace with words: tutorial.py FOLDER TRACE.
"""

import os
import sys

import numpy

import kvcheck

FILE = globals().get("__file__")  # editors that run cells alone may not tell
ARGUMENTS = sys.argv[1:] if FILE else []
FOLDER = ARGUMENTS[0] if ARGUMENTS else "."
os.makedirs(FOLDER, exist_ok=True)
HERE = os.path.dirname(os.path.abspath(FILE or "examples/python/tutorial.py"))
RECORDED = ARGUMENTS[1] if len(ARGUMENTS) > 1 else os.path.normpath(
    os.path.join(HERE, "..", "..", "traces", "data", "tinystories-2m.qkv.safetensors"))
if not os.path.exists(RECORDED):
    sys.exit("'%s' is not there; run this file in kvcheck's sources, or name a trace with words: "
             "python3 tutorial.py FOLDER TRACE" % RECORDED)

# %% A trace from an array
# Rows of attention of any model, [heads, n, n]: row t is what query t gives to keys 0 to t.
tokens, heads = 200, 4
random = numpy.random.default_rng(1)
scores = random.gumbel(size=(heads, tokens, tokens))
scores[:, :, 0] += 5  # a sink
weights = numpy.tril(numpy.exp(scores))
trace = kvcheck.attention(weights / weights.sum(axis=2, keepdims=True), name="an array")
print(trace)

# %% A replay
# Every policy at every budget; a cell is one of them, with a seed.
result = kvcheck.replay(trace, ["streaming:sinks=4", "streaming:sinks=0", "h2o", "random"],
                        budgets=[32, 64], seeds=2)
for label, cell in zip(result.labels, result.cells):
    print("%-17s budget %2d seed %d retains %.4f" % (label, cell["budget"], cell["seed"],
                                                     cell["retained_mass_after"]))

# %% What was kept
# When each token was evicted, for each unit of a cell.
first = result.residency(0)[0]
print("the last query sees", numpy.flatnonzero(first.resident()[-1])[:8], "...")


# %% A policy of your own
# It keeps the tokens that ever received the most attention from one later query.
class LargestMass(kvcheck.Policy):
    sinks = 1
    claims = ("constant-size", "deterministic", "score-driven")

    def __init__(self):
        self.largest = numpy.zeros(0, numpy.float32)

    def observe(self, observation):
        received = observation.mass.copy()
        received[-1] = 0  # what the query gives to itself: 1 for the first token of all
        self.largest = numpy.maximum(numpy.append(self.largest, numpy.float32(0)), received)

    def evict(self, candidates, draws):
        count = len(candidates.positions)
        largest = self.largest[candidates.first_rank:candidates.first_rank + count]
        return numpy.argsort(largest, kind="stable")[:count - candidates.capacity]

    def forget(self, ranks):
        self.largest = numpy.delete(self.largest, ranks)


recorded = kvcheck.open_trace(RECORDED)
result = kvcheck.replay(recorded, [LargestMass, "h2o", "tova"], budgets=[32, 64, 128])
for cell in result.cells:
    print("%-14s budget %3d retains %.4f" % (cell["policy"], cell["budget"], cell["retained_mass_after"]))
print("kept at the end:", "".join(result.kept_words(0)[-20:]))

# %% Its laws
# `check` tries what every cache promises, and what the class claims. Without the line that leaves out
# what a query gives to itself, it finds a stream in which the first token is never evicted.
report = kvcheck.check(LargestMass)
for law in report["laws"]:
    if law["status"] == "broken":
        print(law["law"], "is broken:", law["seen"])
print("LargestMass", "holds" if report["holds"] else "does not hold", "what it claims")

# %% A figure
# Every command of the program can be run from Python, and knows the policies that are registered.
database = os.path.join(FOLDER, "tutorial.db")
for words in (["replay", RECORDED, "--policy", "largest-mass", "--policy", "h2o", "--policy", "tova",
               "--budget", "32,64,128", "--quiet", "-o", database],
              ["plot", "budget", database, "-o", os.path.join(FOLDER, "tutorial.svg")]):
    printed = kvcheck.run(*words)
    if printed.status != 0:
        sys.exit(printed.err)
print("the figure is", os.path.join(FOLDER, "tutorial.svg"))
