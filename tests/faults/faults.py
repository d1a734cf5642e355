"""Lets every call of every kind fail in short commands of every verb, and judges how they end.

    faults.py PROGRAM LIBRARY [COMMAND...] [--call NAME] [--at K] [--most N] [--jobs N]
              [--sentences]

PROGRAM is kvcheck and LIBRARY the one of library/failing_calls.cpp. A command is one of commands.py
or the beginning of its name, as in `trace`. For each, a first run counts the calls. Then the command
runs once for every k of every call, with every fault of FAULTS, and must end in one of these ways:

* with the output, files and status of the run without a fault;
* with exit status 2, or 3 if memory ran out, and one sentence on standard error that names what
  failed. Then every file is whole and either old or new, no other file is left, and the results file
  opens and holds all older rows.

It prints how many were tried, and for each failure the command that repeats it; then it exits with 1.
"""

import argparse
import collections
import errno
import multiprocessing
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import commands
import inputs
import results

CALLS = ["open", "read", "pread", "write", "pwrite", "fsync", "fdatasync", "rename", "unlink",
         "mmap", "ftruncate", "linkat", "mkdir", "pthread_create", "fork", "malloc"]

# What each call fails with: an error, and whether it lasts from the k-th call on.
ONCE, LASTS = False, True
FAULTS = {
    "open": [("EMFILE", ONCE), ("EIO", ONCE), ("EMFILE", LASTS)],
    "read": [("EIO", ONCE), ("EIO", LASTS)],
    "pread": [("EIO", ONCE), ("EIO", LASTS)],
    "write": [("EIO", ONCE), ("ENOSPC", ONCE), ("ENOSPC", LASTS)],
    "pwrite": [("EIO", ONCE), ("ENOSPC", ONCE), ("ENOSPC", LASTS)],
    "fsync": [("EIO", ONCE), ("ENOSPC", LASTS)],
    "fdatasync": [("EIO", ONCE), ("EIO", LASTS)],
    "rename": [("EIO", ONCE), ("ENOSPC", LASTS)],
    "unlink": [("EIO", ONCE), ("EIO", LASTS)],
    "mmap": [("ENOMEM", ONCE), ("ENOMEM", LASTS)],
    "ftruncate": [("EIO", ONCE), ("ENOSPC", LASTS)],
    "linkat": [("EIO", ONCE), ("ENOSPC", LASTS)],
    "mkdir": [("ENOSPC", ONCE)],
    "pthread_create": [("EAGAIN", ONCE), ("EAGAIN", LASTS)],
    "fork": [("EAGAIN", ONCE), ("ENOMEM", LASTS)],
    "malloc": [("ENOMEM", ONCE), ("ENOMEM", LASTS)],
}

# How often memory runs out for good, which takes as long as running out once, with less to see.
MOST_LASTING = 1000

HANG = 60  # seconds, far above what any of the commands takes

Fault = collections.namedtuple("Fault", "call at error lasts")
Ran = collections.namedtuple("Ran", "status out err files counts")


def find(name):
    return next(command for command in commands.COMMANDS if command.name == name)


