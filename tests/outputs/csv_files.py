"""CSV files against reports/SCHEMA.md: their columns and what stands in them."""

import csv
import re

# What a column of each type may hold. A number is the shortest text that reads back exactly.
TYPES = {
    "text": re.compile(r".*", re.DOTALL),
    "integer": re.compile(r"-?[0-9]+"),
    "number": re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?"),
    "yes or no": re.compile(r"yes|no"),
}

# Columns that are there only if a text asks questions, an item has choices, or a timing is known.
SOMETIMES = {"recall", "choice", "attention_us", "perplexity_after",
             "dense_perplexity_after", "targets_after", "retained_mass_after"}

# Of the files that `compare` writes, the layer and the group are there only with options of their names.
SOMETIMES_COMPARED = {"layer", "group"}
COMPARED = ("texts/MEASURE.csv", "means.csv")


def strict_lines(text):
    """The fields of each line of a CSV file, each line with as many as the first."""
    lines = list(csv.reader(text.splitlines(keepends=True), strict=True))
    for line in lines:
        if len(line) != len(lines[0]):
            raise ValueError("%d fields under a header of %d: %s" % (len(line), len(lines[0]), line))
    return lines


def tables(page, begin, end):
    """The rows of all tables of a part of the page, without their heads."""
    part = page[page.index(begin):page.index(end, page.index(begin) + 1)] if end else (
        page[page.index(begin):])
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in part.splitlines() if line.startswith("| ")]
    return [row for i, row in enumerate(rows) if set(row[0]) != {"-"}
            and (i + 1 == len(rows) or set(rows[i + 1][0]) != {"-"})]


def first_table(page, begin):
    """The rows of the first table after the words."""
    rest = page[page.index(begin) + len(begin):]
    rest = rest[rest.index("\n| "):]
    return tables(rest[:rest.index("\n\n", 2)], "\n| ", None)


def names_in(cell):
    return re.findall("`([^`]+)`", cell)


def columns_in(rows):
    return [name for row in rows for name in names_in(row[0])]


def pattern_of(columns, sometimes=frozenset()):
    """A pattern of the header's names, each with a comma after it. Some may be missing."""
    pattern = ""
    for name in columns:
        stem, _, rest = name.partition("_")
        if name.endswith("_RANGE"):
            pattern += "(%s_[0-9]+-[0-9]+,)*" % stem
        elif re.fullmatch(r"recall_[0-9]+_[0-9]+", name) or name in SOMETIMES | sometimes:
            pattern += "(?:%s,)?" % name
        elif name == "MEASURE":
            pattern += r"(?:([a-z0-9_]+),\1_low,\1_high,)+"
        elif name == "SCORE_GROUP":
            pattern += "([a-z0-9_]+_[^,]+,)+"
        else:
            pattern += re.escape(name) + ","
    return re.compile("^" + pattern + "$")


def documented(page):
    """The pattern of the header of each kind of file."""
    files = {names_in(row[0])[0]: names_in(row[1].partition(".")[0])
             for row in tables(page, "\n## Other CSV files\n", "\n### Types of columns\n")}
    files["trace-N/summary.csv"] = columns_in(first_table(page, "A line of `summary.csv` is "))
    files["comparison/comparison.csv"] = columns_in(first_table(page, "A line of `comparison.csv` is "))
    files["evaluation-N/cells.csv"] = columns_in(
        first_table(page, "A line of an evaluation's `cells.csv` is "))
    return {name: pattern_of(columns, SOMETIMES_COMPARED if name in COMPARED else frozenset())
            for name, columns in files.items()}


def types(page):
    """Each column: a pattern of its name, the name on the page, and (type, whether it may be empty)."""
    found = []
    for kind, columns in first_table(page, "\n### Types of columns\n"):
        kind, comma, _ = kind.partition(", or empty")
        for name in names_in(columns):
            # The ends of intervals of means, except those that have a line of their own.
            pattern = {"MEASURE_low": "(?!retained_mass|difference|rank|band)[a-z0-9_]+_low",
                       "MEASURE_high": "(?!retained_mass|difference|rank|band)[a-z0-9_]+_high",
                       "SCORE_GROUP": "(exact|contains|f1|choice|answer_loss)_.+"}.get(
                name, re.escape(name).replace("RANGE", "[0-9]+[-_][0-9]+"))
            found.append((re.compile(pattern), name, (kind, bool(comma))))
    return found
