"""Writes a GGUF file from a Hugging Face model directory, as llama.cpp's converter does.

Arguments: the directory (config.json, model.safetensors in F32), the type of its matrices (F32,
F16, BF16, Q8_0, Q4_0, Q4_K, Q5_K or Q6_K) and a folder, to which it writes model.gguf and, for
reference_model.py, config.json with model.safetensors: the weights that the GGUF file stands for.
Quantised matrices are made of random blocks, so that every bit of their formats occurs; what they
stand for is written from the formats' definitions in ggml-quants.c.
"""
import json
import math
import os
import struct
import sys

import numpy as np

types = {"F32": 0, "F16": 1, "Q4_0": 2, "Q8_0": 8, "Q4_K": 12, "Q5_K": 13, "Q6_K": 14, "BF16": 30}
block_weights = {"Q4_0": 32, "Q8_0": 32, "Q4_K": 256, "Q5_K": 256, "Q6_K": 256}
draw = np.random.default_rng(5)

# The container.


def text(value):
    raw = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(raw)) + raw


def value(item):
    """The type number and the bytes of a metadata value; floats are f32, whole numbers u32."""
    if isinstance(item, bool):
        return 7, struct.pack("<?", item)
    if isinstance(item, int):
        return 4, struct.pack("<I", item)
    if isinstance(item, float):
        return 6, struct.pack("<f", item)
    if isinstance(item, (str, bytes)):
        return 8, text(item)
    kind = value(item[0])[0]
    if kind == 4:
        return 9, struct.pack("<IQ", 5, len(item)) + struct.pack("<%di" % len(item), *item)
    return 9, struct.pack("<IQ", kind, len(item)) + b"".join(value(one)[1] for one in item)


def container(metadata, tensors, version=3, align=32):
    """The file; `tensors` has (name, shape with the slowest dimension first, type, bytes)."""
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(metadata))
    for key, item in metadata.items():
        kind, raw = value(item)
        out += text(key) + struct.pack("<I", kind) + raw
    data = b""
    for name, shape, kind, raw in tensors:
        out += text(name) + struct.pack("<I", len(shape))
        out += struct.pack("<%dQ" % len(shape), *reversed(shape))
        out += struct.pack("<IQ", types[kind], len(data))
        data += raw + bytes(-len(raw) % align)
    return out + bytes(-len(out) % align) + data

# Tensors.


def halves(raw):
    return raw.copy().view("<f2").astype(np.float32).reshape(raw.shape[:-1])


def random_half(count, size):
    signs = draw.choice([-1.0, 1.0], count)
    sizes = signs * draw.uniform(0.3, 1.0, count) * size
    return sizes.astype("<f2").view(np.uint8).reshape(-1, 2)


def random_bytes(count, size):
    return draw.integers(0, 256, (count, size), dtype=np.uint8)


def group_scales(raw):
    """The scales and minima of the eight groups of a q4_k or q5_k block: [blocks, 8]."""
    raw = raw.astype(np.int32)
    scales, minima = np.zeros((len(raw), 8)), np.zeros((len(raw), 8))
    for j in range(8):
        if j < 4:
            scales[:, j], minima[:, j] = raw[:, j] & 63, raw[:, j + 4] & 63
        else:
            scales[:, j] = (raw[:, j + 4] & 0xF) | ((raw[:, j - 4] >> 6) << 4)
            minima[:, j] = (raw[:, j + 4] >> 4) | ((raw[:, j] >> 6) << 4)
    return scales.astype(np.float32), minima.astype(np.float32)


def q8_0(count):
    d, codes = random_half(count, 0.001), random_bytes(count, 32)
    return np.hstack([d, codes]), halves(d)[:, None] * codes.view(np.int8)


def q4_0(count):
    d, codes = random_half(count, 0.02), random_bytes(count, 16)
    levels = np.hstack([codes & 15, codes >> 4]).astype(np.float32) - 8
    return np.hstack([d, codes]), halves(d)[:, None] * levels


