"""Whether two builds of kvcheck, for two kinds of machine, give the same bytes.

    same_bytes.py TREE PROGRAM OTHER...

PROGRAM is the build for this machine, and OTHER the words that start the other one, such as
`qemu-aarch64 -L ROOT build/arm/kvcheck`. Each command runs with both. The exit status is 1 if a status, an
output or a file differs.
"""

import os
import subprocess
import sys
import tempfile

TRACE = "traces/data/tinystories-2m.qkv.safetensors"
STORY = "--model model/data --text model/data/held-out.txt --windows 0,128 --tokens 256"
COMMANDS = (
    "policies --json",
    "trace verify " + TRACE,
    "replay %s --policy all --budget 64 --seeds 2 --csv - --per-head --quiet" % TRACE,
    "replay %s --policy h2o --policy tova;positions=in-cache --budget 32 --oracle --csv - --quiet" % TRACE,
    "replay synthetic:zipf:tokens=512 --policy all --budget 48 --csv - --quiet",
    "replay synthetic:drift:tokens=512 --policy reservoir --budget 48 --seeds 5 --json - --quiet",
    "trace generate drift --kind qkv --tokens 256 -o FOLDER/drift.safetensors",
    "record --model model/data --text model/data/held-out.txt --tokens 128 --kind qkv --quiet"
    " -o FOLDER/recorded.safetensors",
    "eval %s --policy dense --policy h2o --policy random --budget 32 --json - --quiet" % STORY,
    "eval %s --weights int8 --storage int8 --policy h2o --budget 32 --json - --quiet" % STORY,
    "uniformity reservoir:sinks=4,recent=28,budget=64 --tokens 128 --trials 2000",
)


def outcome(program, command, tree):
    """The status, the outputs and the files of a command."""
    with tempfile.TemporaryDirectory() as folder:
        words = [word.replace("FOLDER", folder) for word in command.split()]
        done = subprocess.run(program + words, cwd=tree, capture_output=True)
        outputs = {"standard output": done.stdout, "standard error": done.stderr}
        outputs = {name: text.replace(folder.encode(), b"FOLDER") for name, text in outputs.items()}
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as file:
                outputs[name] = file.read()
    return {"status": done.returncode, **outputs}


def main(tree, program, *other):
    status = 0
    for command in COMMANDS:
        one = outcome([program], command, tree)
        another = outcome(list(other), command, tree)
        unlike = sorted(name for name in one.keys() | another.keys()
                        if one.get(name) != another.get(name))
        if one["status"] != 0:
            unlike.append("a status of %d, expected 0" % one["status"])
        size = sum(len(text) for text in one.values() if isinstance(text, bytes))
        print("%s: kvcheck %s" % ("; ".join(unlike) if unlike else "same %d bytes" % size, command),
              flush=True)
        status = status or int(bool(unlike))
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
