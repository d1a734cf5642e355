"""Kills long commands at random moments, and checks what they leave.

    kills.py PROGRAM [N] [--command NAME] [--seed S] [--in-a-row K] [--after SECONDS]...

PROGRAM is kvcheck. Each command of COMMANDS runs about a second, in a folder with the results file of
an older run, and is killed (SIGKILL) at a moment between its begin and its end. Then:

* the results file opens, no older row has changed, and every row of the killed run is one that an
  uninterrupted run writes;
* every other file is whole, and either old or new; what may be left besides is in LEFT;
* the same command, with --resume where it has that option, ends well and leaves exactly what an
  uninterrupted run leaves.

With --in-a-row the command is killed K times before it may end, each time further on, and no kill
takes away a row that one before it had left.

It prints how many kills of each command left nothing, a part or all of a run. If something is wrong it
prints the command that repeats it, and exits with 1.
"""

import argparse
import collections
import dataclasses
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import inputs
import results
from faults import files_in

# What a killed program may leave: a folder that is not whole, which the next one removes; a file in
# the instant between its two names; SQLite's journal, which the next reader or writer takes back; and
# the finished parts of a run that can be resumed.
LEFT = re.compile(r"\.(page|traces)\.partial-\w{6}/|.*\.tmp-|run\.db-journal$|run\.db[.-][\w.-]*$|"
                  r"trace\.safetensors\.unfinished$")


@dataclasses.dataclass(frozen=True)
class Command:
    name: str
    words: str
    existing: tuple = ()
    varies: bool = False  # times differ between runs
    resumes: bool = False
    once: bool = False  # refuses to replace its output
    long: bool = False  # run only if it is named


# Seconds that a run needs before it finishes something of its own.
BEGIN = 0.2

RUN = (("run.db", "old.db"),)
COMMANDS = [
    Command("replay", "replay in/a.safetensors in/b.safetensors in/c.safetensors --policy h2o "
            "--policy tova --policy random --policy reservoir --budget 32,64 --seeds 12 --quiet "
            "--threads 2 -o run.db --json run.json", RUN, resumes=True),
    Command("eval", "eval --model in/model --text in/text.txt --tokens 1500 --windows 0,64,256 "
            "--policy dense --policy h2o --policy tova --policy window --budget 24,48 --quiet "
            "--threads 2 -o run.db --json run.json", RUN, resumes=True),
    Command("eval-tasks", "eval --model in/model --tasks in/items.jsonl --policy dense --policy h2o "
            "--budget 24 --quiet --threads 2 -o run.db --json run.json", RUN, resumes=True),
    Command("speed", "speed --model in/model --policy dense --policy h2o --policy window "
            "--budget 24 --length 64,128,256,512,1024 --tokens 256 --quiet -o run.db --json run.json",
            RUN, varies=True, resumes=True),
    Command("record", "record --model in/model --text in/text.txt --tokens 2500 --kind attention "
            "--quiet -o trace.safetensors", (("trace.safetensors", "a.safetensors"),)),
    Command("record-resume", "record --model in/model --text in/text.txt --tokens 2500 --queries 8/100 "
            "--resume --quiet -o trace.safetensors", (("trace.safetensors", "a.safetensors"),)),
    Command("record-tasks", "record --tasks in/items.jsonl --model in/model --kind attention --quiet "
            "-o traces", once=True),
    Command("sweep", "sweep in/plan.json --threads 2 --quiet -o run.db", RUN),
    Command("long-sweep", "sweep in/long.json --threads 2 --quiet -o run.db", RUN, long=True),
    Command("merge", "merge in/one.db in/two.db --quiet -o run.db", RUN),
    Command("report", "report in/long.db -o page"),
    Command("check", "check h2o:sinks=2,recent=6,budget=16 --filter size.* --filter survives --filter chunking.* --filter visible.* --filter position.* "
            "--quiet --json new.json --junit new.xml"),
]


def make(program, folder):
    """Fills the folder with inputs on which the commands take about a second."""
    inputs.write(folder + "/rows.npy", inputs.npy(2, 8))
    inputs.write(folder + "/text.txt", inputs.text(3000))
    inputs.write(folder + "/bin/gnuplot", inputs.GNUPLOT)
    os.chmod(folder + "/bin/gnuplot", 0o755)
    inputs.model(folder + "/model", 48, 3, 4096)
    for seed, name in enumerate("abc", 1):
        inputs.run(program, folder, "trace", "generate", "zipf", "--tokens", "1200", "--seed",
                   str(seed), "-o", name + ".safetensors")
    inputs.run(program, folder, "tasks", "needle", "--items", "24", "--length", "60", "-o",
               "items.jsonl")
    inputs.write(folder + "/plan.json", inputs.PLAN.replace("SEEDS", "124") % "300")
    traces = ["synthetic:zipf:tokens=1500,seed=%d" % seed for seed in range(1, 26)]
    inputs.write(folder + "/long.json", json.dumps({"replay": {
        "traces": traces, "policies": ["h2o", "random", "reservoir", "tova"], "budgets": [64, 128],
        "seeds": 9}}))
    inputs.write(folder + "/many.json", inputs.PLAN.replace("SEEDS", "500") % "32")
    for number, name in ((1, "one"), (2, "two")):
        inputs.run(program, folder, "sweep", "many.json", "--shard", "%d/2" % number, "--quiet",
                   "-o", name + ".db")
    run = ["--policy", "window", "--policy", "h2o", "--budget", "4", "--quiet", "-o"]
    inputs.run(program, folder, "replay", "rows.npy", *run, "old.db")
    many = ["synthetic:zipf:tokens=64,seed=%d" % seed for seed in range(1, 17)]
    inputs.run(program, folder, "replay", "a.safetensors", *many, *run, "long.db")


