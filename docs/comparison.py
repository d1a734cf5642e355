"""Compares every policy and preset on the same texts, budget and convention; prints docs/comparison.md.

    python3 docs/comparison.py build/release/kvcheck > docs/comparison.md     (./dev comparison)

Also writes docs/images/comparison.svg with gnuplot. Every number comes from a run made now. What is run
is in comparison_runs.py (closed loop) and comparison_open.py, the tests are in comparison_stats.py, the
known shapes in comparison_shapes.py.
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
    """Of the optimum; where only a bound of it is known, the share is no less than what is shown."""
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
    return line([f"`{row.name}`", row.why, number(row.microseconds(), "{:.0f}"),
                 number(row.get("elsewhere", "stored_peak"), "{:.0f}"),
                 number(row.get("elsewhere", "retained_mass"), "{:.3f}")])


HEAD = """# Every policy and preset, compared

Made by `./dev comparison` on {date} (`docs/comparison.py`). Each policy runs at its defaults, each preset
with its own timing, positions and unit, at a budget of {budget} tokens where they can. Both loops read the
same tokens: {texts} texts that the bundled model never saw, the held-out one and more by the same program,
{tokens:,} tokens each. They are cut into windows as `eval --windows {window}` cuts them: the begin token and
as many whole lines as fit; {windows} windows, and {read:,} tokens with theirs. Every window begins with an
empty cache.

* **Stored**: the most rows that any head held at once in any window. Rows that store no more than the budget,
  and the newest token while it attends, stand in the first table. All others (slack before a trim, a prompt
  in chunks, uneven budgets) are in the second and hold more. Compare within the first table; in the second
  each row is a case of its own. What evicts nothing in windows of {window} tokens says nothing on quality
  here, and stands in the third.
* **Open loop**: the bundled model's dense run over each window, recorded and replayed. *Mass* is the
  retained attention mass, the mean over tokens and over all layers and heads, as `eval --open-loop` gives it
  (checked in the making). *Of optimum*: its share of the most that any cache of the same sizes could have
  kept; after ≥ only a bound of that most is known (heads that share a budget, queries that choose pages), and
  the share is no less ([oracle.md](oracle.md)). *Error* is that of the attention output; *KiB* is the most
  that keys and values took; *moved* are the rows that contiguous storage would have moved, a token, all heads
  together.
* **Closed loop**: the model itself goes on with what is left. Perplexity over all texts; *÷ dense* its ratio
  to dense. Then the share of facts recalled, by the tokens since they were told: {asked}
  questions. A share of so many is known to {widths} at worst (95 %).
* **±** is the half width of a 95 % interval over the {texts} texts (Student), in both loops: what other texts
  by the same program would change, and nothing else. Another model may turn any order here round. Layers and
  heads are those of one model, no sample. Rows that draw are the mean of seeds 1 to {seeds}, the same in
  every window; other seeds could move their mass by up to {of_seeds} more (95 %, the worst of them).
* **p** is a paired test of mass against the next row, over the {windows} windows: random sign flips, each
  window by its tokens, corrected for all {tests} pairs of both tables (Holm). {flips:,} flips and {tests}
  pairs cannot show less than {floor}: "< {floor}" says that not one flip was as extreme. "same": equal in
  every window, but for rounding. Neighbouring windows can share a story: the correlation of a difference with
  that in the next window is {follow:+.2f}, the median of all pairs, so values near .05 are rather too small.
  The order was found in the same windows: a small p says that two rows differ, not that their places hold
  elsewhere.
* **µs** is the attention time of a token after 1,024, one thread, bookkeeping included: the median of
  {rounds} rounds over all rows. Others may have used the machine; compare within this page only, and roughly.
* **Mass elsewhere** is of **another model and another text**: `{trace}`,
  TinyStories-2M, 512 tokens at once. It is there to show how far the column *mass* depends on the model.
  **Do not read it across** with perplexity or recall, nor with *stored* and *moved*. The bundled model was
  trained with a sink-forming term ([model.md](model.md)): who drops the first token loses more than half of
  the mass here, and little there.

