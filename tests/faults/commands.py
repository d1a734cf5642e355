"""The short commands that faults are tried on. Each runs in a folder of its own, in which `in` leads
to the inputs (inputs.py)."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Command:
    name: str                # the verb, and what sets the command apart from others of the verb
    words: str               # the arguments, separated by blanks
    existing: tuple = ()     # pairs: a file of an older run, and the input that it is a copy of
    varies: bool = False     # whether the output differs between runs, as times do
    drawn: bool = False      # with the true gnuplot, which takes most of the time
    most_malloc: int = 0     # how many calls of malloc to try, if not all
    most: int = 0            # how many calls of any other kind to try, if not all
    sentences: int = 1       # how many it may print: one for each input that cannot be read, and a sum
    status: int = 0          # how it ends without a fault
    subject: bool = False    # whether it tries laws on a subject, in a process of its own

    def most_of(self, call):
        return self.most_malloc if call == "malloc" else self.most


REPLAYED = "--budget 6 --seeds 2 --quiet -o run.db"
EVALUATED = "eval --model in/model --text in/text.txt --tokens 12 --budget 9 --quiet -o run.db"
RUN = (("run.db", "old.db"),)

COMMANDS = [
    Command("replay", "replay in/trace.safetensors in/rows.npy --policy h2o --policy random "
            "--threads 2 --json run.json --csv run.csv " + REPLAYED,
            RUN + (("run.json", "old.txt"),)),
    Command("replay-first", "replay in/rows.npz --policy window --threads 1 " + REPLAYED),
    Command("replay-oracle", "replay synthetic:zipf:tokens=12,heads=2 --policy tova --oracle "
            "--threads 2 " + REPLAYED, RUN),
    Command("eval", EVALUATED + " --policy dense --policy h2o --threads 2 --json run.json "
            "--csv run.csv --markdown run.md", RUN),
    Command("eval-first", EVALUATED + " --policy window --windows 0,6 --open-loop --threads 1"),
    # One item is answered at a time, so that one thread gives its parts in one order.
    Command("eval-tasks", "eval --tasks in/items.jsonl --beyond-context --model in/model --policy dense "
            "--policy window --budget 40 --threads 1 --quiet -o run.db --json run.json "
            "--csv run.csv", RUN, most_malloc=4000),
    Command("tasks", "tasks needle story-fact --items 2 --length 20 --depth 0,1 -o new.jsonl"),
    Command("speed", "speed --model in/model --policy window --budget 6 --length 8 --tokens 2 "
            "--quiet -o run.db --json run.json --csv run.csv", RUN, varies=True),
    Command("generate", "generate --model in/model --prompt abcab --tokens 6 --policy h2o --budget 9"),
    Command("record", "record --model in/model --text in/text.txt --tokens 12 --quiet "
            "-o trace.safetensors", (("trace.safetensors", "trace.safetensors"),)),
    Command("record-resume", "record --model in/model --text in/text.txt --tokens 12 --queries 2/4 "
            "--resume --threads 1 --quiet -o trace.safetensors",
            (("trace.safetensors", "trace.safetensors"),), most_malloc=4000),
    Command("record-attention", "record --model in/model --text in/text.txt --tokens 12 --quiet "
            "--kind attention --storage f32 --policy h2o --budget 9 -o new.safetensors"),
    Command("record-tasks", "record --tasks in/items.jsonl --model in/model "
            "--kind attention --threads 1 --quiet -o traces", most_malloc=2000, most=200),
    # With one thread, because the order of blocks decides the order of pages in the file.
    Command("sweep", "sweep in/plan.json --threads 1 --quiet -o run.db", RUN, most_malloc=4000),
    Command("sweep-first", "sweep in/plan.json --shard 1/2 --threads 1 --quiet -o run.db",
            most_malloc=2000),
    Command("sweep-dry", "sweep in/plan.json --threads 1 --dry-run", varies=True, most_malloc=2000),
    Command("merge", "merge in/one.db in/two.db --quiet -o run.db", RUN, most_malloc=4000),
    Command("report", "report in/old.db -o page", most_malloc=2000),
    Command("report-drawn", "report in/old.db -o page", drawn=True, most_malloc=20),
    Command("report-list", "report in/old.db --list"),
    Command("explore", "explore in/old.db -o new.html", most_malloc=2000),
    Command("explore-trace", "explore in/old.db --trace in/rows.npy --unit all "
            "-o new.html", most_malloc=2000),
    Command("plot", "plot budget in/old.db --script -o new.pdf"),
    Command("plot-list", "plot in/old.db --list"),
    Command("compare", "compare in/old.db in/old.db --json new.json --csv new.csv"),
    Command("hypotheses", "hypotheses in/said.json --json new.json --markdown new.md"),
    Command("man", "man -o ."),
    Command("completion", "completion bash"),
    Command("trace-info", "trace info in/trace.safetensors in/rows.npz --json",
            sentences=3),
    Command("trace-verify", "trace verify in/trace.safetensors in/rows.npz in/rows.npy",
            sentences=4),
    Command("trace-convert", "trace convert in/rows.npz -o new.safetensors"),
    Command("trace-slice", "trace slice in/qkv.safetensors --tokens 6 -o trace.safetensors",
            (("trace.safetensors", "qkv.safetensors"),)),
    Command("trace-generate", "trace generate zipf --tokens 12 -o new.safetensors "
            "--planted new.jsonl"),
    Command("check", "check streaming:sinks=2,recent=6,budget=8 --filter survives --json new.json "
            "--junit new.xml --quiet", most_malloc=2000, subject=True),
    Command("check-record", "check window:budget=4 --filter resident.recent "
            "--record runs.jsonl --quiet", (("runs.jsonl", "old.txt"),), most_malloc=500,
            most=200, subject=True),
    Command("judge", "judge in/runs.jsonl --json new.json --junit new.xml", most_malloc=4000),
    Command("uniformity", "uniformity reservoir:sinks=1,recent=1,budget=5 --tokens 8 --trials 40 "
            "--threads 2 --json new.json --quiet", most_malloc=4000),
    Command("uniformity-plot", "uniformity reservoir:sinks=1,recent=1,budget=5 --tokens 8 "
            "--trials 40 --threads 1 --plot plots --quiet", most_malloc=2000),
    Command("policies", "policies @h2o --json"),
    Command("selftest", "selftest --filter physical-length-as-count --workers 1 --quiet "
            "--json new.json", most_malloc=40, most=40, subject=True),
    Command("protocol", "protocol in/answers", status=1, subject=True),
]
