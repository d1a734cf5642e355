"""The inputs of the commands that faults and kills are tried on: small traces, a small model, texts,
and results files of older runs. The same arguments give the same bytes."""

import json
import os
import random
import struct
import subprocess
import zipfile


# A program that answers every line of the protocol with an error.
ANSWERS = """#!/bin/sh
while read -r line; do echo '{"error": "no"}'; done
"""

# In the place of gnuplot, which takes a second for what a report of two heads draws.
# A plan of a sweep, for streams of so many tokens.
PLAN = """{"replay": {"traces": ["synthetic:zipf:tokens=%s", "synthetic:drift:tokens=48"],
 "policies": ["h2o", "random", "reservoir", "tova"], "budgets": [16, 24], "seeds": SEEDS}}
"""

GNUPLOT = """#!/bin/sh
sed -n "s/^set output '\\(.*\\)'$/\\1/p" .figure.gp |
  while read -r name; do echo '<svg xmlns="http://www.w3.org/2000/svg"/>' >"$name"; done
"""


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def npy(heads, tokens):
    """Attention in which every query attends evenly to all tokens up to itself."""
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, %d), }" % (
        heads, tokens, tokens)
    header = header.ljust((len(header) + 11 + 63) // 64 * 64 - 11) + "\n"
    rows = b""
    for query in range(tokens):
        row = [1 / (query + 1) if key <= query else 0 for key in range(tokens)]
        rows += struct.pack("<%df" % tokens, *row)
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + rows * heads


def tokenizer():
    """A byte-level BPE of 258 tokens: every byte, then two merges."""
    printed = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {byte: chr(byte) for byte in printed}
    for byte in range(256):
        letters.setdefault(byte, chr(256 + len(letters) - len(printed)))
    words = [letters[byte] for byte in range(256)] + ["ab", "abc"]
    return json.dumps({"model": {"type": "BPE", "vocab": {word: i for i, word in enumerate(words)},
                                 "merges": ["a b", "ab c"]},
                       "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
                       "decoder": {"type": "ByteLevel"}})


def model(folder, width, layers, context):
    """A llama with random weights that reads the tokenizer's 258 tokens."""
    inner = width * 2
    config = {"model_type": "llama", "hidden_size": width, "intermediate_size": inner,
              "num_hidden_layers": layers, "num_attention_heads": 2, "num_key_value_heads": 1,
              "vocab_size": 258, "rms_norm_eps": 1e-5, "max_position_embeddings": context,
              "rope_theta": 10000.0, "hidden_act": "silu", "bos_token_id": 0, "eos_token_id": 257,
              "tie_word_embeddings": True}
    shapes = {"model.embed_tokens.weight": [258, width], "model.norm.weight": [width]}
    for layer in range(layers):
        at = "model.layers.%d." % layer
        for name in ("input_layernorm", "post_attention_layernorm"):
            shapes[at + name + ".weight"] = [width]
        for name, rows in (("q", width), ("k", width // 2), ("v", width // 2), ("o", width)):
            shapes[at + "self_attn.%s_proj.weight" % name] = [rows, width]
        for name, shape in (("gate", [inner, width]), ("up", [inner, width]),
                            ("down", [width, inner])):
            shapes[at + "mlp.%s_proj.weight" % name] = shape
    draw = random.Random(1)
    header, data = {}, b""
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        numbers = struct.pack("<%df" % count, *[draw.uniform(-0.4, 0.4) for _ in range(count)])
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header)
    text = text.ljust((len(text) + 7) // 8 * 8)
    write(folder + "/config.json", json.dumps(config))
    write(folder + "/model.safetensors", struct.pack("<Q", len(text)) + text.encode() + data)
    write(folder + "/tokenizer.json", tokenizer())


def text(words):
    draw = random.Random(2)
    return " ".join(draw.choice(["abc", "ab", "one", "two", "cab"]) for _ in range(words)) + "."


def run(program, folder, *arguments):
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit("cannot make the inputs: %s: %s" % (" ".join(arguments), done.stderr))


def first_runs(path, most):
    """The lines of the first recorded runs of a file; each begins with what the cache declares."""
    lines, begun = [], 0
    with open(path) as file:
        for line in file:
            begun += line.startswith('{"kvcheck_history"')
            if begun > most:
                break
            lines.append(line)
    return "".join(lines)


def make(program, folder):
    """Fills the folder for the commands of faults.py."""
    write(folder + "/rows.npy", npy(2, 8))
    with zipfile.ZipFile(folder + "/rows.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("attention.npy", npy(2, 8))
    write(folder + "/text.txt", text(20))
    write(folder + "/old.txt", "an older file\n")
    write(folder + "/plan.json", PLAN.replace("SEEDS", "2") % "32")
    for number, name in ((1, "one"), (2, "two")):
        run(program, folder, "sweep", "plan.json", "--shard", "%d/2" % number, "--quiet", "-o",
            name + ".db")
    run(program, folder, "tasks", "needle", "--items", "2", "--length", "20", "--depth", "0,1",
        "-o", "items.jsonl")
    run(program, folder, "check", "window:budget=4", "--filter", "resident.recent", "--quiet",
        "--record", "all.jsonl")
    write(folder + "/runs.jsonl", first_runs(folder + "/all.jsonl", 3))
    os.remove(folder + "/all.jsonl")
    write(folder + "/answers", ANSWERS)
    write(folder + "/bin/gnuplot", GNUPLOT)
    for script in ("/answers", "/bin/gnuplot"):
        os.chmod(folder + script, 0o755)
    model(folder + "/model", 8, 1, 64)
    generate = ["trace", "generate", "zipf", "--tokens", "12", "--heads", "2"]
    run(program, folder, *generate, "-o", "trace.safetensors")
    run(program, folder, *generate, "--kind", "qkv", "-o", "qkv.safetensors")
    run(program, folder, "replay", "rows.npy", "--policy", "window", "--budget", "4",
        "-o", "old.db", "--quiet")
    condition = {"results": "in/old.db", "measure": "retained_mass", "of": "window", "mean": {"above": 0}}
    write(folder + "/said.json",
          json.dumps({"hypotheses": [{"hypothesis": "It is so.", "conditions": [condition]}]}))

