"""Compares every policy and preset on the same texts, budget and convention, and prints docs/comparison.md.

    python3 docs/comparison.py build/release/kvcheck > docs/comparison.md     (./dev comparison)

It also writes docs/images/comparison.svg with gnuplot. Every number comes from a new run. The runs are in
comparison_runs.py (closed loop) and comparison_open.py (open loop), the tests in comparison_stats.py, and
the known effects in comparison_shapes.py.
"""
import concurrent.futures
import datetime
import math
import os
import sys
import textwrap

from comparison_figure import draw
from comparison_open import Windows, elsewhere
from comparison_runs import (AGES, BUDGET, FIRST_TEXT, ROUNDS, SEEDS, TEXTS, WINDOW, against, all_rows,
                             evaluated, texts, timed)
from comparison_shapes import shapes
from comparison_stats import FLIPS, Neighbours, ranks, spearman
from measuring import HELD_OUT, TEXT_TOKENS, TRACE, counted, half_width


def number(value, form):
    return form.format(value) if value == value else "–"


def share(row):
    """The share of the optimum. If only a bound of the optimum is known, the share is at least the one shown."""
    shares = row.open["shares"]
    if row.open["bound"]:
        return f"≥ {row.share():.3f}"
    return f"{row.share():.3f} ± {half_width(shares):.3f}"


def cells_of(row, p, dense):
    cells = [f"`{row.name}`", number(row.stored(), "{:.0f}"),
             f"{row.get('open', 'retained_mass'):.4f} ± {half_width(row.open['by_text']):.4f}", share(row),
             p.get(row.name, "–"), number(row.get("open", "output_error"), "{:.3f}"),
             number(row.perplexity(), "{:.2f}")]
    if row is dense or not row.closed:
        cells.append("1" if row is dense else "–")
    else:
        ratio, width = against(row.closed["logs"], dense.closed["logs"])
        cells.append(f"{ratio:.3f} ± {width:.3f}")
    cells += [number(row.recall(first, last), "{:.2f}") for first, last in AGES]
    cells += [number(row.get("open", "bytes_peak") / 1024, "{:.0f}"),
              number(row.get("open", "moved"), "{:.0f}"), number(row.microseconds(), "{:.0f}"),
              number(row.get("elsewhere", "retained_mass"), "{:.3f}")]
    return line(cells)


def idle_cells(row):
    return line([f"`{row.name}`", f"{row.why[0].upper()}{row.why[1:]}.", number(row.microseconds(), "{:.0f}"),
                 number(row.get("elsewhere", "stored_peak"), "{:.0f}"),
                 number(row.get("elsewhere", "retained_mass"), "{:.3f}")])


HEAD = """# Every policy and preset, compared

`./dev comparison` made this page on {date} (`docs/comparison.py`). Each policy runs at its defaults. Each preset
runs with its own timing, positions and unit. The budget is {budget} tokens wherever it can be set. Both loops
read the same tokens: {texts} texts that the bundled model never saw, which are the held-out text and others
by the same program, with {tokens:,} tokens each. The texts are cut into windows as `eval --windows {window}` cuts
them: a window holds the begin token and as many whole lines as fit. This gives {windows} windows and {read:,} tokens,
begin tokens included. Every window begins with an empty cache.

The first table has the policies that store at most the budget and, while it attends, the newest token. The
second table has the policies that store more, because of slack before a trim, a prompt in chunks, or uneven
budgets. Compare policies within the first table; each line of the second table is a case of its own. The third
table has the policies that evict nothing in windows of {window} tokens, which shows nothing about quality here.
[Columns](#columns) defines every column.
"""

