"""What the measurements of docs/claims.py share: the words of verdicts, and runs with a memory."""
import math

from measuring import MODEL, TRACE, mean, run_lines, run_text

HOLDS = "holds"
CONDITION = "holds with a condition"
FAILS = "does not hold"
UNDECIDED = "not decided"
UNMEASURED = "not measured"


class Runner:
    """Runs kvcheck and records the commands as a reader would type them. Claims that need the same
    numbers share one run, unless they request a fresh one."""

    done = {}

    def __init__(self, claim):
        self.claim = claim

    def show(self, words):
        shown = "kvcheck " + words.replace("SCRATCH/", "")
        if shown not in self.claim.commands:
            self.claim.commands.append(shown)

    def lines(self, words, status=(0,), fresh=False):
        self.show(words)
        if fresh or words not in self.done:
            self.done[words] = run_lines(words, status)
        return self.done[words]

    def make(self, words):
        """A run whose result is the file that it writes."""
        self.show(words)
        run_text(words)

    def replay(self, words, trace=TRACE):
        rows = self.lines(f"replay {trace} {words} --json -")
        return [row for row in rows if row["type"] == "cell"]

    def evaluate(self, words):
        rows = self.lines(f"eval {MODEL} {words} --json -")
        return [row for row in rows if row["type"] == "evaluation"]

    def speed(self, words, fresh=False):
        return self.lines(f"speed --threads 1 --model model/data {words} --json -", fresh=fresh)


def quoted(specs):
    return " ".join(f"--policy '{spec}'" for spec in specs)


def exponent(points):
    """The slope of the straight line through the logarithms of the points."""
    xs = [math.log(x) for x, _ in points]
    ys = [math.log(y) for _, y in points]
    mx, my = mean(xs), mean(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)


def listed(pairs, form, link):
    """Values with their names: "3.00 with 1, 3.13 with 4" for the link " with "."""
    return ", ".join(f"{form.format(value)}{link}{name}" for name, value in pairs)


def share(row):
    """The share of all questions that were answered."""
    return sum(b["right"] for b in row["recall"]) / sum(b["asked"] for b in row["recall"])


def some_of(better):
    """The verdict on several comparisons: all of them must be better, or some for a condition."""
    return HOLDS if all(better) else CONDITION if any(better) else FAILS
