"""Independent forward passes in double precision, written with NumPy from the papers (GPT-NeoX,
GPT-2) and from public sources (reference_families.py).

Arguments: a model directory (config.json, model.safetensors in F32), then any number of pairs of a
folder and a bound. The test wrote the folders (tokens.txt; visible.txt, one line "layer head query
position..." per query; positions.txt with "absolute" or "in-cache"; logits.bin, f32). Every query
runs over all keys under the mask of what it saw. Exits with 1 and says by how much the logits
differ when the largest difference exceeds a bound. A pair whose bound is 0 is printed, not judged.
"""
import json
import math
import struct
import sys

import numpy as np

from reference_families import families


def read_tensors(path):
    data = open(path, "rb").read()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        raw = np.frombuffer(data[8 + length + begin:8 + length + end], dtype="<f4")
        tensors[name] = raw.astype(np.float64).reshape(entry["shape"])
    return tensors


def layer_norm(x, gain, shift, eps):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt(np.mean(centred ** 2, axis=-1, keepdims=True) + eps) * gain + shift


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def rotate(x, positions, dims, theta):
    """Rotates the first `dims` numbers of each row as complex numbers (i, i + dims / 2)."""
    half = dims // 2
    if half == 0:
        return x
    frequencies = theta ** (-2.0 * np.arange(half) / dims)
    z = (x[:, :half] + 1j * x[:, half:dims]) * np.exp(1j * np.outer(positions, frequencies))
    return np.concatenate([z.real, z.imag, x[:, dims:]], axis=1)


class Attention:
    def __init__(self, visible, in_cache, rope, scale=None):
        self.visible, self.in_cache, self.rope = visible, in_cache, rope
        self.scale = scale or (lambda layer, dim: 1 / math.sqrt(dim))

    def __call__(self, layer, q, k, v):
        """q [tokens, heads, dim], k and v [tokens, kv_heads, dim]."""
        tokens, heads, dim = q.shape
        group = heads // k.shape[1]
        out = np.zeros_like(q)
        for head in range(heads):
            for t in range(tokens):
                seen = self.visible[layer, head, t]
                at = {p: (i if self.in_cache else p) for i, p in enumerate(seen)}
                keys = rotate(k[seen, head // group], [at[p] for p in seen], *self.rope)
                logits = keys @ rotate(q[t:t + 1, head], [at[t]], *self.rope)[0]
                logits = logits * self.scale(layer, dim)
                weights = np.exp(logits - logits.max())
                out[t, head] = weights / weights.sum() @ v[seen, head // group]
        return out.reshape(tokens, heads * dim)


def gpt_neox(config, w, x, attend):
    heads, eps = config["num_attention_heads"], config["layer_norm_eps"]
    dim = config["hidden_size"] // heads

    def norm(name, y):
        return layer_norm(y, w[name + ".weight"], w[name + ".bias"], eps)

    def linear(name, y):
        return y @ w[name + ".weight"].T + w[name + ".bias"]

    for layer in range(config["num_hidden_layers"]):
        at = f"gpt_neox.layers.{layer}."
        fused = linear(at + "attention.query_key_value", norm(at + "input_layernorm", x))
        fused = fused.reshape(len(x), heads, 3, dim)
        a = attend(layer, fused[:, :, 0], fused[:, :, 1], fused[:, :, 2])
        a = linear(at + "attention.dense", a)
        y = x if config["use_parallel_residual"] else x + a
        h = gelu(linear(at + "mlp.dense_h_to_4h", norm(at + "post_attention_layernorm", y)))
        x = x + a + linear(at + "mlp.dense_4h_to_h", h)
    return norm("gpt_neox.final_layer_norm", x) @ w["embed_out.weight"].T


def gpt2(config, w, x, attend):
    heads, eps = config["n_head"], config["layer_norm_epsilon"]

    def norm(name, y):
        return layer_norm(y, w[name + ".weight"], w[name + ".bias"], eps)

    def linear(name, y):
        return y @ w[name + ".weight"] + w[name + ".bias"]

    for layer in range(config["n_layer"]):
        at = f"h.{layer}."
        q, k, v = np.split(linear(at + "attn.c_attn", norm(at + "ln_1", x)), 3, axis=-1)
        shape = (len(x), heads, config["n_embd"] // heads)
        a = attend(layer, q.reshape(shape), k.reshape(shape), v.reshape(shape))
        x = x + linear(at + "attn.c_proj", a)
        x = x + linear(at + "mlp.c_proj", gelu_tanh(linear(at + "mlp.c_fc", norm(at + "ln_2", x))))
    return norm("ln_f", x) @ w["wte.weight"].T


def gpt2_scale(config):
    """GPT2Attention: scale_attn_weights and scale_attn_by_inverse_layer_idx."""
    def scale(layer, dim):
        value = dim ** -0.5 if config.get("scale_attn_weights", True) else 1.0
        return value / (layer + 1) if config.get("scale_attn_by_inverse_layer_idx") else value
    return scale


def run(config, w, tokens, visible, in_cache):
    kind = config["model_type"]
    if kind == "gpt2":
        ranks = [len(visible[0, 0, t]) - 1 if in_cache else t for t in range(len(tokens))]
        x = w["wte.weight"][tokens] + w["wpe.weight"][ranks]
        return gpt2(config, w, x, Attention(visible, in_cache, (0, 1.0), gpt2_scale(config)))
    if kind == "gpt_neox":
        dims = int(config["hidden_size"] // config["num_attention_heads"] * config["rotary_pct"])
        rope = (dims, float(config["rotary_emb_base"]))
        return gpt_neox(config, w, w["gpt_neox.embed_in.weight"][tokens],
                        Attention(visible, in_cache, rope))
    reach = max(map(len, visible.values())) if in_cache else len(tokens)
    return families[kind](config, w, tokens,
                          {"visible": visible, "in_cache": in_cache, "length": reach})


def check(config, weights, case, bound):
    tokens = [int(word) for word in open(case + "/tokens.txt").read().split()]
    visible = {}
    for line in open(case + "/visible.txt"):
        layer, head, query, *seen = map(int, line.split())
        visible[layer, head, query] = seen
    in_cache = open(case + "/positions.txt").read().strip() == "in-cache"
    expected = run(config, weights, tokens, visible, in_cache)
    found = np.fromfile(case + "/logits.bin", dtype="<f4").reshape(expected.shape)
    worst = np.abs(found - expected).max() / np.abs(expected).max()
    if bound == 0:
        print(f"{config['model_type']}, {case}: {worst:.3g}")
    if worst <= bound or bound == 0:
        return True
    print(f"{config['model_type']}, {case}: logits differ by {worst:.3g} of the largest; "
          f"expected at most {bound:.3g}", file=sys.stderr)
    return False


def main():
    model = sys.argv[1]
    config = json.load(open(model + "/config.json"))
    weights = read_tensors(model + "/model.safetensors")
    cases = zip(sys.argv[2::2], map(float, sys.argv[3::2]))
    if not all([check(config, weights, case, bound) for case, bound in cases]):
        sys.exit(1)


if __name__ == "__main__":
    main()