KEY = """
![Share of the optimum, perplexity and recall of every policy and preset](images/comparison.svg)

The figure shows the rows of the first two tables in the same order. Bars are 95 % intervals over the texts, as
in the tables. A triangle marks a share for which only a bound is known; the share lies there or to the right.
Values outside a panel are printed at its edge.

## Columns

* **Stored** is the largest number of rows that any head held at once in any window.
* **Open loop**: the dense run of the bundled model over each window is recorded and replayed. *Mass* is the
  retained attention mass, as a mean over tokens, layers and heads. It is the same as `eval --open-loop` prints,
  which the program checks. *Of optimum* is its share of the most that any cache of the same sizes could have
  kept. After ≥ only a bound of this optimum is known, because heads share a budget or queries select pages; the
  share is then at least the one shown ([oracle.md](oracle.md)). *Error* is the error of the attention output.
  *KiB* is the peak of keys and values. *Moved* is the number of rows that contiguous storage would have moved,
  per token and for all heads together.
* **Closed loop**: the model itself continues on what the policy kept. The columns are perplexity over all texts,
  its ratio to dense (*÷ dense*), and the shares of facts recalled, by the number of tokens since the fact was
  stated. These columns have {asked} questions, so their shares are known to
  {widths} at worst (95 %).
* **±** is the half width of a 95 % interval over the {texts} texts (Student), in both loops. It covers what other
  texts by the same program would change, and nothing else. The ranking may be different for another model.
  Layers and heads belong to one model and are not a sample. A policy that draws is shown with the mean of the
  seeds 1 to {seeds}, which are the same in every window. Other seeds could change its mass by up to {of_seeds}
  more (95 %, for the policy with the widest interval).
* **p** is the p-value of a paired test of mass against the next row, over the {windows} windows. The test flips
  signs at random, weights each window by its tokens, and is corrected for all {tests} pairs of both tables
  (Holm). With {flips:,} flips and {tests} pairs, the smallest value that it can show is {floor}; "< {floor}"
  means that no flip was as extreme. "same" means that two rows are equal in every window, except for rounding.
  Neighbouring windows can share a story. The correlation of a difference with the difference in the next window
  is {follow:+.2f} (the median of all pairs), so values near 0.05 are somewhat too small. The order of the rows
  was found in the same windows. A small p therefore means that two rows differ; it does not mean that they
  would rank the same elsewhere.
* **µs** is the attention time of one token after 1,024 tokens on one thread, bookkeeping included. It is the
  median of {rounds} rounds over all rows. Other work may have used the machine, so compare these times only
  within this page, and only roughly.
* **Mass elsewhere** comes from **another model and another text**: `{trace}`,
  TinyStories-2M, with 512 tokens in one stream. It shows how far the column *mass* depends on the model.
  **Do not compare it** with perplexity or recall, nor with *stored* and *moved*. The bundled model was trained
  with a sink-forming term ([model.md](model.md)), so a cache that evicts the first token loses more than half of
  the mass here, and little there.

Retained mass is a first-order measure: the evictions do not change what the model computes. Where the two loops
disagree, the closed loop shows what a user gets.
"""


def paragraph(text):
    return textwrap.fill(text, 110, break_long_words=False, break_on_hyphens=False)


def line(cells):
    return "| " + " | ".join(cells) + " |"


def table(title, columns, rows):
    return "\n".join([f"\n## {title}\n", line(columns), line(["---"] * len(columns))] + rows) + "\n"


COLUMNS = ["policy", "stored", "mass", "of optimum", "p", "error", "perplexity", "÷ dense", "≤32", "32–64",
           "64–128", "128–256", "KiB", "moved", "µs", "mass elsewhere"]
TITLES = ["At the common budget", "More than the budget"]
IDLE = "No evictions in a window"
IDLE_COLUMNS = ["policy", "note", "µs", "stored elsewhere", "mass elsewhere"]

TAIL = """
## Where the loops disagree

{loops}

## Repeat one row

These commands repeat the row of `{name}` for the held-out text. The other texts are those of `text.py` with the
seeds {second} to {last}.

```sh
python3 model/training/text.py {second} {tokens} > another.txt
text={held_out}
mkdir windows
awk '!n || n + NF > {window} {{ n = 1; file = sprintf("windows/%02d.txt", i++) }}
     {{ n += NF; print > file }}' $text
for w in windows/*.txt; do
  kvcheck record --model model/data --text $w --tokens {window} --storage f32 -o ${{w%.txt}}.safetensors
done
kvcheck replay windows/*.safetensors --policy '{spec}' --seeds {seeds} --oracle --csv row.csv
kvcheck eval --model model/data --text $text --windows {window} --open-loop --weights f32 \\
    --policy '{spec}' --seed 1
kvcheck speed --threads 1 --model model/data --policy '{spec}' --length 1024 --tokens 64
kvcheck replay {trace} --policy '{spec}' --seeds {seeds}
```

{drawing}

The specs of these rows differ from `NAME:budget={budget}`:

{variants}

In `semantic-blocks` {blocks}.

## Effects known from the literature

An effect is called "Reproduced" if the 95 % interval of the difference over the {texts} texts leaves no doubt about
its sign. The bias to old tokens is judged on a synthetic stream instead: it is reproduced if the lifetimes above
the least possible one are below a tenth of those with sums divided by age.

{shapes}
"""


def blocks(row, windows):
    """A sentence about semantic-blocks: whether its score matters."""
    other = windows.replayed(f"{row.spec},likeness=dot")["retained_mass"]
    mine = row.get("open", "retained_mass")
    if other == mine:
        return "the score does not matter: cosine and dot product retain the same mass"
    return (f"the score matters: with the cosine, its default, it retains {mine:.5f} of the mass, and with the dot "
            f"product {other:.5f}")


def apart(rows, by_mass, by_perplexity, many=4):
    """The names of the rows whose two ranks differ most, each with its ranks."""
    gaps = sorted(zip(rows, by_mass, by_perplexity), key=lambda each: -abs(each[1] - each[2]))
    return ", ".join(f"`{row.name}` ({mass:g} and {perplexity:g})" for row, mass, perplexity in gaps[:many])


