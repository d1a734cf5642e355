"""Short runs of every command that writes files which other programs read, and which option of which
command writes what. They run in one folder, in this order, in which `in` leads to the inputs that
tests/faults/inputs.py makes."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Run:
    words: str            # the arguments, separated by blanks; SOURCE is the root of the sources
    files: dict           # what it writes: a path, and its document; - is standard output
    status: int = 0


# A document is NAME for a file that docs/schemas/NAME.schema.json describes, with `lines` before it if
# each line of the file is one; `csv NAME` for a CSV file that reports/SCHEMA.md describes; `junit`;
# `results` for a results file; `report` for a folder of pages, figures, CSV files and JSON lines;
# `plots` for one of figures and CSV files; `trace` for a safetensors file.
EVALUATE = "eval --model SOURCE/model/data --threads 2 --quiet"
UNRANKED = ("eval --model in/model --tasks in/items.jsonl --beyond-context --policy random:sinks=0 "
            "--budget 30 --threads 2 "
            "--quiet")
REPEATED = ("speed --model in/model --policy window --policy h2o --budget 6 --length 8 --tokens 2 "
            "--runs 2 --quiet")
TIMED = ["first_token_s", "token_s", "attention_s", "kv_bytes", "peak_bytes"]
COMPARED = "--policy dense --policy window --policy h2o --budget 9"
RESERVOIR = "sinks=1,recent=1,budget=5"
TEXTS = " ".join("synthetic:zipf:tokens=24,seed=%d" % seed for seed in range(1, 9))

RUNS = [
    Run("trace generate needle:position=2,spread=0,attended=2,ask_at=24 --tokens 32 --heads 2 --kind qkv --rope half "
        "-o needle.safetensors --planted planted.jsonl",
        {"needle.safetensors": "trace", "planted.jsonl": "lines planted"}),
    Run("record --model in/model --text in/text.txt --tokens 32 --quiet --queries 8/16 "
        "-o sampled.safetensors", {"sampled.safetensors": "trace"}),
    Run("record --model in/model --text in/text.txt --tokens 24 --quiet --kv-heads 0 --prompt 9 "
        "--question 4 --policy window:budget=9 -o marked.safetensors",
        {"marked.safetensors": "trace"}),
    Run("trace convert in/rows.npy -o rows.safetensors --learned-sinks",
        {"rows.safetensors": "trace"}),
    Run("trace slice needle.safetensors --queries 1-3 -o slice.safetensors",
        {"slice.safetensors": "trace"}),
    Run("trace info in/trace.safetensors needle.safetensors sampled.safetensors marked.safetensors "
        "rows.safetensors slice.safetensors in/rules.safetensors --json", {"-": "lines trace-info"}),
    Run("trace verify in/trace.safetensors in/qkv.safetensors in/rows.npz --json",
        {"-": "lines trace-verify"}),

    Run("replay in/trace.safetensors in/qkv.safetensors in/rows.npz synthetic:zipf:tokens=24,seed=3 "
        "synthetic:drift:tokens=24 synthetic:drift:tokens=24,seed=2 --policy dense --policy h2o "
        "--policy random --seeds 2 --budget 4 --oracle --per-head --quiet "
        "-o run.db --json replay.jsonl --csv replay.csv",
        {"run.db": "results", "replay.jsonl": "lines replay", "replay.csv": "csv cells-and-heads"}),
    Run("trace convert in/qkv.safetensors -o bf16.safetensors --dtype bf16",
        {"bf16.safetensors": "trace"}),
    Run("record --model SOURCE/model/data --text SOURCE/model/data/held-out.txt --tokens 16 "
        "--kv-heads 1,2 --layers 0 --quiet -o heads.safetensors", {"heads.safetensors": "trace"}),
    Run("trace info bf16.safetensors heads.safetensors in/half.safetensors --json",
        {"-": "lines trace-info"}),
    Run("replay sampled.safetensors --policy h2o --policy window --budget 9 --per-head --quiet "
        "--json sampled.jsonl --csv sampled.csv",
        {"sampled.jsonl": "lines replay", "sampled.csv": "csv sampled-cells-and-heads"}),
    Run("replay synthetic:zipf:tokens=24 --policy window --budget 4 --quiet --csv cells.csv",
        {"cells.csv": "csv cells"}),
    Run("replay synthetic:zipf:tokens=24 --policy window --budget 4 --top-k 0 --per-head --quiet "
        "--json without.jsonl", {"without.jsonl": "lines replay"}),

    Run(EVALUATE + " --text SOURCE/model/data/held-out.txt --tokens 200 --policy dense --policy window "
        "--budget 32,48 --windows 100 --segment 50 --open-loop -o run.db --json eval.jsonl --csv eval.csv",
        {"run.db": "results", "eval.jsonl": "lines evaluation", "eval.csv": "csv evaluation-N/cells.csv"}),
    Run("eval --model in/model --text in/text.txt --tokens 12 --policy window --budget 9 --quiet "
        "--json - ", {"-": "lines evaluation"}),
    Run("tasks story-fact story-facts --items 2 --length 40 -o items.jsonl",
        {"items.jsonl": "lines task-item"}),
    Run("tasks keys lookup frequent --items 1 --length 60 -o keys.jsonl", {"keys.jsonl": "lines task-item"}),
    Run("tasks story-fact lookup --items 1 --length 60 --restate -o restated.jsonl",
        {"restated.jsonl": "lines task-item"}),
    Run(EVALUATE + " --tasks items.jsonl --policy dense --policy window --policy streaming --budget 48 "
        "-o run.db --json answers.jsonl --csv answers.csv",
        {"run.db": "results", "answers.jsonl": "lines answers",
         "answers.csv": "csv tasks-N/answers.csv"}),
    Run(UNRANKED + " -o tasks.db --json unranked.jsonl",
        {"tasks.db": "results", "unranked.jsonl": "lines answers"}),
    Run(UNRANKED + " --seed 2 -o tasks-2.db", {"tasks-2.db": "results"}),
    # With other draws, so that the second file lacks those of the first.
    Run("compare tasks.db tasks-2.db --measure answer_loss --json few-items.jsonl",
        {"few-items.jsonl": "lines comparison"}, 3),
    Run("compare tasks.db tasks-2.db --group needle --json group-files.jsonl --csv group-files.csv",
        {"group-files.jsonl": "lines comparison", "group-files.csv": "csv comparison-of-files"}, 3),
    Run("speed --model in/model --policy dense --policy window --budget 6 --length 8,12 --tokens 2 "
        "--runs 2 --quiet -o run.db --json speed.jsonl --csv speed.csv",
        {"run.db": "results", "speed.jsonl": "lines speed", "speed.csv": "csv timing-N/timings.csv"}),
    Run(REPEATED + " -o timed.db", {"timed.db": "results"}),
    Run(REPEATED + " -o timed-2.db", {"timed-2.db": "results"}),
    Run("compare timed.db --measure token_s --json few-runs.jsonl",
        {"few-runs.jsonl": "lines comparison"}),
    Run("compare timed.db timed-2.db --measure token_s --measure kv_bytes --margin 1000 "
        "--json timed.jsonl --csv timed.csv",
        {"timed.jsonl": "lines comparison", "timed.csv": "csv comparison-of-files"}),
    Run("compare timed.db --means %s --json timed-means.jsonl --csv timed-means.csv"
        % " ".join("--measure " + name for name in TIMED),
        {"timed-means.jsonl": "lines comparison", "timed-means.csv": "csv means.csv"}),
    Run("sweep in/plan.json --threads 2 --quiet -o sweep.db", {"sweep.db": "results"}),
    Run("merge in/one.db in/two.db --quiet -o merged.db", {"merged.db": "results"}),
    Run("replay %s --policy random:sinks=0,budget=4 --policy h2o:budget=4 --policy window:recent=4 "
        "--policy streaming:sinks=0,budget=4 --quiet -o one.db" % TEXTS, {"one.db": "results"}),
    Run("replay %s --policy random:sinks=0,budget=4 --policy h2o:budget=4 --seed 2 --quiet -o two.db"
        % TEXTS, {"two.db": "results"}),
    Run("compare in/old.db in/old.db --json files.jsonl --csv files.csv",
        {"files.jsonl": "lines comparison", "files.csv": "csv comparison-of-files"}),
    Run("replay synthetic:zipf:tokens=24 --policy random:sinks=0,budget=4 --quiet -o few.db",
        {"few.db": "results"}),
    Run("replay synthetic:zipf:tokens=24 --policy random:sinks=0,budget=4 --seed 2 --quiet "
        "-o few-2.db", {"few-2.db": "results"}),
    Run("compare few.db few-2.db --json few.jsonl", {"few.jsonl": "lines comparison"}, 3),
    Run("compare one.db two.db --json many.jsonl --csv many.csv",
        {"many.jsonl": "lines comparison", "many.csv": "csv comparison-of-files"}, 3),
    # A level at which mere chance is a finding, to see the words.
    Run("compare one.db two.db --margin 0 --level 0.5 --json found.jsonl",
        {"found.jsonl": "lines comparison"}, 3),
    Run("compare two.db one.db --margin 0 --level 0.5 --json found-back.jsonl",
        {"found-back.jsonl": "lines comparison"}, 1),
    Run("compare one.db two.db --margin 10 --json alike.jsonl", {"alike.jsonl": "lines comparison"}, 3),
    Run("compare one.db --margin 0.0001 --against window --json one.jsonl --csv one.csv",
        {"one.jsonl": "lines comparison", "one.csv": "csv texts/MEASURE.csv"}),
    Run("compare one.db --margin 10 --json equal.jsonl", {"equal.jsonl": "lines comparison"}),
    Run("compare one.db --means --json means.jsonl --csv means.csv",
        {"means.jsonl": "lines comparison", "means.csv": "csv means.csv"}),
    Run("compare one.db two.db --layer 0 --json layer.jsonl --csv layer.csv",
        {"layer.jsonl": "lines comparison", "layer.csv": "csv comparison-of-files"}, 3),
    Run("compare one.db --layer 0 --json layer-specs.jsonl --csv layer-specs.csv",
        {"layer-specs.jsonl": "lines comparison", "layer-specs.csv": "csv texts/MEASURE.csv"}),
    Run("compare one.db --means --layer 0 --json layer-means.jsonl --csv layer-means.csv",
        {"layer-means.jsonl": "lines comparison", "layer-means.csv": "csv means.csv"}),
    Run("compare few.db --means --json few-means.jsonl", {"few-means.jsonl": "lines comparison"}),
    Run("compare run.db --measure answer_loss --json items-compared.jsonl",
        {"items-compared.jsonl": "lines comparison"}),
    Run("compare run.db --group story-fact --json group.jsonl --csv group.csv",
        {"group.jsonl": "lines comparison", "group.csv": "csv texts/MEASURE.csv"}),
    Run("compare run.db --group story-fact --means --json group-means.jsonl",
        {"group-means.jsonl": "lines comparison"}),
    Run("compare run.db --json specs.jsonl --csv specs.csv",
        {"specs.jsonl": "lines comparison", "specs.csv": "csv texts/MEASURE.csv"}),

    Run("check reservoir-as-printed:sinks=1,recent=2,budget=8 --json broken.json --junit broken.xml "
        "--record runs.jsonl --quiet",
        {"broken.json": "laws", "broken.xml": "junit", "runs.jsonl": "lines history"}, 1),
    Run("check --exec in/dies --strict --time 1s --filter resident.* --quiet --json died.json "
        "--junit died.xml --record died.jsonl",
        {"died.json": "laws", "died.xml": "junit", "died.jsonl": "lines history"}, 1),
    Run("check --exec in/declares --time 2s --filter survives --quiet --json declares.json "
        "--junit declares.xml --record declares.jsonl",
        {"declares.json": "laws", "declares.xml": "junit", "declares.jsonl": "lines history"}),
    Run("check --exec in/not-there --quiet --junit absent.xml", {"absent.xml": "junit"}, 2),
    Run("judge in/runs.jsonl --json judged.json --junit judged.xml",
        {"judged.json": "laws", "judged.xml": "junit"}),
    Run("judge in/runs.jsonl --declare budget=3 --json misjudged.json --junit misjudged.xml",
        {"misjudged.json": "laws", "misjudged.xml": "junit"}, 1),
    Run("judge in/own.jsonl --trace in/rows.npy --policy h2o --oracle --csv beside.csv",
        {"beside.csv": "csv beside.csv"}),
    Run("uniformity reservoir:%s --tokens 8 --trials 400 --threads 2 --json uniform.json --quiet"
        % RESERVOIR, {"uniform.json": "uniformity"}),
    Run("uniformity reservoir-as-printed:%s --tokens 12 --trials 2000 --threads 2 --json biased.json "
        "--plot biased --quiet" % RESERVOIR, {"biased.json": "uniformity", "biased": "plots"}, 1),
    Run("selftest --filter physical-length-as-count --workers 2 --quiet --json selftest.json "
        "--csv selftest.csv --plot matrix",
        {"selftest.json": "selftest", "selftest.csv": "csv laws/kill-matrix.csv", "matrix": "plots"}),
    Run("policies --json", {"-": "lines policies"}),
    Run("policies h2o:budget=9 @h2o:budget=9 --json", {"-": "lines policies"}),

    Run("record --model in/model --text in/text.txt --tokens 32 --quiet -o whole.safetensors",
        {"whole.safetensors": "trace"}),
    Run("replay whole.safetensors %s --quiet -o all.db" % COMPARED, {"all.db": "results"}),
    Run("eval --model in/model --text in/text.txt --tokens 32 %s --quiet -o all.db" % COMPARED,
        {"all.db": "results"}),
    Run("speed --model in/model --chunk 1 --length 32 --tokens 2 %s --quiet -o all.db" % COMPARED,
        {"all.db": "results"}),
    Run("plot budget run.db --script -o figure.pdf",
        {"figure.pdf": "for people", "figure.gp": "for people",
         "figure.csv": "csv trace-N/budget.csv"}),
    Run("replay %s --policy random:sinks=0,budget=4 --seeds 2 --quiet -o seeds.db" % TEXTS,
        {"seeds.db": "results"}),
    Run("hypotheses in/said.json --json verdicts.jsonl", {"verdicts.jsonl": "lines verdicts"}),
    Run("report run.db -o page --compare all.db --selftest selftest.json --logs logs", {"page": "report"}),
]

# What each option of each verb writes; those that write for people are not tried here.
WRITES = {
    "replay": {"output": "results", "json": "lines", "csv": "csv"},
    "eval": {"output": "results", "json": "lines", "csv": "csv", "markdown": "for people"},
    "speed": {"output": "results", "json": "lines", "csv": "csv"},
    "sweep": {"output": "results"},
    "merge": {"output": "results"},
    "compare": {"json": "lines", "csv": "csv", "markdown": "for people"},
    "hypotheses": {"json": "lines", "markdown": "for people"},
    "check": {"json": "laws", "junit": "junit", "record": "lines"},
    "judge": {"json": "laws", "junit": "junit", "csv": "csv"},
    "uniformity": {"json": "uniformity", "plot": "plots"},
    "selftest": {"json": "selftest", "csv": "csv", "plot": "plots", "markdown": "for people"},
    "tasks": {"output": "lines"},
    "policies": {"json": "lines"},
    "report": {"output": "report"},
    "explore": {"output": "for people"},
    "plot": {"output": "for people"},
    "record": {"output": "trace"},
    "trace": {"json": "lines", "output": "trace"},
    "trace generate": {"planted": "lines", "output": "trace"},
}

# The options whose files are read.
READS = {
    "eval": "text tasks", "record": "text tasks", "report": "compare selftest logs trace",
    "explore": "trace", "trace": "words", "plot": "names",
}

# What a schema says although no run here writes it: a pattern of the sentence, and the reason.
NOT_TRIED = [
    ("^selftest: (properties/idle_laws/items|.defs/accusation)", "it would be a fault of kvcheck"),
    ("^selftest: .defs/mutant/properties/verdict ", "two of the words would be faults of kvcheck"),
    ("^laws: properties/level was never full, nightly$", "these levels take minutes and hours"),
    ("^laws: .defs/law/properties/shown_is ", "a mutant shows it (result_writers_test.cpp)"),
    ("^laws: .defs/law/properties/follows ", "a mutant shows it (followers_test.cpp)"),
    ("^verdicts: .defs/finding/properties/verdict was never not decided$",
     "a law that was not run (tests/cli/hypotheses_test.cpp)"),
    ("^comparison: .defs/spec_means", "one file does not have all measures"),
    ("^history: .defs/contract/properties/[a-z]+ was never", "the words are those of PROTOCOL.md"),
    ("^history: .defs/columns.*(always|keys|key_errors|steps_off|positions)|^history: .*key_positions",
     "caches of tensors and mutants report these (test_tensors.py, recorded_test.cpp)"),
]
