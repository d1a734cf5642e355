"""Times llama.cpp, ik_llama.cpp or llama2.c beside kvcheck on the same model file, and prints their speeds as a
Markdown table of ratios. Nothing is built or downloaded: it runs what it is given.

Usage:
  peers.py KVCHECK MODEL.gguf --llama-bench PROGRAM [--llama-bench PROGRAM ...]
  peers.py KVCHECK MODEL.bin --llama2 PROGRAM

llama-bench is that of llama.cpp, or of ik_llama.cpp. llama2 is `run` of llama2.c, which reads no prompt in
chunks, so that only its decoding is compared. The programs run in turns, and medians are printed.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys


def fail(why):
    print(f"peers.py: {why}", file=sys.stderr)
    sys.exit(2)


def run(words, environment=None):
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False,
                              env={**os.environ, **(environment or {})})
    except OSError as error:
        fail(f"cannot run '{words[0]}': {error.strerror}")
    if done.returncode:
        fail(f"'{words[0]}' ended with status {done.returncode}: {done.stderr.strip()[-400:]}")
    return done


def json_of(text, words):
    try:
        return json.loads(text)
    except ValueError:
        fail(f"'{words[0]}' printed no JSON: {text.strip()[:100]!r}")


def kvcheck(options, threads):
    """(tokens/s of the prompt, tokens/s after it). The context of the first decoded token is the prompt, while
    llama-bench begins at an empty one, so each is measured by a run of its own."""
    words = [options.kvcheck, "speed", "--model", options.model, "--policy", "dense", "--chunk", "64",
             "--threads", str(threads), "--storage", "f16", "--quiet", "--json", "-"]
    prompt = json_of(run(words + ["--length", str(options.prompt), "--tokens", "1"]).stdout, words)
    decode = json_of(run(words + ["--length", "1", "--tokens", str(options.tokens)]).stdout, words)
    return options.prompt / prompt["first_token_s"], 1 / decode["token_s"]


def llama_bench(program, options, threads):
    words = [program, "-m", options.model, "-p", str(options.prompt), "-n", str(options.tokens),
             "-t", str(threads), "-r", "1", "-fa", "1", "-o", "json"]
    found = json_of(run(words).stdout, words)
    speed = {"prompt" if test["n_gen"] == 0 else "decode": test["avg_ts"] for test in found}
    return speed["prompt"], speed["decode"]


def llama2(program, options, threads):
    done = run([program, options.model, "-t", "0", "-n", str(options.tokens + 1)],
               {"OMP_NUM_THREADS": str(threads)})
    found = re.search(r"achieved tok/s: ([0-9.]+)", done.stderr)
    if not found:
        fail(f"'{program}' printed no 'achieved tok/s'")
    return None, float(found[1])


def names_of(programs):
    """The shortest ends of the paths that tell them apart."""
    parts = [os.path.abspath(program).split(os.sep) for program in programs]
    for length in range(1, max(len(part) for part in parts) + 1):
        names = [os.sep.join(part[-length:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return programs


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("Usage:")[1].split("\n\n")[0])
    parser.add_argument("kvcheck")
    parser.add_argument("model")
    parser.add_argument("--llama-bench", action="append", default=[])
    parser.add_argument("--llama2", action="append", default=[])
    parser.add_argument("--prompt", type=int, default=512, help="tokens of the prompt")
    parser.add_argument("--tokens", type=int, default=64, help="tokens that are decoded")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--threads", default="1,2")
    options = parser.parse_args()
    peers = [(llama_bench, program) for program in options.llama_bench]
    peers += [(llama2, program) for program in options.llama2]
    if not peers:
        parser.error("name a peer by --llama-bench or --llama2")
    names = names_of([program for _, program in peers])
    print("| threads | program | prompt, tokens/s | kvcheck : it | decode, tokens/s | kvcheck : it |\n"
          "|---|---|---|---|---|---|")
    for threads in map(int, options.threads.split(",")):
        rounds = [[kvcheck(options, threads)] + [peer(program, options, threads) for peer, program in peers]
                  for _ in range(options.rounds)]
        for at, name in enumerate(["kvcheck"] + names):
            cells = []
            for what in (0, 1):
                speeds = [found[at][what] for found in rounds]
                if None in speeds:
                    cells += ["", ""]
                    continue
                ratio = statistics.median(found[0][what] / found[at][what] for found in rounds)
                cells += [f"{statistics.median(speeds):.1f}", f"{ratio:.2f}"]
            print(f"| {threads} | {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