class Setting:
    def __init__(self, program, folder):
        # A copy, so that a build meanwhile does not disturb.
        self.program = shutil.copy(program, folder + "/kvcheck")
        self.folder, self.inputs = folder, folder + "/in"
        os.mkdir(self.inputs)
        make(self.program, self.inputs)
        self.older = results.rows(self.inputs + "/old.db")
        self.environment = dict(os.environ,
                                PATH=self.inputs + "/bin:" + os.environ["PATH"])
        done = subprocess.run([self.program, "replay", "--help"], capture_output=True, text=True)
        self.resumes = "--resume" in done.stdout
        self.clean = {}


def find(name):
    return next(command for command in COMMANDS if command.name == name)


def prepare(command, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.symlink(SETTING.inputs, folder + "/in")
    for name, source in command.existing:
        shutil.copyfile(SETTING.inputs + "/" + source, folder + "/" + name)


def start(command, folder, more=()):
    return subprocess.Popen([SETTING.program, *command.words.split(), *more], cwd=folder,
                            env=SETTING.environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def rows_in(folder):
    path = folder + "/run.db"
    return results.rows(path) if os.path.exists(path) and os.path.getsize(path) else set()


def clean_run(command):
    """The files, rows and seconds of an uninterrupted run."""
    folder = SETTING.folder + "/clean"
    prepare(command, folder)
    begun = time.monotonic()
    child = start(command, folder)
    _, err = child.communicate()
    seconds = time.monotonic() - begun
    if child.returncode:
        raise SystemExit("%s without a kill: %s" % (command.name, err.decode()))
    files = files_in(folder)
    return files, rows_in(folder), seconds


def unlike(row, clean, varies):
    """Whether a row of a killed run is not one of a clean run. A run that did not end says so."""
    table, _, *values = row
    if table == "runs":
        return (table, *row[1:-1], "complete") not in clean
    return not varies and row not in clean and table in ("traces", "cells", "heads", "units",
                                                         "series", "residency", "bounds", "dense",
                                                         "summaries", "sweeps", "evaluations",
                                                         "eval_cells",
                                                         "eval_series", "eval_recall",
                                                         "eval_after", "eval_open_loop", "eval_inputs",
                                                         "tasks", "task_items", "task_cells",
                                                         "task_answers", "task_inputs",
                                                         "task_item_texts")


def kept_by(command, folder, wrong):
    """What the killed command kept: none, some or all. Adds to `wrong` what must not be."""
    clean_files, clean_rows, _ = SETTING.clean[command.name]
    before = {name: SETTING.files[source] for name, source in command.existing}
    try:
        rows = rows_in(folder)
    except Exception as error:  # whatever SQLite says
        wrong.append("run.db does not open: %s" % error)
        return "none"
    if command.existing and "run.db" in before and SETTING.older - rows:
        wrong.append("run.db lost or changed older rows")
    strange = [row for row in rows - SETTING.older if unlike(row, clean_rows, command.varies)]
    if strange:
        wrong.append("run.db has %d rows of no clean run, as %s" % (
            len(strange), str(min(strange, key=str))[:160]))
    files = files_in(folder)
    for name, content in files.items():
        known = name in clean_files or name in before
        if known and name != "run.db" and not command.varies:
            if content not in (clean_files.get(name), before.get(name)):
                wrong.append("%s is neither old nor new" % name)
        elif not known and not LEFT.match(name):
            wrong.append("left %s" % name)
    if "run.db" in clean_files:
        found = rows - SETTING.older
        complete = any(row[0] == "runs" and row[-1] == "complete" for row in found)
        beside = any(name.startswith("run.db") and name != "run.db" for name in files)
        return "all" if complete else "some" if any(
            row[0] not in ("runs", "sweeps") for row in found) or beside else "none"
    new = [name for name in clean_files if files.get(name) == clean_files[name]]
    return "all" if len(new) == len(clean_files) else "some" if new else "none"


def start_again(command, folder):
    """Starts the command where it was killed; also says whether it had ended all the same."""
    for place, folders, _ in os.walk(folder):
        for name in folders:  # a folder that is a minute old has no writer
            if ".partial-" in name:
                os.utime(os.path.join(place, name), (1, 1))
    before = rows_in(folder) if os.path.exists(folder + "/run.db") else set()
    ended = any(row[0] == "runs" and row[-1] == "complete" for row in before - SETTING.older)
    resumes = command.resumes and SETTING.resumes
    return start(command, folder, ["--resume"] if resumes and not ended else []), ended


def resume(command, folder, wrong):
    """Runs the command once more, and compares with an uninterrupted run."""
    clean_files, clean_rows, _ = SETTING.clean[command.name]
    resumes = command.resumes and SETTING.resumes
    if command.once and files_in(folder) == clean_files:
        return
    child, ended = start_again(command, folder)
    _, err = child.communicate()
    if child.returncode:
        wrong.append("the next run ends with %d: %s" % (child.returncode, err.decode()[:300]))
        return
    files = files_in(folder)
    stray = [name for name in files if name not in clean_files and ".tmp-" not in name]
    if stray:
        wrong.append("the next run leaves %s" % stray[0])
    if command.varies or (command.resumes and (ended or not resumes)):
        return
    if "run.db" in clean_files and rows_in(folder) != clean_rows:
        wrong.append("the resumed results file is not that of an uninterrupted run")
    for name, content in clean_files.items():
        if name != "run.db" and files.get(name) != content:
            wrong.append("%s is not that of an uninterrupted run" % name)


def finished_rows(folder):
    return {row for row in rows_in(folder) if row[0] not in ("runs", "sweeps")}


def kill(task):
    """Kills a command at these moments, one run after another: what each kill left."""
    name, moments = task
    command = find(name)
    folder = "%s/%d" % (SETTING.folder, os.getpid())
    prepare(command, folder)
    wrong, left, finished = [], [], set()
    for after in moments:
        child = start_again(command, folder)[0] if left else start(command, folder)
        try:
            child.communicate(timeout=after)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
        left.append((child.returncode == -signal.SIGKILL, kept_by(command, folder, wrong)))
        if wrong:
            break
        if len(moments) > 1:
            now = finished_rows(folder)
            if finished - now:
                wrong.append("kill %d took away %d rows" % (len(left), len(finished - now)))
            finished = now
        if not left[-1][0]:
            break
    if not wrong:
        resume(command, folder, wrong)
    return name, moments, left, "; ".join(wrong)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("kills", nargs="?", type=int, default=1000, help="in all [1000]")
    parser.add_argument("--command", choices=[command.name for command in COMMANDS])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--in-a-row", type=int, default=1, help="kills before it may end [1]")
    parser.add_argument("--after", type=float, nargs="+", help="kill after these seconds, in a row")
    return parser.parse_args()


def main():
    global SETTING
    options = arguments()
    names = [options.command] if options.command else [command.name for command in COMMANDS
                                                       if not command.long]
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        SETTING = Setting(options.program, folder)
        SETTING.files = files_in(SETTING.inputs)
        for name in names:
            SETTING.clean[name] = clean_run(find(name))
            print("%s takes %.2f s" % (name, SETTING.clean[name][2]), flush=True)
        draw = random.Random(options.seed)
        tasks = [(name, moments(SETTING.clean[name][2], options.in_a_row, draw))
                 for i in range(options.kills // options.in_a_row) for name in [names[i % len(names)]]]
        if options.after is not None:
            tasks = [(names[0], tuple(options.after))]
        return campaign(names, tasks)


def moments(seconds, in_a_row, draw):
    """When to kill runs that follow each other; together they take about as long as a whole run."""
    most = 1.1 * seconds if in_a_row == 1 else BEGIN + 2 * seconds / in_a_row
    return tuple(round(draw.uniform(0, most), 4) for _ in range(in_a_row))


def campaign(names, tasks):
    counts, failures = collections.Counter(), []
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        for name, after, left, wrong in pool.imap_unordered(kill, tasks):
            for killed, kept in left:
                counts[name, "killed" if killed else "ended before"] += 1
                if killed:
                    counts[name, kept] += 1
            if wrong:
                failures.append((name, after[:len(left)], wrong))
    columns = ["killed", "none", "some", "all", "ended before"]
    print("| command | " + " | ".join(columns) + " |\n" + "| --- " * 6 + "|")
    for name in names:
        print("| %s | %s |" % (name, " | ".join(str(counts[name, c]) for c in columns)))
    for name, after, wrong in sorted(failures)[:100]:
        print("%s: %s\n  repeat it with: ./dev kills 1 --command %s --after %s" % (
            name, wrong, name, " ".join(map(str, after))))
    print("%d kills; %d did not leave what is promised%s" % (
        sum(counts[name, "killed"] for name in names), len(failures),
        "" if SETTING.resumes else "; this build cannot resume"))
    return 1 if failures else 0


SETTING = None

if __name__ == "__main__":
    sys.exit(main())
