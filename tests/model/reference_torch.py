"""A second independent forward pass, dense only, on PyTorch's own operations.

Arguments: a model (a directory with config.json and model.safetensors, or a llama2.c checkpoint), a
file of tokens, a file of their logits (f32), and the largest difference allowed, as a share of the
largest logit. Where reference_model.py spells every formula out, this one takes PyTorch's word for
norms, activations, softmax and products. Exits with 1 and says by how much the logits differ.
"""
import json
import struct
import sys

import numpy as np
import torch
import torch.nn.functional as F

TYPES = {"F32": torch.float32, "F16": torch.float16}


def read_safetensors(path):
    data = bytearray(open(path, "rb").read())
    length = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8:8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        flat = torch.frombuffer(data[begin:end], dtype=TYPES[entry["dtype"]])
        tensors[name] = flat.double().reshape(entry["shape"])
    return tensors


def read_llama2c(path):
    """A llama2.c checkpoint under the names that a Hugging Face directory would use."""
    data = open(path, "rb").read()
    dim, inner, layers, heads, kv_heads, vocabulary, context = struct.unpack("<7i", data[:28])
    flat = torch.frombuffer(bytearray(data[28:]), dtype=torch.float32).double()
    at = 0

    def take(*shape):
        nonlocal at
        count = int(np.prod(shape))
        at += count
        return flat[at - count:at].reshape(shape)

    kv_dim = dim // heads * kv_heads
    w = {"model.embed_tokens.weight": take(abs(vocabulary), dim)}
    for name, shape in [("input_layernorm", (dim,)), ("self_attn.q_proj", (dim, dim)),
                        ("self_attn.k_proj", (kv_dim, dim)), ("self_attn.v_proj", (kv_dim, dim)),
                        ("self_attn.o_proj", (dim, dim)), ("post_attention_layernorm", (dim,)),
                        ("mlp.gate_proj", (inner, dim)), ("mlp.down_proj", (dim, inner)),
                        ("mlp.up_proj", (inner, dim))]:
        for layer, part in enumerate(take(layers, *shape)):
            w[f"model.layers.{layer}.{name}.weight"] = part
    w["model.norm.weight"] = take(dim)
    take(2, context, dim // heads // 2)
    tied = vocabulary > 0
    if not tied:
        w["lm_head.weight"] = take(-vocabulary, dim)
    return {"model_type": "llama", "hidden_size": dim, "num_attention_heads": heads,
            "num_key_value_heads": kv_heads, "num_hidden_layers": layers, "rms_norm_eps": 1e-5,
            "rope_theta": 10000.0, "tie_word_embeddings": tied, "adjacent_pairs": True}, w


def rotated(x, dims, base, adjacent):
    """x [heads, tokens, dim]: pairs of the first `dims` numbers, rotated by their position."""
    pairs = x[..., :dims].unflatten(-1, (dims // 2, 2) if adjacent else (2, dims // 2))
    pairs = pairs if adjacent else pairs.transpose(-1, -2)
    rate = base ** (-torch.arange(0, dims, 2, dtype=torch.float64) / dims)
    angle = torch.outer(torch.arange(x.shape[1], dtype=torch.float64), rate)
    z = torch.view_as_complex(pairs.contiguous()) * torch.polar(torch.ones_like(angle), angle)
    pairs = torch.view_as_real(z)
    pairs = pairs if adjacent else pairs.transpose(-1, -2)
    return torch.cat([pairs.flatten(-2), x[..., dims:]], -1)


def attend(q, k, v):
    """[heads, tokens, dim] each, keys and values with fewer heads; gives [tokens, width]."""
    group = q.shape[0] // k.shape[0]
    k, v = (x.repeat_interleave(group, 0) for x in (k, v))
    logits = torch.einsum("hqd,hkd->hqk", q, k) / q.shape[-1] ** .5
    future = torch.ones(q.shape[1], q.shape[1], dtype=torch.bool).triu(1)
    weights = torch.softmax(logits.masked_fill(future, -torch.inf), -1)
    return (weights @ v).transpose(0, 1).flatten(1)


def heads_of(x, count):
    return x.unflatten(-1, (count, -1)).transpose(0, 1)


def llama(c, w, tokens):
    heads, kv_heads = c["num_attention_heads"], c["num_key_value_heads"]
    rope = (c["hidden_size"] // heads, c["rope_theta"], c.get("adjacent_pairs", False))

    def norm(x, name):
        scale = torch.rsqrt(x.square().mean(-1, keepdim=True) + c["rms_norm_eps"])
        return x * scale * w[name + ".weight"]

    def linear(x, name):
        return F.linear(x, w[name + ".weight"], w.get(name + ".bias"))

    x = F.embedding(tokens, w["model.embed_tokens.weight"])
    for layer in range(c["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        h = norm(x, at + "input_layernorm")
        q = rotated(heads_of(linear(h, at + "self_attn.q_proj"), heads), *rope)
        k = rotated(heads_of(linear(h, at + "self_attn.k_proj"), kv_heads), *rope)
        v = heads_of(linear(h, at + "self_attn.v_proj"), kv_heads)
        x = x + linear(attend(q, k, v), at + "self_attn.o_proj")
        h = norm(x, at + "post_attention_layernorm")
        gated = F.silu(linear(h, at + "mlp.gate_proj")) * linear(h, at + "mlp.up_proj")
        x = x + linear(gated, at + "mlp.down_proj")
    tied = c["tie_word_embeddings"]
    return linear(norm(x, "model.norm"), "model.embed_tokens" if tied else "lm_head")


def gpt_neox(c, w, tokens):
    width, heads = c["hidden_size"], c["num_attention_heads"]
    rope = (int(width // heads * c["rotary_pct"]), float(c["rotary_emb_base"]), False)

    def norm(x, name):
        return F.layer_norm(x, (width,), w[name + ".weight"], w[name + ".bias"],
                            c["layer_norm_eps"])

    def linear(x, name):
        return F.linear(x, w[name + ".weight"], w[name + ".bias"])

    x = F.embedding(tokens, w["gpt_neox.embed_in.weight"])
    for layer in range(c["num_hidden_layers"]):
        at = f"gpt_neox.layers.{layer}."
        fused = heads_of(linear(norm(x, at + "input_layernorm"), at + "attention.query_key_value"),
                         heads)
        q, k, v = fused.chunk(3, -1)
        a = linear(attend(rotated(q, *rope), rotated(k, *rope), v), at + "attention.dense")
        h = norm(x if c["use_parallel_residual"] else x + a, at + "post_attention_layernorm")
        h = F.gelu(linear(h, at + "mlp.dense_h_to_4h"))
        x = x + a + linear(h, at + "mlp.dense_4h_to_h")
    return F.linear(norm(x, "gpt_neox.final_layer_norm"), w["embed_out.weight"])


def gpt2(c, w, tokens):
    def norm(x, name):
        return F.layer_norm(x, (c["n_embd"],), w[name + ".weight"], w[name + ".bias"],
                            c["layer_norm_epsilon"])

    def conv(x, name):
        return torch.addmm(w[name + ".bias"], x, w[name + ".weight"])

    x = F.embedding(tokens, w["wte.weight"]) + w["wpe.weight"][:len(tokens)]
    for layer in range(c["n_layer"]):
        at = f"h.{layer}."
        q, k, v = (heads_of(part, c["n_head"])
                   for part in conv(norm(x, at + "ln_1"), at + "attn.c_attn").chunk(3, -1))
        x = x + conv(attend(q, k, v), at + "attn.c_proj")
        h = F.gelu(conv(norm(x, at + "ln_2"), at + "mlp.c_fc"), approximate="tanh")
        x = x + conv(h, at + "mlp.c_proj")
    return F.linear(norm(x, "ln_f"), w["wte.weight"])


def main():
    model, tokens_file, logits_file, bound = sys.argv[1:]
    if model.endswith(".bin"):
        config, weights = read_llama2c(model)
    else:
        config = json.load(open(model + "/config.json"))
        weights = read_safetensors(model + "/model.safetensors")
    forward = {"gpt2": gpt2, "gpt_neox": gpt_neox}.get(config["model_type"], llama)
    tokens = torch.tensor([int(word) for word in open(tokens_file).read().split()])
    expected = forward(config, weights, tokens)
    found = torch.from_numpy(np.fromfile(logits_file, dtype="<f4")).reshape(expected.shape)
    worst = (found - expected).abs().max() / expected.abs().max()
    if not worst <= float(bound):
        sys.exit(f"{model}: logits differ by {worst:.3g} of the largest; expected at most {bound}")


main()
