"""Writes a model directory with random weights and the configuration of a published model.

Arguments: NAME (of NAME.json beside this file), FOLDER, and perhaps --narrow. The shapes are the
exact ones; with --narrow the widths are about one sixteenth and the vocabulary has 1,024 tokens.
The tokenizer has the rules of the published one, and a small vocabulary of its own.
"""
import json
import os
import random
import sys

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(here))

import tokenizer_kinds  # noqa: E402

# Which kind of tokenizer each model has.
rules = {"Llama-3.2-1B": "llama3", "Qwen3-0.6B": "qwen2", "SmolLM2-135M": "smollm",
         "gemma-3-270m": "gemma", "TinyLlama-1.1B": "llama2", "pythia-70m": "gpt2"}


def narrow(config):
    config = dict(config)
    for name in ("hidden_size", "intermediate_size", "head_dim"):
        if name in config:
            config[name] = max(config[name] // 16, 8)
    if "head_dim" not in config:
        config["hidden_size"] = 8 * config["num_attention_heads"]
    config["vocab_size"] = min(config["vocab_size"], 1024)
    config["bos_token_id"] = config["eos_token_id"] = 0
    return config


def llama_tensors(config, prefix="model."):
    width, inner = config["hidden_size"], config["intermediate_size"]
    dim = config.get("head_dim", width // config["num_attention_heads"])
    queries, keys = config["num_attention_heads"] * dim, config["num_key_value_heads"] * dim
    gemma, qwen3 = config["model_type"] == "gemma3_text", config["model_type"] == "qwen3"
    tensors = {prefix + "embed_tokens": (config["vocab_size"], width)}
    for layer in range(config["num_hidden_layers"]):
        at = f"{prefix}layers.{layer}."
        norms = {"input_layernorm": width, "post_attention_layernorm": width}
        if gemma:
            norms.update(pre_feedforward_layernorm=width, post_feedforward_layernorm=width)
        if gemma or qwen3:
            norms.update({"self_attn.q_norm": dim, "self_attn.k_norm": dim})
        tensors.update({at + name: (size,) for name, size in norms.items()})
        tensors.update({at + "self_attn.q_proj": (queries, width),
                        at + "self_attn.k_proj": (keys, width),
                        at + "self_attn.v_proj": (keys, width),
                        at + "self_attn.o_proj": (width, queries),
                        at + "mlp.gate_proj": (inner, width), at + "mlp.up_proj": (inner, width),
                        at + "mlp.down_proj": (width, inner)})
    tensors[prefix + "norm"] = (width,)
    if not config.get("tie_word_embeddings", gemma):
        tensors["lm_head"] = (config["vocab_size"], width)
    return {name + ".weight": shape for name, shape in tensors.items()}


def gpt_neox_tensors(config):
    width, inner = config["hidden_size"], config["intermediate_size"]
    tensors = {"gpt_neox.embed_in.weight": (config["vocab_size"], width)}
    parts = {"input_layernorm": (width,), "post_attention_layernorm": (width,),
             "attention.query_key_value": (3 * width, width), "attention.dense": (width, width),
             "mlp.dense_h_to_4h": (inner, width), "mlp.dense_4h_to_h": (width, inner)}
    parts = {f"gpt_neox.layers.{layer}.{name}": shape for name, shape in parts.items()
             for layer in range(config["num_hidden_layers"])}
    for name, shape in {**parts, "gpt_neox.final_layer_norm": (width,)}.items():
        tensors[name + ".weight"] = shape
        tensors[name + ".bias"] = shape[:1]
    tensors["embed_out.weight"] = (config["vocab_size"], width)
    return tensors


def write_weights(path, config, tensors):
    """bf16: norms are one (Gemma's zero), other numbers normal, from one long block again and again."""
    header, at = {}, 0
    for name, shape in tensors.items():
        end = at + 2 * int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)
    block = np.random.default_rng(5).standard_normal((1 << 22) + 7, dtype=np.float32) * 0.02
    block = (block.view(np.uint32) >> 16).astype(np.uint16)
    centre = 0 if config["model_type"].startswith("gemma") else 0x3F80
    begin = 0
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, shape in tensors.items():
            count = int(np.prod(shape))
            if "norm" in name and name.endswith("weight"):
                file.write(np.full(count, centre, np.uint16).tobytes())
                continue
            while count > 0:
                piece = block[begin:begin + count]
                file.write(piece.tobytes())
                count -= len(piece)
                begin = (begin + len(piece)) % len(block)


def main(name, folder, small):
    with open(f"{here}/{name}.json") as file:
        config = json.load(file)
    config = narrow(config) if small else config
    os.makedirs(folder)
    with open(folder + "/config.json", "w") as file:
        json.dump(config, file)
    neox = config["model_type"] == "gpt_neox"
    tensors = gpt_neox_tensors(config) if neox else llama_tensors(config)
    write_weights(folder + "/model.safetensors", config, tensors)
    kind = tokenizer_kinds.kinds()[rules[name]]
    if neox:
        kind = ({"type": "NFC"}, *kind[1:])
    sample = random.Random(3).sample(list(tokenizer_kinds.random_strings(40)), 600)
    with open(folder + "/tokenizer.json", "w") as file:
        file.write(tokenizer_kinds.tokenizer(rules[name], kind, sample))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:] == ["--narrow"])
