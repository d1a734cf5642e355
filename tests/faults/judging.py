"""Tries the judge of faults.py on ends that it must accept and on ends that it must not."""

import collections

from commands import Command
from faults import Fault, Ran, judge

SETTING = collections.namedtuple("Setting", "files")({"old.txt": b"old"})
COMMAND = Command("try", "try", (("kept.txt", "old.txt"),))
CLEAN = Ran(0, b"done\n", "", {"new.txt": b"new", "kept.txt": b"newer"}, ())
SENTENCE = "kvcheck try: cannot write 'new.txt': Input/output error\n"
BEFORE = {"kept.txt": b"old"}


def verdict(call="write", lasts=False, wrong="", **ran):
    ran = CLEAN._replace(**ran)
    return judge(SETTING, COMMAND, Fault(call, 1, "EIO", lasts), ran, CLEAN, wrong)


def failed(**ran):
    return {"status": 2, "err": SENTENCE, "files": BEFORE, **ran}


ACCEPTED = {
    "as without a fault": {},
    "a sentence, and old files": failed(),
    "a sentence, and one file new": failed(files={**BEFORE, "new.txt": b"new"}),
    "no memory": failed(call="malloc", status=3, err="kvcheck try: out of memory\n"),
    "a file that unlink left": failed(call="unlink", files={**BEFORE, "x.tmp": b""}),
}
REJECTED = {
    "a crash": {"status": -11},
    "a hang": {"status": "hang"},
    "other output": {"out": b"don"},
    "a file that is missing": {"files": {"new.txt": b"new"}},
    "no sentence": failed(err=""),
    "two sentences": failed(err=SENTENCE + SENTENCE.replace("write", "read")),
    "nothing named": failed(err="kvcheck try: disk I/O error\n"),
    "an internal error": failed(err="kvcheck try: internal error: 'x'\n"),
    "half a file": failed(files={**BEFORE, "new.txt": b"n"}),
    "an old file that is gone bad": failed(files={"kept.txt": b""}),
    "a stray file": failed(files={**BEFORE, "x.tmp": b""}),
    "no memory, but the disk failed": failed(status=3),
    "a law that did not break": failed(status=1),
    "a results file that is damaged": {"wrong": "run.db does not open"},
}

mistaken = [name for name, end in ACCEPTED.items() if verdict(**end)]
mistaken += [name for name, end in REJECTED.items() if not verdict(**end)]
print("mistaken: %s" % ", ".join(mistaken) if mistaken else "judged right: %d ends" % (
    len(ACCEPTED) + len(REJECTED)))
