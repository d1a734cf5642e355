"""Compares every policy and preset on the same texts, budget and convention; prints docs/comparison.md.

    python3 docs/comparison.py build/release/kvcheck > docs/comparison.md     (./dev comparison)

Also writes docs/images/comparison.svg with gnuplot. Every number comes from a run made now. What is run
is in comparison_runs.py, the known shapes are in comparison_shapes.py.
"""
import concurrent.futures
import datetime
import math
import os
import random
import sys

from comparison_figure import draw
from comparison_runs import (BUDGET, FIRST_TEXT, ROUNDS, SEEDS, TEXTS, against, all_rows, evaluated,
                             replayed, texts, timed)
from comparison_shapes import shapes
from measuring import MODEL, TEXT_TOKENS, TRACE, counted, half_width, run_lines

FLIPS = 20000
AGES = ((1, 32), (32, 64), (64, 128), (128, 256))


def paired(a, b):
    """The p-value of a paired test by random sign flips, two-sided; draws are always the same."""
    differences = [x - y for x, y in zip(a, b)]
    draw_sign = random.Random(1)
    seen = abs(sum(differences))
    extreme = sum(abs(sum(d if draw_sign.random() < 0.5 else -d for d in differences)) >= seen - 1e-12
                  for _ in range(FLIPS))
    return (extreme + 1) / (FLIPS + 1)


def holm(values):
    """The p-values corrected for their number, by Holm's method: any below .05 at all is an error in at
    most one of twenty such sets."""
    adjusted, largest = {}, 0.0
    for rank, key in enumerate(sorted(values, key=values.get)):
        largest = max(largest, min(1.0, (len(values) - rank) * values[key]))
        adjusted[key] = largest
    return adjusted


def neighbours(tables):
    """Of each row, the corrected p-value against the next in its table, as shown."""
    values, shown = {}, {}
    for rows in tables:
        for row, following in zip(rows, rows[1:]):
            a, b = row.open["heads"], following.open["heads"]
            if a == b:
                shown[row.name] = "same"
            else:
                values[row.name] = paired(a, b)
    for name, p in holm(values).items():
        shown[name] = f"{p:.2f}" if p >= 0.005 else f"{p:.0e}".replace("e-0", "e-")
    return shown, len(values)


def number(value, form):
    return form.format(value) if value == value else "–"


def cells_of(row, p, dense):
    mass = number(row.get("open", "retained_mass"), "{:.3f}")
    cells = [f"`{row.name}`", number(row.stored(), "{:.0f}"),
             f"{mass} ± {half_width(row.open['heads']):.3f}",
             number(row.get("open", "optimum_share"), "{:.3f}"), p.get(row.name, "–"),
             number(row.get("open", "output_error"), "{:.3f}")]
    if row.closed and not row.closed["tells"]:
        cells += ["evicts nothing"] + ["–"] * (1 + len(AGES))
    else:
        cells.append(number(row.perplexity(), "{:.2f}"))
        if row is dense or not row.closed:
            cells.append("1" if row is dense else "–")
        else:
            ratio, width = against(row.closed["logs"], dense.closed["logs"])
            cells.append(f"{ratio:.3f} ± {width:.3f}")
        cells += [number(row.recall(first, last), "{:.2f}") for first, last in AGES]
    cells += [number(row.get("open", "bytes_peak") / 1024, "{:.0f}"),
              number(row.get("open", "moved") / 1e3, "{:.0f}"), number(row.microseconds(), "{:.0f}")]
    return "| " + " | ".join(cells) + " |"


HEAD = """# Every policy and preset, compared

Made by `./dev comparison` on {date} (`docs/comparison.py`). Each policy runs at its defaults, each preset
with its own timing, positions and unit, at a budget of {budget} tokens where they can. Rows that store no
more than that, and the newest token while it attends, stand in the first table. All others (slack before a
trim, a prompt in chunks, uneven budgets, sizes of their own) are in the second and hold more: *stored* is
the most rows that any head held at once in the replay. Compare within the first table; in the second each
row is a case of its own.

* **Open loop**: `{trace}`,
  512 tokens of recorded attention, replayed. *Mass* is the retained attention mass with a
  95 % interval over the 24 heads (policies that draw: the mean of {seeds} seeds); *of optimum* its share of
  the most that any cache of the same sizes could have kept; *p* a paired test over heads against the next
  row (random sign flips), corrected for all {tests} pairs of both tables (Holm); "same" where every head
  agrees. Heads of one text are no sample of texts: below .05 the order of the two is no
  accident of these heads, and no more than that. *Error* is that of the attention output; *KiB* and *moved*
  (thousands of rows that contiguous storage would have moved) are those of the replay.
* **Closed loop**: the bundled model on {texts} texts of {tokens:,} tokens that it never saw, the held-out
  one and more by the same program, in windows of 256 tokens. Perplexity over all; *÷ dense* the ratio to
  dense with a 95 % interval over the {texts} texts (Student). Then the share of facts recalled, by the
  tokens since they were told: {asked} questions.
  A share of so many is known to {widths} at worst (95 %).
  Policies that draw: the mean of seeds 1 to {seeds}. *Evicts nothing*: perplexity equals that of dense in
  every digit on every text, as the row's sizes exceed the window; such a row says nothing on quality.
* *µs* is the attention time of a token after 1,024, one thread, bookkeeping included: the median of {rounds}
  rounds over all rows. Others may have used the machine; compare within this page only, and roughly.

Retained mass is first order: what a policy keeps does not react on what is computed. Where the two loops
disagree, the closed one is what a user gets.
"""

