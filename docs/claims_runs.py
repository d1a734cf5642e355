"""What the measurements of docs/claims.py share: the verdicts' words, and runs that are remembered."""
import math

from measuring import MODEL, TRACE, mean, run_lines, run_text

HOLDS = "holds"
CONDITION = "holds with a condition"
FAILS = "does not hold"
UNDECIDED = "not decided"
UNMEASURED = "not measured"


class Runner:
    """Runs kvcheck, remembers the commands as a reader would type them. Claims that ask for the same
    numbers get those of one run, unless they ask for a fresh one."""

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
        """A run for the file that it writes."""
        self.show(words)
        run_text(words)

    def replay(self, words, trace=TRACE):
        rows = self.lines(f"replay {trace} {words} --json -")
        return [row for row in rows if row["type"] == "cell"]

    def evaluate(self, words):
        rows = self.lines(f"eval {MODEL} {words} --json -")
        return [row for row in rows if row["type"] == "evaluation"]

    def speed(self, words, fresh=False):
        return self.lines(f"speed --model model/data {words} --json -", fresh=fresh)


def quoted(specs):
    return " ".join(f"--policy '{spec}'" for spec in specs)


def exponent(points):
    """The slope of the straight line through the logarithms."""
    xs = [math.log(x) for x, _ in points]
    ys = [math.log(y) for _, y in points]
    mx, my = mean(xs), mean(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)


def listed(pairs, form="{:.3g}"):
    return ", ".join(f"{name} {form.format(value)}" for name, value in pairs)


def share(row):
    """Of all questions, those that were answered."""
    return sum(b["right"] for b in row["recall"]) / sum(b["asked"] for b in row["recall"])


def some_of(better):
    """The verdict of several comparisons."""
    return HOLDS if all(better) else CONDITION if any(better) else FAILS
