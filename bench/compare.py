"""Runs the benchmarks and prints Markdown tables of ratios: against the rate at which the same bytes are read,
against NumPy, and against llama.cpp, ik_llama.cpp and llama2.c where their programs are given.

Usage: compare.py PROGRAM KVCHECK [--runs N] [--write FILE] [--models FOLDER] [--llama-bench P ...] [--llama2 P]
       [--ggml NAME=LIBRARY ...]
(./dev bench --compare runs it with what it built)

--runs measures everything so often, and prints from the least to the most. --write puts the tables into
FILE, between the lines that mark them. --models has the model files of random_model.py, which are made if they
are not there; without it no whole model is measured. --ggml is the library libggml.so of llama.cpp or
ik_llama.cpp, whose attention is measured beside ours.
"""
import argparse
import ctypes
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import commands
import compare_tables
import numpy_loops
import peers
import random_model

WORK = "read bound|rows/|attention/|qkv/|BM_read|BM_decode|BM_product|BM_quantised|BM_decisions|BM_uniformity|targets/"
BEGIN, END = "<!-- The tables of ./dev bench --compare begin here. -->", "<!-- They end here. -->"


def results_of(program, pattern, min_time, libraries=()):
    """What kvcheck_bench reports of each benchmark that the pattern finds. Libraries are "NAME=FILE"."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([program, f"--benchmark_min_time={min_time}", f"--benchmark_filter={pattern}",
                        f"--benchmark_out={out.name}", "--benchmark_out_format=json"], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "KVCHECK_BENCH_GGML": ";".join(libraries)})
        text = out.read()
    return json.loads(text)["benchmarks"] if text else []  # no benchmark was found


def benchmarks(options):
    """Every number of kvcheck_bench, as "benchmark counter"."""
    found = {}
    for one in results_of(options.program, WORK, options.min_time, options.ggml):
        name = re.sub("/(real_time|manual_time|iterations:[0-9]+)", "", one["name"])
        found.update({f"{name} {key}": value for key, value in one.items() if isinstance(value, float)})
    return found


def of_commands(kvcheck):
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        shares, found["all policies"] = commands.policy_shares(kvcheck, commands.shared_trace(kvcheck, folder))
        found.update({f"share {name}": share for name, share in shares})
    for tokens in (2048, 4096, 8192):
        found[f"oracle {tokens} s"], found[f"oracle {tokens} MiB"] = commands.oracle_seconds(kvcheck, tokens)
    for tokens in (16384, 32768):
        found[f"rows {tokens} s"], found[f"rows {tokens} MiB"] = commands.long_replay(kvcheck, tokens)
    found["sampled s"], found["sampled MiB"] = commands.sampled_replay(kvcheck, 32768, 64)
    found["file s"] = commands.file_replay(kvcheck)
    for budget in (256, 4096):
        found[f"chao {budget} s"] = commands.chao_replay(kvcheck, budget)
    return found


def of_models(options):
    found = {}
    for kind in ("f32", "f16"):
        model = f"{options.models}/{kind}.gguf"
        found[f"{kind} bytes"] = float(os.path.getsize(model))
        for threads in (1, 2):
            for name, what, value in peers.medians(options, model, threads):
                found[f"model {kind} {threads} {name} {what}"] = value
    for weights in ("int8", "nf4"):
        found[f"weights {weights} s"], found[f"weights {weights} bytes"] = peers.quantised(
            options.kvcheck, f"{options.models}/f16.gguf", weights, options.tokens)
    return found


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        found = dict(line.split(":", 1) for line in lines if ":" in line)
    found = {key.strip(): value.strip() for key, value in found.items()}
    return (f"{found.get('model name', 'unknown processor')}, family {found.get('cpu family', '?')}, "
            f"model {found.get('model', '?')}, {os.cpu_count()} cores, {last_cache()} of the last cache")


def last_cache():
    """The size of the largest cache that a core reads through; "?" if the system does not say."""
    sizes = []
    for path in glob.glob("/sys/devices/system/cpu/cpu0/cache/index*/size"):
        with open(path, encoding="utf-8") as file:
            sizes.append(int(file.read().strip().rstrip("K")))
    return f"{max(sizes) // 1024} MiB" if sizes else "?"


def commit():
    """The commit of the sources, and whether any but the page with the tables was changed since."""
    def git(*words):
        done = subprocess.run(["git", "-C", os.path.dirname(os.path.abspath(__file__)), *words], capture_output=True,
                              text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    name = git("rev-parse", "--short=8", "HEAD")
    changed = git("status", "--porcelain", "--untracked-files=no", "--", "..", ":!README.md")
    return (name or "unknown") + (", changed" if changed else "")


def measured(options, name):
    load = os.getloadavg()[0]

    def say(what):
        print(f"compare.py: {name}: {what}", file=sys.stderr, flush=True)

    say("benchmarks")
    found = benchmarks(options)
    say("NumPy")
    found.update({f"numpy {name}": rate for name, rate in numpy_loops.rates().items()})
    say("commands, of which the optimum of 8,192 tokens takes more than a minute")
    found.update(of_commands(options.kvcheck))
    if options.models:
        say("models")
        found.update(of_models(options))
    found["load"] = load
    return found


def written_parts(path, page):
    """What stands before the tables, and after them."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"compare.py: '{path}' has no lines that mark the tables; expected '{BEGIN}' and '{END}'")
    return before, after