COLUMNS = ["policy", "stored", "mass", "of optimum", "p", "error", "perplexity", "÷ dense", "≤32", "32–64",
           "64–128", "128–256", "KiB", "moved", "µs"]
TABLE = "".join("\n| " + " | ".join(cells) + " |" for cells in (COLUMNS, ["---"] * len(COLUMNS))) + "\n"

TAIL = """
![Share of the optimum, perplexity and recall of every policy and preset](images/comparison.svg)

The figure has the rows in the order of the tables; rows that evict nothing in the closed loop have no dot
there.

Repeat one row (the first closed loop; the other texts are `text.py`'s seeds {second} to {last}):

```sh
kvcheck replay {trace} --policy 'h2o:budget={budget}' --seeds {seeds} --oracle
kvcheck eval {model} --windows 256 --policy 'h2o:budget={budget}'
python3 model/training/text.py {second} {tokens} > more.txt
kvcheck eval --model model/data --text more.txt --windows 256 --policy 'h2o:budget={budget}'
kvcheck speed --model model/data --policy 'h2o:budget={budget}' --length 1024 --tokens 64
```

Rows that are not `NAME:budget={budget}`:

{variants}

In `semantic-blocks` {blocks}.

## Shapes that the field knows

"Reproduced" is said where the 95 % interval of the difference, over texts or heads, leaves no doubt of its
sign; of old tokens, where lives beyond the least are below a tenth of those with sums divided by age.

{shapes}
"""


def blocks(row):
    """Whether a score decided, said in words."""
    other = [r for r in run_lines(f"replay {TRACE} --policy '{row.spec},likeness=dot' --json -")
             if r["type"] == "cell"][0]["retained_mass"]
    mine = row.get("open", "retained_mass")
    if other == mine:
        return "no score decided: cosine and dot product keep the same mass"
    return (f"the score decides: by cosine, its default, it keeps {mine:.5f} of the mass, by dot product "
            f"{other:.5f}")


def measure(rows, paths):
    def quality(row):
        row.open = row.attempt(replayed)
        row.closed = row.attempt(evaluated, paths, bool(row.open and row.open["draws"]))
        print(f"{row.spec}", file=sys.stderr)

    # Several rows at once; what they cost is timed afterwards, one by one.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(quality, rows))
    dense = rows[0]
    for row in rows:
        if row.closed and row.name not in ("dense", "@dense"):
            row.closed["tells"] = row.closed["logs"] != dense.closed["logs"]
    for _ in range(ROUNDS):
        for row in rows:
            seconds = row.attempt(timed)
            if seconds is not None:
                row.times.append(seconds)
    return dense


def main():
    paths = texts()
    rows = all_rows()
    dense = measure(rows, paths)
    ordered = sorted((row for row in rows if row.open), key=lambda row: -row.get("open", "retained_mass"))
    tables = [[row for row in ordered if row.stored() <= BUDGET + 1],
              [row for row in ordered if row.stored() > BUDGET + 1]]
    p, tests = neighbours(tables)
    draw(tables[0] + tables[1])
    asked = [counted(dense.closed["rows"], first, last)[1] for first, last in AGES]
    heads = ("\n## At the common budget\n", "\n## More than the budget\n")
    body = "".join(head + TABLE + "\n".join(cells_of(row, p, dense) for row in table) + "\n"
                   for head, table in zip(heads, tables))
    variants = "\n".join(f"* `{row.name}` is `{row.spec}`: {row.why}." for row in rows if row.why)
    print(HEAD.format(date=datetime.date.today().isoformat(), budget=BUDGET, trace=TRACE, seeds=SEEDS,
                      tests=tests, texts=TEXTS, tokens=TEXT_TOKENS, rounds=ROUNDS,
                      asked=", ".join(map(str, asked)),
                      widths=", ".join(f"± {0.98 / math.sqrt(n):.2f}" for n in asked))
          + body
          + TAIL.format(trace=TRACE, budget=BUDGET, seeds=SEEDS, model=MODEL, tokens=TEXT_TOKENS,
                        second=FIRST_TEXT + 1, last=FIRST_TEXT + TEXTS - 1, variants=variants,
                        blocks=blocks(next(row for row in rows if row.name.startswith("semantic-blocks"))),
                        shapes=shapes({row.name: row for row in rows}, paths)), end="")
    refused = [row for row in rows if row.problems]
    if refused:
        print("\n## What did not run\n")
        for row in refused:
            print(f"* `{row.name}`: {'; '.join(row.problems)}")


if __name__ == "__main__":
    main()