def loops(rows):
    mass = [row.get("open", "retained_mass") for row in rows]
    kept = [-row.perplexity() for row in rows]
    recall = spearman(mass, [row.recall(64, 128) for row in rows])
    there = spearman(mass, [row.get("elsewhere", "retained_mass") for row in rows])
    return paragraph(
        f"The {len(rows)} rows of the first table read the same tokens in both loops. Over these rows, Spearman's "
        f"rank correlation is {spearman(mass, kept):.2f} between mass and perplexity, {recall:.2f} between "
        "mass and the share recalled of facts stated 64 to 128 tokens ago, and "
        f"{there:.2f} between mass here and mass elsewhere. The ranks by mass and by perplexity differ most for "
        f"{apart(rows, ranks(mass), ranks(kept))}.")


def drawing(rows):
    names = ", ".join(f"`{row.name}`" for row in rows)
    return paragraph(
        f"For policies that draw ({names}), repeat `eval` with `--seed 1` to `--seed {SEEDS}`; `replay` runs all "
        "seeds by itself. The mass of a text is the mean over its windows, each weighted by its tokens; `eval "
        "--open-loop` prints it. The optimum of a text is computed in the same way, and its share is the ratio of "
        "the two. The tables show means over seeds and texts; the mean of perplexity is geometric.")


def measure(rows, paths, windows):
    def quality(row):
        row.open = row.attempt(windows.replayed)
        row.elsewhere = row.attempt(elsewhere)
        row.closed = row.attempt(evaluated, paths, row.draws())
        print(f"{row.spec}", file=sys.stderr)

    # Several rows run at once. Their times are measured afterwards, one row after the other.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(quality, rows))
    dense = rows[0]
    for row in rows:
        if row.closed and row.name not in ("dense", "@dense"):
            row.closed["differs"] = row.closed["logs"] != dense.closed["logs"]
    for _ in range(ROUNDS):
        for row in rows:
            seconds = row.attempt(timed)
            if seconds is not None:
                row.times.append(seconds)
    return dense


def main():
    paths = texts()
    windows = Windows(paths)
    windows.check(paths[0])
    rows = all_rows()
    dense = measure(rows, paths, windows)
    idle = [row for row in rows if row.idle()]
    ordered = sorted((row for row in rows if row.open and not row.idle()),
                     key=lambda row: -row.get("open", "retained_mass"))
    tables = [[row for row in ordered if row.stored() <= BUDGET + 1],
              [row for row in ordered if row.stored() > BUDGET + 1]]
    neighbours = Neighbours(tables)
    draw(list(zip(TITLES, tables)), dense)
    asked = [counted(dense.closed["rows"], first, last)[1] for first, last in AGES]
    body = "".join(table(title, COLUMNS, [cells_of(row, neighbours.shown, dense) for row in part])
                   for title, part in zip(TITLES, tables))
    body += table(IDLE, IDLE_COLUMNS, [idle_cells(row) for row in idle])
    variants = "\n".join(f"* `{row.name}` is `{row.spec}`: {row.why}." for row in rows if row.why)
    by_name = {row.name: row for row in rows}
    drawn = [row for row in rows if row.draws()]
    example = by_name["h2o"]
    shared = dict(date=datetime.date.today().isoformat(), budget=BUDGET, trace=TRACE, seeds=SEEDS,
                  tests=neighbours.tests, floor=neighbours.floor, follow=neighbours.follow, flips=FLIPS,
                  texts=TEXTS, tokens=TEXT_TOKENS, rounds=ROUNDS, window=WINDOW,
                  windows=len(windows.weights), read=windows.tokens,
                  of_seeds=f"{max(row.open['of_seeds'] for row in drawn):.4f}",
                  asked=", ".join(map(str, asked)),
                  widths=", ".join(f"± {0.98 / math.sqrt(n):.2f}" for n in asked))
    print(HEAD.format(**shared) + body + KEY.format(**shared)
          + TAIL.format(trace=TRACE, budget=BUDGET, seeds=SEEDS, held_out=HELD_OUT, tokens=TEXT_TOKENS,
                        texts=TEXTS, window=WINDOW, second=FIRST_TEXT + 1, last=FIRST_TEXT + TEXTS - 1,
                        variants=variants, name=example.name, spec=example.spec,
                        drawing=drawing(drawn), loops=loops(tables[0]),
                        blocks=blocks(by_name["semantic-blocks"], windows),
                        shapes=shapes(by_name, paths)), end="")
    refused = [row for row in rows if row.problems and not row.idle()]
    if refused:
        print("\n## What did not run\n")
        for row in refused:
            print(f"* `{row.name}`: {'; '.join(row.problems)}")


if __name__ == "__main__":
    main()
