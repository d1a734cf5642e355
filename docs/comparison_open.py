"""The open loop of docs/comparison.md: it records and replays dense runs of the bundled model over the same
windows that `kvcheck eval --windows` reads."""
import concurrent.futures
import os
import sys

from comparison_runs import BUDGET, NAN, SEEDS, WINDOW
from measuring import TRACE, deviation, half_width, in_scratch, mean, model_on, run_lines, run_text


def cut(text):
    """A text cut into windows as eval cuts it: the begin token, which no file holds, then whole lines that fit."""
    windows = []
    tokens = WINDOW
    for line in text.splitlines(keepends=True):
        words = len(line.split())
        if tokens + words > WINDOW:
            windows.append("")
            tokens = 1
        windows[-1] += line
        tokens += words
    return windows


class Windows:
    """A recorded dense run for each window of each text."""

    def __init__(self, paths):
        self.of_text, self.weights = [], {}
        names = []
        for text, path in enumerate(paths):
            self.of_text.append([])
            with open(in_scratch(path), encoding="utf-8") as file:
                windows = cut(file.read())
            for index, window in enumerate(windows):
                name = f"text-{text}-window-{index:02}"
                with open(in_scratch(f"SCRATCH/{name}.txt"), "w", encoding="utf-8") as file:
                    file.write(window)
                self.of_text[-1].append(name)
                names.append(name)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self.record, names))
        self.traces = " ".join(f"SCRATCH/{name}.safetensors" for name in names)
        tokens = {row["trace"].removesuffix(".safetensors"): row["tokens"]
                  for row in run_lines(f"replay {self.traces} --policy dense --json -")
                  if row["type"] == "cell"}
        self.tokens = sum(tokens.values())
        for windows in self.of_text:
            whole = sum(tokens[name] for name in windows)
            self.weights.update({name: tokens[name] / whole for name in windows})

    @staticmethod
    def record(name):
        run_text(f"record {model_on(f'SCRATCH/{name}.txt')} --tokens {WINDOW} --storage f32 "
                 f"-o SCRATCH/{name}.safetensors")

    def by_text(self, values):
        """The mean over the windows of each text, weighted so that every token counts the same."""
        return [sum(self.weights[name] * values[name] for name in windows) for windows in self.of_text]

    def parts(self, values):
        """What each window adds to the mean over all texts, in the order of the texts."""
        return [[self.weights[name] * values[name] / len(self.of_text) for name in windows]
                for windows in self.of_text]

    def replayed(self, spec):
        """The results of a replay by window, averaged over seeds, and their means."""
        rows = [row for row in run_lines(f"replay {self.traces} --policy '{spec}' --seeds {SEEDS} "
                                         "--oracle --json -") if row["type"] == "cell"]
        cells = {}
        for row in rows:
            cells.setdefault(row["trace"].removesuffix(".safetensors"), []).append(row)

        def figure(key):
            return {name: mean([cell[key] for cell in cells[name]]) for name in self.weights}

        mass = figure("retained_mass")
        # If heads share a budget or queries select pages, only a bound of the optimum is known.
        most = next(key for key in ("optimum", "per_step_bound") if rows[0][key] is not None)
        result = {"parts": self.parts(mass), "by_text": self.by_text(mass),
                  "bound": rows[0]["optimum_share"] is None,
                  "shares": [a / b for a, b in zip(self.by_text(mass), self.by_text(figure(most)))],
                  "output_error": mean(self.by_text(figure("output_error"))),
                  "moved": sum(figure("moved").values()) / self.tokens,
                  "bytes_peak": max(row["bytes_peak"] for row in rows),
                  "stored_peak": max(row["stored_peak"] for row in rows)}
        result["retained_mass"] = mean(result["by_text"])
        result["draws"] = len(rows) > len(cells)
        if result["draws"]:
            result["of_seeds"] = half_width(
                [mean(self.by_text({name: cells[name][seed]["retained_mass"] for name in cells}))
                 for seed in range(SEEDS)])
        return result

    def check(self, path):
        """Stops unless these windows are those of eval: as many of them, with the same retained mass."""
        spec = f"h2o:budget={BUDGET}"
        theirs = run_lines(f"eval {model_on(path)} --windows {WINDOW} --weights f32 --open-loop "
                           f"--policy '{spec}' --json -")[0]
        mine = self.replayed(spec)["by_text"][0]
        if abs(theirs["retained_mass"] - mine) > 1e-9 or theirs["streams"] != len(self.of_text[0]):
            sys.exit(f"the windows are not those of eval: {theirs['retained_mass']} and {mine} retained")


def elsewhere(spec):
    """The mass by head and the rows stored, on a trace of another model and text."""
    rows = run_lines(f"replay {TRACE} --policy '{spec}' --seeds {SEEDS} --per-head --json -")
    cells = [row for row in rows if row["type"] == "cell"]
    heads = {}
    for row in rows:
        if row["type"] == "head":
            heads.setdefault((row["layer"], row["head"]), []).append(row["retained_mass"])
    return {"retained_mass": mean([cell["retained_mass"] for cell in cells]),
            "stored_peak": max(cell["stored_peak"] for cell in cells),
            "heads": [mean(heads[key]) for key in sorted(heads)]}


def correlation(a, b):
    """Pearson's correlation; NaN if the values of either list are all equal."""
    spread = deviation(a) * deviation(b)
    if spread == 0:
        return NAN
    centre_a, centre_b = mean(a), mean(b)
    together = sum((x - centre_a) * (y - centre_b) for x, y in zip(a, b))
    return together / (len(a) - 1) / spread
