"""Scores of a prompt's rows while a model repeats it, in double precision, written with NumPy from
arXiv:2505.23416.

Arguments: the directory of a llama (config.json, model.safetensors in F32), a folder that the test
wrote, and a bound. The folder has prompt.txt and request.txt (tokens), sizes.txt (sinks and the
tokens of a pass) and scores.txt (a line per layer and kv head, a number per token of the prompt).
Exits with 1 if a score differs by more than the bound.

The softmax behind a score is computed from the logits of the sinks, of the rows that a pass repeats
and of the pass itself; the model goes on with the softmax over all rows.
"""
import json
import sys

import numpy as np

from reference_families import linear, rms_norm, silu, sizes, split
from reference_model import read_tensors
from reference_rope import rope_table, rotate


def numbers(path):
    return [int(word) for word in open(path).read().split()]


def softmax(logits):
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def pass_scores(config, w, tokens, stored, repeated):
    """[layers, kv heads, repeated rows]: the largest share that the tokens from `stored` on paid."""
    heads, kv_heads, dim = sizes(config)
    table = rope_table(config, dim, config.get("rope_theta", 1e4), len(tokens))
    sinks, first, last = repeated
    best = np.zeros((config["num_hidden_layers"], kv_heads, last - first))
    x = w["model.embed_tokens.weight"][tokens]
    places = list(range(len(tokens)))
    for i in range(config["num_hidden_layers"]):
        at = f"model.layers.{i}."
        h = rms_norm(x, w[at + "input_layernorm.weight"], config["rms_norm_eps"])
        q = split(linear(w, at + "self_attn.q_proj", h), heads)
        k = split(linear(w, at + "self_attn.k_proj", h), kv_heads)
        v = split(linear(w, at + "self_attn.v_proj", h), kv_heads)
        a = np.zeros_like(q)
        for head in range(heads):
            group = head // (heads // kv_heads)
            keys = rotate(k[:, group], places, table)
            logits = rotate(q[:, head], places, table) @ keys.T * dim ** -0.5
            for t in range(len(tokens)):
                a[t, head] = softmax(logits[t, :t + 1]) @ v[:t + 1, group]
                if t < stored:
                    continue
                rows = [*range(sinks), *range(first, last), *range(stored, t + 1)]
                shares = softmax(logits[t, rows])[sinks:sinks + last - first]
                best[i, group] = np.maximum(best[i, group], shares)
        x = x + linear(w, at + "self_attn.o_proj", a.reshape(len(tokens), -1))
        h = rms_norm(x, w[at + "post_attention_layernorm.weight"], config["rms_norm_eps"])
        gate = silu(linear(w, at + "mlp.gate_proj", h))
        x = x + linear(w, at + "mlp.down_proj", gate * linear(w, at + "mlp.up_proj", h))
    return best


def scores(config, w, prompt, request, sinks, length):
    parts = []
    for first in range(sinks, len(prompt), length):
        last = min(first + length, len(prompt))
        before = [] if first == sinks else prompt[max(sinks, first - 8):first]
        tokens = prompt + request + before + prompt[first:last]
        parts.append(pass_scores(config, w, tokens, len(prompt), (sinks, first, last)))
    return np.concatenate(parts, axis=2)


def main():
    model, folder, bound = sys.argv[1], sys.argv[2], float(sys.argv[3])
    config = json.load(open(model + "/config.json"))
    prompt = numbers(folder + "/prompt.txt")
    sinks, length = numbers(folder + "/sizes.txt")
    expected = scores(config, read_tensors(model + "/model.safetensors"), prompt,
                      numbers(folder + "/request.txt"), sinks, length)
    found = np.loadtxt(folder + "/scores.txt").reshape(expected.shape[0], expected.shape[1], -1)
    worst = np.abs(found[:, :, sinks:] - expected).max()
    if worst > bound:
        print(f"scores differ by {worst:.3g}; expected at most {bound:.3g}", file=sys.stderr)
        sys.exit(1)


main()
