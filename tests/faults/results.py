"""What must hold of a results file after anything: it opens, and no older row has changed."""

import os
import sqlite3


def rows(path):
    """Every row of every table, as (table, rowid, values). Opening the file rolls back what a
    program that was killed had begun."""
    connection = sqlite3.connect(path, timeout=10)
    try:
        found = connection.execute("PRAGMA integrity_check").fetchall()
        if found != [("ok",)]:
            raise sqlite3.DatabaseError("integrity_check: %s" % found[:3])
        if connection.execute("PRAGMA foreign_key_check").fetchall():
            raise sqlite3.DatabaseError("foreign_key_check found a row without its parent")
        tables = [name for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        # SQLite leaves a journal that it could not remove to the next writer, if no reader needs it.
        if os.path.exists(path + "-journal"):
            connection.executescript("BEGIN; CREATE TABLE probe (x); DROP TABLE probe; COMMIT")
        out = set()
        for table in tables:
            try:
                cursor = connection.execute("SELECT rowid, * FROM \"%s\"" % table)
            except sqlite3.OperationalError:  # a table WITHOUT ROWID
                cursor = connection.execute("SELECT * FROM \"%s\"" % table)
            out.update((table, *row) for row in cursor)
        return out
    finally:
        connection.close()


def complaint(path, older):
    """What is wrong with the results file; empty if nothing is. `older` are rows() of before."""
    try:
        now = rows(path) if os.path.getsize(path) else set()
    except sqlite3.DatabaseError as error:
        return "%s does not open: %s" % (os.path.basename(path), error)
    lost = older - now
    if lost:
        return "%s lost or changed %d older rows, as %s" % (
            os.path.basename(path), len(lost), str(min(lost, key=str))[:120])
    return ""
