"""Compares every policy and preset on one text, budget and convention; prints docs/comparison.md.

    python3 docs/comparison.py build/release/kvcheck > docs/comparison.md     (./dev comparison)

Also writes docs/images/comparison.svg with gnuplot. Every number comes from a run made now.
"""
import datetime
import math
import random
import re
import subprocess
import sys

from measuring import MODEL, PROGRAM, TRACE, Refused, deviation, mean, recalled, run_lines

BUDGET = 64
SEEDS = 5
FLIPS = 20000
FIGURE = "docs/images/comparison.svg"


def lines(words):
    """What kvcheck prints, or None and what it said."""
    try:
        return run_lines(words), ""
    except Refused as refusal:
        return None, str(refusal)


def names():
    """Policies and presets, as `kvcheck policies` lists them, at the common budget."""
    text = subprocess.run([PROGRAM, "policies"], capture_output=True, text=True, check=True).stdout
    listed = re.findall(r"^(@?[a-z0-9][a-z0-9-]*)$", text, re.MULTILINE)
    specs = {}
    for name in listed:
        bounded = name not in ("dense", "@dense")
        specs[name] = f"{name}:budget={BUDGET}" if bounded else name
    return specs


def half_width(values):
    """Of a 95 % interval of the mean, normal."""
    if len(values) < 2:
        return 0.0
    return 1.96 * deviation(values) / math.sqrt(len(values))


def paired(a, b):
    """The p-value of a paired test by random sign flips, two-sided; draws are always the same."""
    differences = [x - y for x, y in zip(a, b)]
    if not any(differences):
        return 1.0
    draw = random.Random(1)
    seen = abs(sum(differences))
    extreme = sum(abs(sum(d if draw.random() < 0.5 else -d for d in differences)) >= seen - 1e-12
                  for _ in range(FLIPS))
    return (extreme + 1) / (FLIPS + 1)


def replayed(spec):
    """Retained mass by head, averaged over seeds, and the whole cell's figures."""
    rows, problem = lines(f"replay {TRACE} --policy '{spec}' --seeds {SEEDS} --oracle --per-head "
                          "--json -")
    if rows is None:
        return None, problem
    cells = [row for row in rows if row["type"] == "cell"]
    heads = {}
    for row in rows:
        if row["type"] == "head":
            heads.setdefault((row["layer"], row["head"]), []).append(row["retained_mass"])
    result = {key: mean([cell[key] for cell in cells])
              for key in ("retained_mass", "optimum_share", "output_error", "moved", "bytes_peak")
              if cells[0].get(key) is not None}
    result["heads"] = [mean(heads[key]) for key in sorted(heads)]
    return result, ""


def evaluated(spec):
    rows, problem = lines(f"eval {MODEL} --windows 256 --policy '{spec}' --json -")
    if rows is None:
        return None, problem
    row = next(row for row in rows if row["type"] == "evaluation")
    ages = ((1, 32), (32, 64), (64, 128), (128, 256))
    return {"perplexity": row["perplexity"],
            "recall": [recalled(row, first, last) for first, last in ages]}, ""


def timed(spec):
    rows, problem = lines(f"speed --model model/data --policy '{spec}' --length 1024 --tokens 64 "
                          "--json -")
    return (rows[0], "") if rows else (None, problem)


def measured(name, spec):
    """The row's name, its results and what went wrong; where its own sizes do not fit the common
    budget, it runs at its own."""
    for shown, words in ((name, spec), (f"{name} (own budget)", name)):
        open_loop, first = replayed(words)
        closed, second = evaluated(words)
        if open_loop or closed:
            break
    speed, _ = timed(words)
    return shown, {"open": open_loop, "closed": closed, "speed": speed}, first or second


def number(value, form):
    return form.format(value) if value is not None and value == value else "–"


def row_of(name, open_loop, closed, speed, p):
    replay = open_loop or {}
    loop = closed or {}
    cells = [f"`{name}`"]
    width = half_width(replay["heads"]) if replay.get("heads") else None
    mass = number(replay.get("retained_mass"), "{:.3f}")
    cells.append(mass + (f" ± {width:.3f}" if width is not None else ""))
    cells.append(number(replay.get("optimum_share"), "{:.3f}"))
    cells.append(p)
    cells.append(number(replay.get("output_error"), "{:.3f}"))
    cells.append(number(loop.get("perplexity"), "{:.2f}"))
    for share in loop.get("recall", [None] * 4):
        cells.append(number(share, "{:.2f}"))
    cells.append(number(replay.get("bytes_peak") and replay["bytes_peak"] / 1024, "{:.0f}"))
    cells.append(number(replay.get("moved") is not None and replay["moved"] / 1e3, "{:.0f}"))
    cells.append(number(speed and speed["attention_s"] * 1e6, "{:.0f}"))
    return "| " + " | ".join(cells) + " |"


HEAD = """# Every policy and preset, compared

Made by `./dev comparison` on {date} (`docs/comparison.py`). One budget of {budget} tokens for all that
have one; each policy at its defaults, each preset with its own timing, positions and unit.

* **Open loop**: {trace}, 512 tokens of recorded
  attention, replayed. *Mass* is the retained attention mass with a 95 % interval over the 24 heads (policies that draw: the mean of {seeds} seeds); *of
  optimum* its share of the most that any cache of the same sizes could have kept; *p* a paired test over
  heads against the next row (random sign flips): below .05 the order of the two is no accident of these
  heads. *Error* is that of the attention output; *KiB* and *moved* (thousands of rows that contiguous
  storage would have moved) are those of the replay.
* **Closed loop**: the bundled model on its held-out text, in windows of 256 tokens: perplexity, and the
  share of facts recalled by the tokens since they were told. *µs* is the attention time of a token after
  1,024, one thread, bookkeeping included; compare within this table only.

Retained mass is first order: what a policy keeps does not react on what is computed. Where the two loops
disagree, the closed one is what a user gets.

| policy | mass | of optimum | p | error | perplexity | ≤32 | 32–64 | 64–128 | 128–256 | KiB | moved | µs |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""

TAIL = """
![Share of the optimum, perplexity and recall of every policy and preset](images/comparison.svg)