Retained mass is first order: what a policy keeps does not react on what is computed. Where the two loops
disagree, the closed one is what a user gets.
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
IDLE = "Evicts nothing in a window"
IDLE_COLUMNS = ["policy", "its sizes", "µs", "stored elsewhere", "mass elsewhere"]

TAIL = """
![Share of the optimum, perplexity and recall of every policy and preset](images/comparison.svg)

The figure has the rows of the first two tables in their order. Bars are 95 % intervals over the texts, as in
the tables; a triangle is a share that only a bound is known for: it lies there or to the right. What lies
outside of a panel is printed at its edge.

## Where the loops disagree

{loops}

## Repeat one row

For the held-out text and `{name}`; the other texts are `text.py`'s seeds {second} to {last}:

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
kvcheck speed --model model/data --policy '{spec}' --length 1024 --tokens 64
kvcheck replay {trace} --policy '{spec}' --seeds {seeds}
```

{drawing}

Rows that are not `NAME:budget={budget}`:

{variants}

In `semantic-blocks` {blocks}.

## Shapes that the field knows

"Reproduced" is said where the 95 % interval of the difference, over the {texts} texts, leaves no doubt of its
sign; of old tokens, where lives beyond the least are below a tenth of those with sums divided by age. All but
that one are judged on the texts above.

{shapes}
"""


def blocks(row, windows):
    """Whether a score decided, said in words."""
    other = windows.replayed(f"{row.spec},likeness=dot")["retained_mass"]
    mine = row.get("open", "retained_mass")
    if other == mine:
        return "no score decided: cosine and dot product keep the same mass"
    return (f"the score decides: by cosine, its default, it keeps {mine:.5f} of the mass, by dot product "
            f"{other:.5f}")


def apart(rows, by_mass, by_perplexity, many=4):
    """The rows whose two ranks differ most, in words."""
    gaps = sorted(zip(rows, by_mass, by_perplexity), key=lambda each: -abs(each[1] - each[2]))
    return ", ".join(f"`{row.name}` ({mass:g} and {perplexity:g})" for row, mass, perplexity in gaps[:many])


def loops(rows):
    mass = [row.get("open", "retained_mass") for row in rows]
    kept = [-row.perplexity() for row in rows]
    recall = spearman(mass, [row.recall(64, 128) for row in rows])
    there = spearman(mass, [row.get("elsewhere", "retained_mass") for row in rows])
    return paragraph(
        f"Over the {len(rows)} rows of the first table, which read the same tokens in both loops, Spearman's "
        f"rank correlation is {spearman(mass, kept):.2f} between mass and perplexity, {recall:.2f} between "
        "mass and the share of facts recalled that were told 64 to 128 tokens ago, and "
        f"{there:.2f} between mass here and mass elsewhere. Furthest apart in their places by mass and by "
        f"perplexity: {apart(rows, ranks(mass), ranks(kept))}.")


def drawing(rows):
    names = ", ".join(f"`{row.name}`" for row in rows)
    return paragraph(
        f"Rows that draw ({names}) repeat `eval` with `--seed 1` to `--seed {SEEDS}`; `replay` does so by "
        "itself. A text's mass is the mean over its windows, each weighted by its tokens (`eval --open-loop` "
        "prints it); its optimum likewise, and its share is the one by the other. What a table shows is the "
        "mean over seeds and texts, of perplexity the geometric one.")


def measure(rows, paths, windows):
    def quality(row):
        row.open = row.attempt(windows.replayed)
        row.elsewhere = row.attempt(elsewhere)
        row.closed = row.attempt(evaluated, paths, row.draws())
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
    print(HEAD.format(date=datetime.date.today().isoformat(), budget=BUDGET, trace=TRACE, seeds=SEEDS,
                      tests=neighbours.tests, floor=neighbours.floor, follow=neighbours.follow, flips=FLIPS,
                      texts=TEXTS, tokens=TEXT_TOKENS, rounds=ROUNDS, window=WINDOW,
                      windows=len(windows.weights), read=windows.tokens,
                      of_seeds=f"{max(row.open['of_seeds'] for row in drawn):.4f}",
                      asked=", ".join(map(str, asked)),
                      widths=", ".join(f"± {0.98 / math.sqrt(n):.2f}" for n in asked))
          + body
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