def written(path, text):
    with open(path, encoding="utf-8") as file:
        before, after = written_parts(path, file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n\n{text}\n{END}{after}")


MODELS = ("f32.gguf", "f16.gguf", "model.bin", "tokenizer.bin")


def check_library(given):
    """That the benchmark can call it: otherwise its tables would lack a column without a word."""
    name, equals, file = given.partition("=")
    if not name or not equals or ";" in given or name in ("read", "rows"):
        sys.exit(f"compare.py: --ggml '{given}': expected NAME=LIBRARY, without ';', and another name than read and rows")
    if not os.path.isabs(file):
        sys.exit(f"compare.py: --ggml '{given}': expected the whole path of the library")
    try:
        library = ctypes.CDLL(file)
        _ = library.ggml_mul_mat, library.ggml_backend_cpu_init
    except (OSError, AttributeError) as error:
        sys.exit(f"compare.py: --ggml '{given}' is no library of ggml: {error}")


def check(options):
    """What would end the measurement late ends it at once: a program or a model that is not there, a page without
    marks. Makes the models if the folder has none of them."""
    for program in (options.program, options.kvcheck, *options.llama_bench, *options.llama2):
        if not os.path.isfile(program) or not os.access(program, os.X_OK):
            sys.exit(f"compare.py: '{program}' is no program that can be run")
    for library in options.ggml:
        check_library(library)
    if options.write:
        try:
            with open(options.write, "r+", encoding="utf-8") as file:
                page = file.read()
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or error
            sys.exit(f"compare.py: --write '{options.write}' cannot be read and written: {why}")
        written_parts(options.write, page)
    if not options.models:
        return
    if not os.path.isdir(options.models):
        if os.path.exists(options.models):
            sys.exit(f"compare.py: --models '{options.models}' is no folder")
        try:
            os.makedirs(options.models)
        except OSError as error:
            sys.exit(f"compare.py: --models '{options.models}' cannot be made: {error.strerror}")
    there = [name for name in MODELS if os.path.exists(f"{options.models}/{name}")]
    if not there:
        random_model.main(options.models, 12)
    elif len(there) < len(MODELS):
        sys.exit(f"compare.py: '{options.models}' has {' and '.join(there)} of {', '.join(MODELS)}; expected all that "
                 "random_model.py makes, or none")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("kvcheck")
    parser.add_argument("--runs", type=peers.at_least_one, default=1)
    parser.add_argument("--write", default="")
    parser.add_argument("--min-time", type=peers.seconds, default=0.5, help="seconds of each benchmark")
    parser.add_argument("--models", default="")
    parser.add_argument("--ggml", action="append", default=[], metavar="NAME=LIBRARY",
                        help="libggml.so of llama.cpp or ik_llama.cpp, and what tables call it")
    peers.add_arguments(parser)
    options = parser.parse_args()
    check(options)
    runs = []
    for number in range(1, options.runs + 1):
        runs.append(measured(options, f"run {number} of {options.runs}"))
    text = compare_tables.page(processor(), commit(), runs)
    print(text)
    if options.write:
        written(options.write, text)


if __name__ == "__main__":
    main()