Repeat one row:

```sh
kvcheck replay {trace} --policy 'h2o:budget={budget}' --seeds {seeds} --oracle
kvcheck eval {model} --windows 256 --policy 'h2o:budget={budget}'
kvcheck speed --model model/data --policy 'h2o:budget={budget}' --length 1024
```
"""

SHAPES = """
## Shapes that the field knows

{shapes}
"""


def shapes(results):
    """What is well known, looked up in the numbers."""
    said = []

    def value(name, loop, key):
        part = results.get(name, {}).get(loop)
        return part.get(key) if part else None

    def tell(text, holds):
        said.append(f"* {'Reproduced' if holds else '**Not reproduced**'}: {text}")

    window, stream = (value(n, "closed", "perplexity") for n in ("window", "streaming"))
    if window and stream:
        tell(f"a window loses the sinks: perplexity {window:.2f} against {stream:.2f} with them.",
             window > 1.2 * stream)
    reservoir, printed = (value(n, "closed", "recall") for n in ("reservoir", "reservoir-as-printed"))
    if reservoir and printed:
        tell(f"the printed reservoir forgets what the formula keeps: facts 128 to 256 tokens old, "
             f"{printed[3]:.2f} against {reservoir[3]:.2f}.", printed[3] < reservoir[3])
    h2o, normalised = value("h2o", "open", "retained_mass"), value("streaming", "open", "retained_mass")
    if h2o and normalised:
        tell(f"heavy hitters keep more attention than sinks + recent at equal budget: {h2o:.3f} "
             f"against {normalised:.3f}.", h2o > normalised)
    return "\n".join(said)


def draw(results, order):
    """A dot plot: a line per policy, a panel per measure."""
    rows = [(name, results[name]) for name in order
            if results[name]["open"] and results[name]["closed"]]
    data = "\n".join(
        f'"{name}" {len(rows) - i} {r["open"].get("optimum_share", float("nan"))} '
        f'{r["closed"]["perplexity"]} {r["closed"]["recall"][2]}'
        for i, (name, r) in enumerate(rows))
    height = 110 + 15 * len(rows)
    panels = [("share of the optimum", 3, 0.19, 0.45, "set xtics 0.05"),
              ("perplexity", 4, 0.47, 0.72,
               "set logscale x; set xrange [2:10]; set xtics (2, 3, 5, 10)"),
              ("facts recalled, 64 to 128 tokens old", 5, 0.74, 0.99,
               "unset logscale x; set xrange [0:0.8]; set xtics 0.2")]
    plots = ""
    for index, (title, column, left, right, extra) in enumerate(panels):
        labels = ":ytic(1)" if index == 0 else ""
        plots += f"""
set lmargin at screen {left}
set rmargin at screen {right}
{extra}
{'' if index == 0 else 'set ytics format "" scale 0'}
set title '{title}'
plot $data using {column}:2{labels} with points pt 7 ps 0.55 lc rgb '#2166ac' notitle
"""
    script = f"""
set terminal svg size 900,{height} dynamic noenhanced font 'Helvetica,11' background '#ffffff'
set output '{FIGURE}'
$data << EOD
{data}
EOD
set multiplot
set border 1 lc rgb '#555555'
set tmargin at screen {1 - 40 / height}
set bmargin at screen {40 / height}
set yrange [0.3:{len(rows) + 0.7}]
set xtics nomirror
set ytics nomirror scale 0
set grid x y lc rgb '#e6e6e6' lt 1
{plots}
unset multiplot
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    results, problems = {}, {}
    specs = names()
    for index, (name, spec) in enumerate(specs.items(), 1):
        print(f"{index}/{len(specs)} {spec}", file=sys.stderr)
        shown, result, problem = measured(name, spec)
        results[shown] = result
        if problem:
            problems[shown] = problem
    order = sorted(results, key=lambda n: -(results[n]["open"] or {}).get("retained_mass", 0))
    rows = []
    for name, following in zip(order, order[1:] + [None]):
        r = results[name]
        p = "–"
        if following and r["open"] and results[following]["open"]:
            value = paired(r["open"]["heads"], results[following]["open"]["heads"])
            p = f"{value:.2f}" if value >= 0.005 else f"{value:.0e}".replace("e-0", "e-")
        rows.append(row_of(name, r["open"], r["closed"], r["speed"], p))
    draw(results, order)
    print(HEAD.format(date=datetime.date.today().isoformat(), budget=BUDGET, trace=f"`{TRACE}`",
                      seeds=SEEDS) + "\n".join(rows)
          + TAIL.format(trace=TRACE, budget=BUDGET, seeds=SEEDS, model=MODEL)
          + SHAPES.format(shapes=shapes(results)), end="")
    if problems:
        print("\n## What did not run\n")
        for name, problem in problems.items():
            print(f"* `{name}`: {' '.join(problem.split())}")


if __name__ == "__main__":
    main()
