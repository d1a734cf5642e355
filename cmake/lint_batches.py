"""Joins sources of one folder, so that clang-tidy parses the headers that they share once.

usage: lint_batches.py BUILD < sources

Reads lines "SOURCE STATE". Writes BUILD/batches/FOLDER/N.cpp, each of which includes the sources of
one batch, with their compile commands and the folders' .clang-tidy files. Prints one line per batch:
its file, then SOURCE STATE of each of its sources. A batch of one source is the source itself.

Sources share a batch only if no name that one keeps to itself (in an unnamed namespace, or a macro)
is also one of another's. Where this is not enough, the batch does not compile, and its sources have
to be checked one by one.
"""

import json
import os
import pathlib
import re
import shutil
import sys

LARGEST = 8  # larger batches gain little, and leave a core idle at the end

TYPE = re.compile(r"(?:struct|class|enum class|enum|using|#define)\s+(\w+)")
VALUE = re.compile(r"[^(={]*?(\w+)(?:<[^(]*>)?\s*[(={\[;]")
MACRO = re.compile(r"[A-Z_]+\(")


def alone(source):
    """Sources with compile commands of their own, or with a main function."""
    ends = ("_avx512.cpp", "_highway.cpp", "main.cpp")
    return source.endswith(ends) or source.startswith("examples/")


def own_names(source):
    """The names that the source defines in an unnamed namespace, and its macros."""
    names, unnamed = set(), False
    for line in pathlib.Path(source).read_text(encoding="utf-8").splitlines():
        if line in ("namespace {", "}  // namespace"):
            unnamed = line == "namespace {"
        elif (unnamed and line[:1].isalpha() and not MACRO.match(line)) or line.startswith("#define"):
            found = TYPE.match(line) or VALUE.match(line)
            if found:
                names.add(found.group(1))
    return names


def batches_of(sources):
    batches = []
    for source in sources:
        names = own_names(source)
        room = os.path.dirname(source)
        for batch in batches:
            if (batch["room"] == room and len(batch["sources"]) < LARGEST
                    and not alone(source) and not alone(batch["sources"][0])
                    and not batch["names"] & names):
                batch["sources"].append(source)
                batch["names"] |= names
                break
        else:
            batches.append({"room": room, "sources": [source], "names": names})
    return [batch["sources"] for batch in batches]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    states = dict(line.split() for line in sys.stdin)
    folder = build / "batches"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for settings in pathlib.Path().glob("[a-z]*/**/.clang-tidy"):
        if not settings.is_relative_to("build"):
            (folder / settings.parent).mkdir(parents=True, exist_ok=True)
            shutil.copy(settings, folder / settings)

    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    known = {command["file"]: command for command in commands}
    lines = []
    for number, sources in enumerate(batches_of(sorted(states))):
        batch = sources[0]
        if len(sources) > 1:
            batch = folder / os.path.dirname(sources[0]) / f"{number}.cpp"
            batch.parent.mkdir(parents=True, exist_ok=True)
            batch.write_text("".join(
                f'#include "kvcheck/{source}"  // NOLINT(bugprone-suspicious-include)\n'
                for source in sources), encoding="utf-8")
            first = os.path.abspath(sources[0])
            command = known[first]["command"].replace(first, str(batch))
            commands.append(known[first] | {"command": command, "file": str(batch)})
        lines.append(" ".join([str(batch)] + [f"{source} {states[source]}" for source in sources]))
    (folder / "compile_commands.json").write_text(json.dumps(commands), encoding="utf-8")
    # The largest first, so that the cores end at about the same time.
    print("\n".join(sorted(lines, key=lambda line: -len(line.split()))))


main()
