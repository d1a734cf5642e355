"""Forward passes of the decoder families in double precision, with NumPy.

Written from each family's configuration_*.py and modeling_*.py in Hugging Face transformers and
from its modeling_rope_utils.py. `families` maps a model_type to a function of a configuration, the
tensors, the tokens, and what the decoder says of each query: `visible`, the positions that it saw
before any window, by (layer, head, token), and whether positions are ranks among these.
"""
import math

import numpy as np

from reference_rope import plain, rope_table, rotate


def silu(x):
    return x / (1 + np.exp(-x))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def rms_norm(x, gain, eps):
    return x / np.sqrt(np.mean(x ** 2, axis=-1, keepdims=True) + eps) * gain


def layer_norm(x, gain, shift, eps):
    c = x - x.mean(axis=-1, keepdims=True)
    return c / np.sqrt(np.mean(c ** 2, axis=-1, keepdims=True) + eps) * gain + shift


def attention(run, layer, q, k, v, scale, table=None, window=None, cap=None):
    """q [tokens, heads, dim]; k and v [tokens, kv heads, dim]. Gives [tokens, heads * dim]."""
    tokens, heads, dim = q.shape
    share = heads // k.shape[1]
    out = np.zeros_like(q)
    for head in range(heads):
        for t in range(tokens):
            seen = run["visible"][layer, head, t]
            at = list(range(len(seen))) if run["in_cache"] else seen
            kept = [i for i in range(len(seen)) if window is None or at[i] > at[-1] - window]
            seen, at = [seen[i] for i in kept], [at[i] for i in kept]
            keys, query = k[seen, head // share], q[t:t + 1, head]
            if table is not None:
                keys, query = rotate(keys, at, table), rotate(query, at[-1:], table)
            logits = keys @ query[0] * scale
            if cap is not None:
                logits = cap * np.tanh(logits / cap)
            weights = np.exp(logits - logits.max())
            out[t, head] = weights / weights.sum() @ v[seen, head // share]
    return out.reshape(tokens, heads * dim)


def linear(w, name, x):
    return x @ w[name + ".weight"].T + w.get(name + ".bias", 0)


def sizes(config, dim=None):
    heads = config["num_attention_heads"]
    kv_heads = config.get("num_key_value_heads", heads)
    return heads, kv_heads, config.get("head_dim", dim or config["hidden_size"] // heads)


def split(x, heads):
    return x.reshape(len(x), heads, -1)


def logits_of(config, w, x, tied):
    tied = config.get("tie_word_embeddings", tied)
    return x @ w["model.embed_tokens.weight" if tied else "lm_head.weight"].T


def llama_like(config, w, tokens, run, theta=1e4, tied=False, layer_rules=None):
    """modeling_llama, modeling_mistral, modeling_qwen2, modeling_qwen3, modeling_smollm3 and
    modeling_granite; `layer_rules` gives (window, rotates) of a layer."""
    heads, kv_heads, dim = sizes(config)
    eps = config["rms_norm_eps"]
    granite = config["model_type"] == "granite"
    residual = config["residual_multiplier"] if granite else 1
    scale = config["attention_multiplier"] if granite else dim ** -0.5
    table = rope_table(config, dim, config.get("rope_theta", theta), run["length"])
    x = w["model.embed_tokens.weight"][tokens]
    if granite:
        x = x * config["embedding_multiplier"]
    for i in range(config["num_hidden_layers"]):
        at = f"model.layers.{i}."
        window, rotates = layer_rules(i) if layer_rules else (None, True)
        h = rms_norm(x, w[at + "input_layernorm.weight"], eps)
        q = split(linear(w, at + "self_attn.q_proj", h), heads)
        k = split(linear(w, at + "self_attn.k_proj", h), kv_heads)
        v = split(linear(w, at + "self_attn.v_proj", h), kv_heads)
        if config["model_type"] == "qwen3":
            q = rms_norm(q, w[at + "self_attn.q_norm.weight"], eps)
            k = rms_norm(k, w[at + "self_attn.k_norm.weight"], eps)
        a = attention(run, i, q, k, v, scale, table if rotates else None, window)
        x = x + linear(w, at + "self_attn.o_proj", a) * residual
        h = rms_norm(x, w[at + "post_attention_layernorm.weight"], eps)
        gate = silu(linear(w, at + "mlp.gate_proj", h))
        x = x + linear(w, at + "mlp.down_proj", gate * linear(w, at + "mlp.up_proj", h)) * residual
    x = rms_norm(x, w["model.norm.weight"], eps)
    logits = logits_of(config, w, x, tied)
    return logits / config["logits_scaling"] if granite else logits


def mistral(config, w, tokens, run):
    window = config.get("sliding_window", 4096)
    return llama_like(config, w, tokens, run, layer_rules=lambda i: (window, True))


def qwen(config, w, tokens, run):
    on = config.get("use_sliding_window", False)
    types = config.get("layer_types")

    def rules(i):
        slides = on and i >= config.get("max_window_layers", 28)
        if types is not None:
            slides = types[i] == "sliding_attention"
        return (config["sliding_window"] if slides else None), True

    return llama_like(config, w, tokens, run, layer_rules=rules)


def smollm3(config, w, tokens, run):
    interval = config.get("no_rope_layer_interval", 4)
    listed = config.get("no_rope_layers")

    def rules(i):
        rotates = bool(listed[i]) if listed else (i + 1) % interval != 0
        slides = config.get("use_sliding_window", False) and not rotates
        return (config["sliding_window"] if slides else None), rotates

    return llama_like(config, w, tokens, run, theta=2e6, tied=True, layer_rules=rules)


def gemma(config, w, tokens, run):
    """modeling_gemma, modeling_gemma2 and modeling_gemma3."""
    kind = config["model_type"]
    heads, kv_heads, dim = sizes(config, 256)
    eps = config["rms_norm_eps"]
    scale = dim ** -0.5 if kind == "gemma" else config["query_pre_attn_scalar"] ** -0.5
    base = config.get("rope_theta", 1e6 if kind == "gemma3_text" else 1e4)
    table = rope_table(config, dim, base, run["length"])
    local = plain(config.get("rope_local_base_freq", 1e4), dim), 1.0
    cap = config.get("attn_logit_softcapping", 50.0 if kind == "gemma2" else None)
    last_cap = config.get("final_logit_softcapping", 30.0 if kind == "gemma2" else None)

    def norm(name, y):
        return rms_norm(y, 1.0 + w[name + ".weight"], eps)

    x = w["model.embed_tokens.weight"][tokens] * math.sqrt(config["hidden_size"])
    for i in range(config["num_hidden_layers"]):
        at = f"model.layers.{i}."
        slides = False
        if kind == "gemma2":
            slides = i % 2 == 0
        if kind == "gemma3_text":
            slides = bool((i + 1) % config.get("sliding_window_pattern", 6))
        h = norm(at + "input_layernorm", x)
        q = split(linear(w, at + "self_attn.q_proj", h), heads)
        k = split(linear(w, at + "self_attn.k_proj", h), kv_heads)
        v = split(linear(w, at + "self_attn.v_proj", h), kv_heads)
        if kind == "gemma3_text":
            q, k = norm(at + "self_attn.q_norm", q), norm(at + "self_attn.k_norm", k)
        own = local if kind == "gemma3_text" and slides else table
        window = config["sliding_window"] if slides else None
        a = linear(w, at + "self_attn.o_proj",
                   attention(run, i, q, k, v, scale, own, window, cap))
        if kind == "gemma":
            x = x + a
            h = norm(at + "post_attention_layernorm", x)
        else:
            x = x + norm(at + "post_attention_layernorm", a)
            h = norm(at + "pre_feedforward_layernorm", x)
        m = gelu_tanh(linear(w, at + "mlp.gate_proj", h)) * linear(w, at + "mlp.up_proj", h)
        m = linear(w, at + "mlp.down_proj", m)
        x = x + (m if kind == "gemma" else norm(at + "post_feedforward_layernorm", m))
    logits = logits_of(config, w, norm("model.norm", x), True)
    return logits if last_cap is None else last_cap * np.tanh(logits / last_cap)


def phi3(config, w, tokens, run):
    heads, kv_heads, dim = sizes(config)
    eps = config["rms_norm_eps"]
    rotated = int(dim * config.get("partial_rotary_factor", 1.0))
    table = rope_table(config, rotated, config.get("rope_theta", 1e4), run["length"])
    x = w["model.embed_tokens.weight"][tokens]
    for i in range(config["num_hidden_layers"]):
        at = f"model.layers.{i}."
        qkv = linear(w, at + "self_attn.qkv_proj", rms_norm(x, w[at + "input_layernorm.weight"], eps))
        q, k, v = np.split(qkv, [heads * dim, (heads + kv_heads) * dim], axis=1)
        a = attention(run, i, split(q, heads), split(k, kv_heads), split(v, kv_heads), dim ** -0.5,
                      table, config.get("sliding_window"))
        x = x + linear(w, at + "self_attn.o_proj", a)
        h = rms_norm(x, w[at + "post_attention_layernorm.weight"], eps)
        gate, up = np.split(linear(w, at + "mlp.gate_up_proj", h), 2, axis=1)
        x = x + linear(w, at + "mlp.down_proj", up * silu(gate))
    return logits_of(config, w, rms_norm(x, w["model.norm.weight"], eps), False)


def olmo2(config, w, tokens, run):
    heads, kv_heads, dim = sizes(config)
    eps = config["rms_norm_eps"]
    table = rope_table(config, dim, config.get("rope_theta", 1e4), run["length"])
    x = w["model.embed_tokens.weight"][tokens]
    for i in range(config["num_hidden_layers"]):
        at = f"model.layers.{i}."
        q = rms_norm(linear(w, at + "self_attn.q_proj", x), w[at + "self_attn.q_norm.weight"], eps)
        k = rms_norm(linear(w, at + "self_attn.k_proj", x), w[at + "self_attn.k_norm.weight"], eps)
        v = linear(w, at + "self_attn.v_proj", x)
        a = attention(run, i, split(q, heads), split(k, kv_heads), split(v, kv_heads), dim ** -0.5,
                      table)
        a = linear(w, at + "self_attn.o_proj", a)
        x = x + rms_norm(a, w[at + "post_attention_layernorm.weight"], eps)
        m = silu(linear(w, at + "mlp.gate_proj", x)) * linear(w, at + "mlp.up_proj", x)
        m = linear(w, at + "mlp.down_proj", m)
        x = x + rms_norm(m, w[at + "post_feedforward_layernorm.weight"], eps)
    return logits_of(config, w, rms_norm(x, w["model.norm.weight"], eps), False)


def stablelm(config, w, tokens, run):
    heads, kv_heads, dim = sizes(config)
    eps = config["layer_norm_eps"]
    table = rope_table(config, int(dim * config.get("partial_rotary_factor", 0.25)),
                       config.get("rope_theta", 1e4), run["length"])

    def norm(name, y):
        return layer_norm(y, w[name + ".weight"], w[name + ".bias"], eps)

    x = w["model.embed_tokens.weight"][tokens]
    for i in range(config["num_hidden_layers"]):
        at = f"model.layers.{i}."
        h = norm(at + "input_layernorm", x)
        a = attention(run, i, split(linear(w, at + "self_attn.q_proj", h), heads),
                      split(linear(w, at + "self_attn.k_proj", h), kv_heads),
                      split(linear(w, at + "self_attn.v_proj", h), kv_heads), dim ** -0.5, table)
        a = linear(w, at + "self_attn.o_proj", a)
        x = x + a
        if not config.get("use_parallel_residual", False):
            h = norm(at + "post_attention_layernorm", x)
        m = silu(linear(w, at + "mlp.gate_proj", h)) * linear(w, at + "mlp.up_proj", h)
        x = x + linear(w, at + "mlp.down_proj", m)
    return logits_of(config, w, norm("model.norm", x), False)


def gpt_neo(config, w, tokens, run):
    heads, eps = config["num_heads"], config["layer_norm_epsilon"]
    words = config.get("attention_layers")
    if words is None:
        words = [word for kinds, times in config["attention_types"]
                 for word in kinds * times]

    def norm(name, y):
        return layer_norm(y, w[name + ".weight"], w[name + ".bias"], eps)

    ranks = [len(run["visible"][0, 0, t]) - 1 if run["in_cache"] else t for t in range(len(tokens))]
    x = w["transformer.wte.weight"][tokens] + w["transformer.wpe.weight"][ranks]
    for i in range(config["num_layers"]):
        at = f"transformer.h.{i}."
        h = norm(at + "ln_1", x)
        q, k, v = (split(linear(w, at + f"attn.attention.{name}_proj", h), heads) for name in "qkv")
        window = config["window_size"] if words[i] == "local" else None
        a = attention(run, i, q, k, v, 1.0, None, window)
        x = x + linear(w, at + "attn.attention.out_proj", a)
        h = gelu_tanh(linear(w, at + "mlp.c_fc", norm(at + "ln_2", x)))
        x = x + linear(w, at + "mlp.c_proj", h)
    return norm("transformer.ln_f", x) @ w["transformer.wte.weight"].T


families = {
    "llama": llama_like, "mistral": mistral, "qwen2": qwen, "qwen3": qwen,
    "smollm3": smollm3, "gemma": gemma, "gemma2": gemma, "gemma3_text": gemma, "phi3": phi3,
    "olmo2": olmo2, "granite": llama_like, "stablelm": stablelm, "gpt_neo": gpt_neo,
}