def q45_k(count, bits):
    # So that weights are around 0, as a trained model's are.
    d = random_half(count, 0.00015 if bits == 4 else 0.00007)
    middle = halves(d) * (7.5 if bits == 4 else 15.5)
    least = (middle * draw.uniform(0.8, 1.2, count)).astype("<f2").view(np.uint8).reshape(-1, 2)
    scales, codes, high = random_bytes(count, 12), random_bytes(count, 128), random_bytes(count, 32)
    of_group, minimum = group_scales(scales)
    levels = np.zeros((count, 256), np.float32)
    for j in range(8):
        part = codes[:, j // 2 * 32:j // 2 * 32 + 32]
        level = part & 15 if j % 2 == 0 else part >> 4
        if bits == 5:
            level = level + 16 * (high >> j & 1)
        scale = halves(d)[:, None] * of_group[:, j:j + 1]
        levels[:, 32 * j:32 * j + 32] = scale * level.astype(np.float32) \
            - halves(least)[:, None] * minimum[:, j:j + 1]
    parts = [d, least, scales] + ([high] if bits == 5 else []) + [codes]
    return np.hstack(parts), levels


def q6_k(count):
    low, high, scales = random_bytes(count, 128), random_bytes(count, 64), random_bytes(count, 16)
    d = random_half(count, 0.00003)
    levels = np.zeros((count, 256), np.float32)
    of_group = scales.view(np.int8).astype(np.float32)
    for half in range(2):
        lows, highs = low[:, 64 * half:64 * half + 64], high[:, 32 * half:32 * half + 32]
        for quarter in range(4):
            four = lows[:, 32 * (quarter % 2):32 * (quarter % 2) + 32] >> (4 * (quarter // 2)) & 15
            code = (four | (highs >> (2 * quarter) & 3) << 4).astype(np.float32) - 32
            at = 128 * half + 32 * quarter
            scale = np.repeat(of_group[:, at // 16:at // 16 + 2], 16, axis=1)
            levels[:, at:at + 32] = halves(d)[:, None] * scale * code
    return np.hstack([low, high, scales, d]), levels


blocks = {"Q8_0": q8_0, "Q4_0": q4_0, "Q4_K": lambda n: q45_k(n, 4), "Q5_K": lambda n: q45_k(n, 5),
          "Q6_K": q6_k}


def encoded(tensor, kind):
    """The bytes of a tensor, and the numbers that they stand for."""
    if kind == "F16":
        return tensor.astype("<f2").tobytes(), tensor.astype("<f2").astype(np.float32)
    if kind == "BF16":
        top = tensor.astype("<f4").view("<u4") >> 16
        return top.astype("<u2").tobytes(), (top << 16).astype("<u4").view("<f4")
    if kind == "F32":
        return tensor.astype("<f4").tobytes(), tensor
    raw, levels = blocks[kind](tensor.size // block_weights[kind])
    return raw.tobytes(), levels.reshape(tensor.shape)

# Models.


names = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
         "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
         "self_attn.v_proj": "attn_v", "self_attn.qkv_proj": "attn_qkv",
         "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
         "self_attn.k_norm": "attn_k_norm", "pre_feedforward_layernorm": "ffn_norm",
         "post_feedforward_layernorm": "post_ffw_norm", "mlp.gate_proj": "ffn_gate",
         "mlp.up_proj": "ffn_up", "mlp.gate_up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
         # GPT-2 and GPT-NeoX
         "wte": "token_embd", "wpe": "position_embd", "ln_f": "output_norm", "ln_1": "attn_norm",
         "ln_2": "ffn_norm", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output",
         "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down", "gpt_neox.embed_in": "token_embd",
         "gpt_neox.final_layer_norm": "output_norm", "embed_out": "output",
         "attention.query_key_value": "attn_qkv", "attention.dense": "attn_output",
         "mlp.dense_h_to_4h": "ffn_up", "mlp.dense_4h_to_h": "ffn_down"}
architectures = {"mistral": "llama", "gemma3_text": "gemma3", "gpt_neox": "gptneox"}
in_pairs = ("llama", "smollm3", "granite")


def gguf_name(name, architecture):
    stem, kind = name.rsplit(".", 1)
    if stem in names:
        return names[stem] + "." + kind
    prefix = [p for p in ("model.layers.", "gpt_neox.layers.", "h.") if stem.startswith(p)][0]
    layer, part = stem[len(prefix):].split(".", 1)
    if part == "post_attention_layernorm":
        after = architecture in ("gemma2", "gemma3", "olmo2")
        return f"blk.{layer}." + ("post_attention_norm." if after else "ffn_norm.") + kind
    return f"blk.{layer}.{names[part]}.{kind}"


def order_of_rows(name, rows, config, architecture):
    """Which of the directory's rows is which row of the file."""
    order = np.arange(rows)
    heads = config.get("num_attention_heads")
    if architecture in in_pairs and ("q_proj" in name or "k_proj" in name):
        if "k_proj" in name:
            heads = config.get("num_key_value_heads", heads)
        return order.reshape(heads, 2, rows // heads // 2).swapaxes(1, 2).reshape(-1)
    if architecture == "gptneox" and "query_key_value" in name:
        return order.reshape(heads, 3, rows // heads // 3).swapaxes(0, 1).reshape(-1)
    return order


def llama3_divisors(scaling, base, dims):
    frequencies = base ** (-np.arange(0, dims, 2) / dims)
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    first, factor = scaling["original_max_position_embeddings"], scaling["factor"]
    divisors = []
    for length in 2 * math.pi / frequencies:
        if length < first / high:
            divisors.append(1.0)
        elif length > first / low:
            divisors.append(factor)
        else:
            smooth = (first / length - low) / (high - low)
            divisors.append(1 / ((1 - smooth) / factor + smooth))
    return divisors


def scaling_entries(config, architecture, dims, metadata, tensors):
    scaling = config.get("rope_scaling")
    if not scaling:
        return
    kind = scaling.get("rope_type", scaling.get("type"))
    at = architecture + ".rope.scaling."
    factors = {}
    if kind == "llama3":
        base = metadata[architecture + ".rope.freq_base"]
        factors["rope_freqs"] = llama3_divisors(scaling, base, dims)
    elif kind in ("longrope", "su"):
        first = config["original_max_position_embeddings"]
        metadata[at + "original_context_length"] = first
        ratio = config["max_position_embeddings"] / first
        metadata[at + "attn_factor"] = math.sqrt(1 + math.log(ratio) / math.log(first))
        factors["rope_factors_long"] = scaling["long_factor"]
        factors["rope_factors_short"] = scaling["short_factor"]
    else:
        metadata[at + "type"] = kind
        metadata[at + "factor"] = float(scaling["factor"])
        if "original_max_position_embeddings" in scaling:
            metadata[at + "original_context_length"] = scaling["original_max_position_embeddings"]
        for name in ("beta_fast", "beta_slow"):
            if name in scaling:
                metadata[at + "yarn_" + name] = scaling[name]
    for name, numbers in factors.items():
        raw = np.array(numbers, "<f4").tobytes()
        tensors.append((name + ".weight", [len(numbers)], "F32", raw))


def metadata_of(config, architecture):
    def get(*keys):
        return next((config[key] for key in keys if config.get(key) is not None), None)

    a = architecture + "."
    heads, width = get("num_attention_heads", "n_head"), get("hidden_size", "n_embd")
    dim = config.get("head_dim", width // heads)
    share = get("partial_rotary_factor", "rotary_pct") or 1.0
    entries = {
        "general.architecture": architecture,
        "general.name": "a test",
        "general.quantization_version": 2,
        a + "context_length": get("max_position_embeddings", "n_positions"),
        a + "embedding_length": width,
        a + "block_count": get("num_hidden_layers", "n_layer"),
        a + "feed_forward_length": get("intermediate_size", "n_inner") or 4 * width,
        a + "attention.head_count": heads,
        a + "attention.head_count_kv": get("num_key_value_heads"),
        a + "attention.key_length": config.get("head_dim"),
        a + "attention.layer_norm_rms_epsilon": get("rms_norm_eps"),
        a + "attention.layer_norm_epsilon": get("layer_norm_eps", "layer_norm_epsilon"),
        a + "attention.sliding_window": get("sliding_window"),
        a + "attention.sliding_window_pattern": get("sliding_window_pattern"),
        a + "rope.freq_base_swa": get("rope_local_base_freq"),
        a + "attn_logit_softcapping": get("attn_logit_softcapping"),
        a + "final_logit_softcapping": get("final_logit_softcapping"),
        a + "embedding_scale": get("embedding_multiplier"),
        a + "residual_scale": get("residual_multiplier"),
        a + "attention.scale": get("attention_multiplier"),
        a + "logit_scale": get("logits_scaling"),
        a + "use_parallel_residual": get("use_parallel_residual")}
    if architecture != "gpt2":
        entries[a + "rope.dimension_count"] = int(dim * share)
        base = get("rope_theta", "rotary_emb_base")
        usual = {"gemma3": 1e6, "smollm3": 2e6}.get(architecture, 1e4)
        entries[a + "rope.freq_base"] = float(base or usual)
    if architecture == "stablelm":
        entries.setdefault(a + "use_parallel_residual", False)
        entries[a + "use_parallel_residual"] = bool(config.get("use_parallel_residual", False))
    return {
        key: item for key, item in entries.items() if item is not None}, int(dim * share)


def byte_tokenizer(model):
    vocab = sorted(model["vocab"], key=model["vocab"].get)
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    return {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2",
            "tokenizer.ggml.tokens": vocab, "tokenizer.ggml.merges": merges}


def read_tensors(path):
    data = open(path, "rb").read()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    return {
        name: np.frombuffer(data[8 + length:][slice(*one["data_offsets"])],
                            "<f4").reshape(one["shape"])
        for name, one in header.items()}


def write_tensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    top = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(top)) + top + data)


def main(source, kind, folder):
    config = json.load(open(source + "/config.json"))
    architecture = architectures.get(config["model_type"], config["model_type"])
    metadata, dims = metadata_of(config, architecture)
    if os.path.exists(source + "/metadata.json"):
        metadata.update(json.load(open(source + "/metadata.json")))
    if os.path.exists(source + "/tokenizer.json"):
        metadata.update(byte_tokenizer(json.load(open(source + "/tokenizer.json"))["model"]))
    tensors, meant = [], {}
    scaling_entries(config, architecture, dims, metadata, tensors)
    for name, tensor in read_tensors(source + "/model.safetensors").items():
        columnwise = architecture == "gpt2" and ".c_" in name and tensor.ndim == 2
        stored = tensor.T if columnwise else tensor
        order = order_of_rows(name, len(stored), config, architecture)
        stored = stored[order]
# The norms of Gemma are stored less one in the directory only.
        plus = architecture.startswith("gemma") and name.endswith("norm.weight")
        matrix = stored.ndim == 2 and stored.shape[1] % block_weights.get(kind, 1) == 0
        used = kind if matrix else "F32"
        raw, stands_for = encoded((stored + 1).astype("<f4") if plus else stored, used)
        tensors.append((gguf_name(name, architecture), list(stored.shape), used, raw))
        back = np.empty_like(stands_for)
        back[order] = stands_for - 1 if plus else stands_for
        meant[name] = back.T if columnwise else back
    if kind in block_weights:
        assert sum(one[2] == kind for one in tensors) > 2, "no matrix has whole blocks"
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/model.gguf", "wb") as file:
        file.write(container(metadata, tensors))
    json.dump(config, open(folder + "/config.json", "w"))
    write_tensors(folder + "/model.safetensors", meant)


if __name__ == "__main__":
    main(*sys.argv[1:])
