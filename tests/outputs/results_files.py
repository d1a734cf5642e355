"""Results files against reports/SCHEMA.md: the marks, the tables, and what stands in their columns."""

import re
import sqlite3

import csv_files

# What SQLite may store in a column of each type; NULL stands for what was not measured.
STORED = {"INTEGER": {"integer", "null"}, "REAL": {"real", "null"}, "TEXT": {"text", "null"},
          "BLOB": {"blob", "null"}}


def documented(page):
    """The columns of each table, as pairs of a name and a type, and the number of the version."""
    part = page[:page.index("\n# Exports\n")]
    found = {}
    for table in re.findall(r"\n## ([a-z_]+)\n", part):
        columns = []
        for row in csv_files.first_table(part, "\n## %s\n" % table):
            names = csv_files.names_in(row[0])
            kinds = [kind.strip() for kind in row[1].split(",")]
            columns += zip(names, kinds * len(names) if len(kinds) == 1 else kinds)
        found[table] = columns
    return found, int(re.search(r"`user_version` \| the schema version, ([0-9]+)", page).group(1))


def faults(path, page):
    """How the file at PATH departs from the page, a sentence each."""
    tables, version = documented(page)
    database = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    if database.execute("PRAGMA application_id").fetchone() != (1802920811,):
        yield "the application_id is not that of a results file"
    if database.execute("PRAGMA user_version").fetchone() != (version,):
        yield "the version is not %d" % version
    names = {name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for name in names ^ set(tables):
        yield "the table %s is %s" % (name, "missing" if name in tables else "not documented")
    for name in sorted(names & set(tables)):
        columns = [(row[1], row[2]) for row in database.execute("PRAGMA table_info(%s)" % name)]
        if columns != tables[name]:
            yield "the columns of %s are %s" % (name, columns)
            continue
        for column, kind in columns:
            stored = {word for word, in database.execute(
                'SELECT DISTINCT typeof("%s") FROM "%s"' % (column, name))}
            if stored - STORED[kind]:
                yield "%s.%s holds %s, not %s" % (name, column, ", ".join(sorted(stored)), kind)
    database.close()