def files_in(folder):
    """The bytes of all files that a command may have written, by path; without the seconds that
    JUnit files have."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if os.path.islink(path):
                continue
            with open(path, "rb") as file:
                content = file.read()
            if name.endswith(".xml"):
                content = re.sub(rb'time="[0-9.]+"', b"", content)
            found[os.path.relpath(path, folder)] = content
    return found


def prepare(command, ins, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.symlink(ins, folder + "/in")
    os.mkdir(folder + "/tmp")
    for name, source in command.existing:
        shutil.copyfile(ins + "/" + source, folder + "/" + name)


def run(setting, command, folder, fault):
    """Runs the command in a prepared folder."""
    counts = folder + ".counts"
    with open(counts, "wb") as file:
        file.write(bytes(8 * (len(CALLS) + 1)))
    environment = dict(os.environ, LD_PRELOAD=setting.library, KV_FAULT_COUNTS=counts,
                       TMPDIR=folder + "/tmp")
    if not command.drawn:
        environment["PATH"] = setting.inputs + "/bin:" + os.environ["PATH"]
    if fault:
        environment.update(KV_FAULT_CALL=fault.call, KV_FAULT_AT=str(fault.at),
                           KV_FAULT_ERRNO=str(getattr(errno, fault.error)))
        if fault.lasts:
            environment["KV_FAULT_FROM"] = "1"
    child = subprocess.Popen([setting.program, *command.words.split()], cwd=folder,
                             env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = child.communicate(timeout=HANG)
        status = child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        status = "hang"
    with open(counts, "rb") as file:
        numbers = struct.unpack("<%dQ" % (len(CALLS) + 1), file.read())
    return Ran(status, out, err.decode(errors="replace"), None, numbers)


def tried(setting, command, folder, fault):
    prepare(command, setting.inputs, folder)
    ran = run(setting, command, folder, fault)
    # Opening a results file ends what the program may have had to leave to the next one.
    wrong = ""
    for name in sorted(os.listdir(folder)):
        if name.endswith(".db"):
            older = setting.older if (name, "old.db") in command.existing else set()
            wrong = wrong or results.complaint(folder + "/" + name, older)
    return ran._replace(files=files_in(folder)), wrong


def same(command, fault, ran, clean):
    """Whether this is what the run without faults printed and wrote."""
    left = set(ran.files) - set(clean.files)
    # A fault of unlink leaves what the program could not remove.
    if ran.status != clean.status or ran.err != clean.err or (left and fault.call != "unlink"):
        return False
    if command.varies:
        return set(clean.files) <= set(ran.files)
    return ran.out == clean.out and all(ran.files.get(name) == content
                                        for name, content in clean.files.items())


def sentences_of(command, ran, clean):
    """The lines on standard error that a run without faults does not print."""
    usual = clean.err.splitlines()
    return [line for line in ran.err.splitlines() if line not in usual] or [ran.err]


def names_what_failed(line):
    return (re.search(r"'|out of memory|standard output|child process|of \d+ files", line)
            and not re.search(r"terminate called|internal error|[\x00-\x1f]", line))


def subject_failed(command, fault, ran):
    """A law that breaks because the fault was in the subject's own process, or in its pipes. Where
    selftest expects that, laws are added to the killers of the mutant, or missing among them."""
    if not command.subject or fault.call not in ("malloc", "read", "write"):
        return False
    if command.name == "selftest" and ran.status == 0:
        return fault.call == "malloc" and not ran.err and re.search(rb"  killed  .*by \d", ran.out)
    return ran.status == 1 and ("the cache failed in" in ran.err or re.search(
        rb"BROKEN|wrong|not as they should be", ran.out))


def files_complaint(setting, command, fault, ran, clean):
    before = {name: setting.files[source] for name, source in command.existing}
    for name, content in sorted(ran.files.items()):
        if name.endswith(".db"):
            continue
        if name not in clean.files and name not in before:
            # What opens no folder cannot empty it; the next report removes it.
            unopened = fault.call == "open" and fault.lasts and ".partial-" in name
            # Finished parts are kept for --resume, and the sentence says so if memory allows.
            kept = ".db.unfinished-" in name and ("'%s'" % name in ran.err or ran.status == 3)
            # So is a folder that was finished and could not be moved to its place.
            kept = kept or ".whole-" in name and "/%s'" % os.path.dirname(name) in ran.err
            kept = kept or "--resume" in command.words and name.endswith(".unfinished")
            if fault.call != "unlink" and not unopened and not kept:
                return "left %s" % name
        elif content not in (before.get(name), clean.files.get(name)) and not command.varies:
            return "%s is neither old nor new" % name
    return ""


def judge(setting, command, fault, ran, clean, wrong):
    """What is wrong with how the command ended; empty if nothing is."""
    if wrong or same(command, fault, ran, clean) or subject_failed(command, fault, ran):
        return wrong
    if ran.status == "hang":
        return "did not end within %d s" % HANG
    lines = sentences_of(command, ran, clean)
    good = len(lines) <= command.sentences and all(map(names_what_failed, lines))
    if ran.status == clean.status and not (ran.status == 1 and good):
        return "exit status %s, and the output is not that of a run without faults" % ran.status
    memory = fault.call == "malloc" and "out of memory" in ran.err
    if ran.status not in (2, clean.status) and not (ran.status == 3 and memory):
        return "exit status %s: %s" % (ran.status, ran.err.strip()[:200])
    if not good:
        return "not one sentence that names what failed: %r" % ran.err[:300]
    return files_complaint(setting, command, fault, ran, clean)


def words_of(command, fault):
    return "./dev faults %s --call %s --error %s%s --at %d" % (
        command.name, fault.call, fault.error, " --lasts" if fault.lasts else "", fault.at)


class Setting:
    def __init__(self, program, library, folder):
        # Copies, so that a build meanwhile does not disturb.
        self.program = shutil.copy(program, folder + "/kvcheck")
        self.library = shutil.copy(library, folder + "/faults.so")
        self.folder, self.inputs = folder, folder + "/in"
        os.mkdir(self.inputs)
        inputs.make(self.program, self.inputs)
        self.older = results.rows(self.inputs + "/old.db")
        self.files = files_in(self.inputs)


def attempt(task):
    name, fault, clean = task
    command = find(name)
    folder = "%s/%d" % (SETTING.folder, os.getpid())
    ran, wrong = tried(SETTING, command, folder, fault)
    complaint = judge(SETTING, command, fault, ran, clean, wrong) if ran.counts[-1] else ""
    return fault, ran.counts[-1] > 0, ran.status, complaint, ran.err


def spread(count, most):
    """All of 1, ..., count, or `most` of them that lie evenly."""
    if not most or count <= most:
        return range(1, count + 1)
    return sorted({1 + i * count // most for i in range(most)})


def faults_of(command, counts, options):
    for call, count in zip(CALLS, counts):
        if options.call and call != options.call:
            continue
        for error, lasts in FAULTS[call]:
            if options.error and (error, lasts) != (options.error, options.lasts):
                continue
            most = options.most or command.most_of(call)
            if call == "malloc" and lasts:  # its first fault was tried alone
                most = min(most or MOST_LASTING, MOST_LASTING)
            for at in [options.at] if options.at else spread(count, most):
                yield Fault(call, at, error, lasts)


def table(names, tried_of):
    used = [call for call in CALLS if any(tried_of[name, call] for name in names)]
    lines = ["| command | " + " | ".join(used) + " | all |", "| --- " * (len(used) + 2) + "|"]
    for name in [*names, "all"]:
        numbers = [sum(tried_of[one, call] for one in (names if name == "all" else [name]))
                   for call in used]
        lines.append("| %s | %s | %d |" % (name, " | ".join(map(str, numbers)), sum(numbers)))
    return "\n".join(lines)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("commands", nargs="*", help="names, or their beginnings [all]")
    parser.add_argument("--call", choices=CALLS, help="only this call")
    parser.add_argument("--error", help="only this error, such as EIO")
    parser.add_argument("--lasts", action="store_true", help="with --error: from the k-th call on")
    parser.add_argument("--at", type=int, help="only this k")
    parser.add_argument("--most", type=int, default=0, help="at most N of each call [all]")
    parser.add_argument("--jobs", type=int, help="how many run at a time [one a core]")
    parser.add_argument("--sentences", action="store_true", help="list all messages, with counts")
    return parser.parse_args()


def sweep_one(pool, command, options, report):
    """Tries all faults on one command. Adds to the report, and returns how many were tried."""
    clean, wrong = tried(SETTING, command, SETTING.folder + "/clean", None)
    if clean.status != command.status:
        raise SystemExit("%s without a fault ends with %s: %s" % (command.name, clean.status, clean.err))
    if wrong:
        raise SystemExit("%s without faults: %s" % (command.name, wrong))
    tasks = [(command.name, fault, clean) for fault in faults_of(command, clean.counts, options)]
    count = 0
    for fault, happened, status, complaint, err in pool.imap_unordered(
            attempt, tasks, 16 if len(tasks) > 1000 else 1):
        if not happened:
            continue
        count += 1
        report.totals[command.name, fault.call] += 1
        report.statuses[str(status)] += 1
        report.sentences[command.name, fault.call, re.sub(r"\d+", "N", err)] += 1
        if complaint:
            report.failures.append((command.name, fault, complaint))
            print("%s: %s\n  repeat it with: %s" % (command.name, complaint,
                                                   words_of(command, fault)), flush=True)
    return count


class Report:
    def __init__(self):
        self.totals, self.statuses = collections.Counter(), collections.Counter()
        self.sentences, self.failures = collections.Counter(), []


def sweep(options, selected):
    """Prints what fails at once, and each command when all of its faults were tried, so that a sweep
    that is cut short says how far it came."""
    report = Report()
    with multiprocessing.get_context("fork").Pool(options.jobs or os.cpu_count()) as pool:
        for command in selected:
            begin, failed = time.monotonic(), len(report.failures)
            count = sweep_one(pool, command, options, report)
            print("%s: %d faults in %.0f s, %d not as promised" % (
                command.name, count, time.monotonic() - begin, len(report.failures) - failed),
                flush=True)
    print(table([command.name for command in selected], report.totals))
    if options.sentences:
        for (name, call, err), count in sorted(report.sentences.items()):
            print("%6d %s %s: %s" % (count, name, call, err.rstrip("\n")))
    print("%d faults tried; exit status %s; %d did not end as promised" % (
        sum(report.totals.values()),
        ", ".join("%s: %d" % pair for pair in sorted(report.statuses.items())),
        len(report.failures)))
    return report.failures


def main():
    global SETTING
    options = arguments()
    selected = [command for command in commands.COMMANDS if not options.commands or
              any(command.name.startswith(name) for name in options.commands)]
    if options.at:
        selected = [command for command in selected if command.name in options.commands]
    if not selected:
        raise SystemExit("there is no command %s; there are %s" % (
            " ".join(options.commands), ", ".join(c.name for c in commands.COMMANDS)))
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        SETTING = Setting(options.program, options.library, folder)
        return 1 if sweep(options, selected) else 0


SETTING = None

if __name__ == "__main__":
    sys.exit(main())
