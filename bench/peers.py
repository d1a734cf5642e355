"""Times llama.cpp, ik_llama.cpp or llama2.c beside kvcheck on the same model, and prints their speeds as a
Markdown table of ratios. Nothing is built or downloaded: it runs what it is given. random_model.py makes a model.

Usage:
  peers.py KVCHECK MODEL.gguf --llama-bench PROGRAM [--llama-bench PROGRAM ...]
  peers.py KVCHECK MODEL.bin --llama2 PROGRAM

llama-bench is that of llama.cpp, or of ik_llama.cpp. llama2 is `run` of llama2.c, which reads no prompt in
chunks, so that only its decoding is compared. Speeds of decoding are tokens by the time of all of them, of every
program, and each program runs once without being timed first: kvcheck and llama-bench by themselves, and llama2
does not count its first token. The programs run in turns, and medians over the rounds are printed.
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
        done = subprocess.run(words, capture_output=True, text=True, check=False, errors="replace",
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


def speed(kvcheck, model, threads, length, tokens, *more):
    words = [kvcheck, "speed", "--model", model, "--policy", "dense", "--chunk", "128", "--threads", str(threads),
             "--storage", "f16", "--quiet", "--length", str(length), "--tokens", str(tokens), *more,
             "--json", "-"]
    return json_of(run(words).stdout, words)


def ours(options, model, threads):
    """(tokens/s of the prompt, tokens/s after it). The context of the first decoded token is the prompt, while
    llama-bench begins at an empty one, so each is measured by a run of its own."""
    prompt = speed(options.kvcheck, model, threads, options.prompt, 1)
    decode = speed(options.kvcheck, model, threads, 1, options.tokens)
    return options.prompt / prompt["first_token_s"], 1 / decode["mean_token_s"]


def quantised(kvcheck, model, weights, tokens):
    """(seconds a token, bytes of weights) of the model with its weights in codes."""
    found = speed(kvcheck, model, 1, 1, tokens, "--weights", weights)
    return found["mean_token_s"], float(found["weight_bytes"])


def llama_bench(program, options, model, threads):
    words = [program, "-m", model, "-p", str(options.prompt), "-n", str(options.tokens),
             "-t", str(threads), "-r", "1", "-fa", "1", "-o", "json"]
    found = json_of(run(words).stdout, words)
    rates = {"prompt" if test["n_gen"] == 0 else "decode": test["avg_ts"] for test in found}
    return rates["prompt"], rates["decode"]


def llama2(program, options, model, threads):
    tokenizer = os.path.join(os.path.dirname(model), "tokenizer.bin")
    words = [program, model, "-t", "0", "-n", str(options.tokens + 1)]
    done = run(words + (["-z", tokenizer] if os.path.exists(tokenizer) else []),
               {"OMP_NUM_THREADS": str(threads)})
    found = re.search(r"achieved tok/s: ([0-9.]+)", done.stderr)
    if not found:
        fail(f"'{program}' printed no 'achieved tok/s'")
    return None, float(found[1])


def names_of(programs):
    """For each program the shortest end of its path that no other has, so that a table shows no more of the machine
    than tells them apart. A program that is given twice keeps its name as it was given."""
    paths = [os.path.abspath(program).split(os.sep) for program in programs]

    def name_of(program, path):
        for length in range(1, len(path) + 1):
            if sum(other[-length:] == path[-length:] for other in paths) == 1:
                return os.sep.join(path[-length:])
        return program

    return [name_of(program, path) for program, path in zip(programs, paths)]


def at_least_one(text):
    """A number of an option."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 1 on")
    return int(text)


def seconds(text):
    """A time of an option, above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds above 0")
    return number


def add_arguments(parser):
    parser.add_argument("--llama-bench", action="append", default=[])
    parser.add_argument("--llama2", action="append", default=[])
    parser.add_argument("--prompt", type=at_least_one, default=512, help="tokens of the prompt")
    parser.add_argument("--tokens", type=at_least_one, default=64, help="tokens that are decoded")
    parser.add_argument("--rounds", type=at_least_one, default=4)


def file_for(peer, model):
    """The file in which a peer finds the model; empty if it cannot read such numbers. Of random_model.py's
    folder llama2.c reads a file of its own."""
    folder, name = os.path.split(model)
    if peer is llama2 and name in ("f32.gguf", "f16.gguf"):
        return os.path.join(folder, "model.bin") if name == "f32.gguf" else ""
    return model


def rounds_of(options, model, threads):
    """(name, [(prompt, decode) of each round]) of kvcheck, then of the peers that read such a model."""
    given = [(llama_bench, program) for program in options.llama_bench]
    given += [(llama2, program) for program in options.llama2]
    peers = [(peer, program, file_for(peer, model)) for peer, program in given if file_for(peer, model)]
    names = ["kvcheck", *names_of([program for _, program, _ in peers])] if peers else ["kvcheck"]
    found = [[ours(options, model, threads)] + [peer(program, options, file, threads)
                                                for peer, program, file in peers]
             for _ in range(options.rounds)]
    return [(name, [one[at] for one in found]) for at, name in enumerate(names)]


def medians(options, model, threads):
    """(name, "prompt" or "decode", median of the tokens/s), and of peers also (name, "... ratio", ...), the median
    of kvcheck's speed by theirs."""
    result = []
    rounds = rounds_of(options, model, threads)
    for name, speeds in rounds:
        for at, what in enumerate(("prompt", "decode")):
            if speeds[0][at] is None:
                continue
            result.append((name, what, statistics.median(one[at] for one in speeds)))
            if name != "kvcheck":
                result.append((name, what + " ratio", statistics.median(
                    mine[at] / one[at] for mine, one in zip(rounds[0][1], speeds))))
    return result


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("Usage:")[1].split("\n\n")[0])
    parser.add_argument("kvcheck")
    parser.add_argument("model")
    parser.add_argument("--threads", type=lambda text: [at_least_one(part) for part in text.split(",")], default=[1, 2])
    add_arguments(parser)
    options = parser.parse_args()
    if not options.llama_bench and not options.llama2:
        parser.error("name a peer by --llama-bench or --llama2")
    for path in (options.kvcheck, options.model, *options.llama_bench, *options.llama2):
        if not os.path.isfile(path):
            fail(f"there is no file '{path}'")
    print("| threads | program | prompt, tokens/s | kvcheck : it | decode, tokens/s | kvcheck : it |\n"
          "|---|---|---|---|---|---|")
    for threads in options.threads:
        found = {(name, what): value for name, what, value in medians(options, options.model, threads)}
        for name in dict.fromkeys(name for name, _ in found):
            cells = []
            for what in ("prompt", "decode"):
                value, ratio = found.get((name, what)), found.get((name, what + " ratio"))
                cells += [f"{value:.1f}" if value else "", f"{ratio:.2f}" if ratio else ""]
            print(f"| {threads} | {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
