"""Writes the inputs and words that fuzzing starts from: python3 fuzz/corpus.py build/release/kvcheck [FOLDER]

Each file lies in corpus/TARGET or dictionaries of the folder, which is that of this script by default. Inputs
that fuzzing found are kept beside these, under names that begin with found-.
"""
import io
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import zipfile

here = os.path.dirname(os.path.abspath(__file__))


def write(target, name, content):
    """One input; a list or tuple is its parts."""
    if isinstance(content, (list, tuple)):
        content = b"\0".join(p.encode() if isinstance(p, str) else p for p in content)
    if isinstance(content, str):
        content = content.encode()
    folder = os.path.join(here, "corpus", target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(content)


def write_all(target, inputs):
    for name, content in inputs.items():
        write(target, name, content)


def floats(count, seed=1):
    draw = random.Random(seed)
    return struct.pack("<%df" % count, *(draw.uniform(-0.5, 0.5) for _ in range(count)))


def rows(heads, tokens, code):
    """Uniform causal attention."""
    values = []
    for _ in range(heads):
        for query in range(tokens):
            values += [1 / (query + 1)] * (query + 1) + [0.0] * (tokens - query - 1)
    return struct.pack("<%d%s" % (len(values), code), *values)


def npy_of(shape, descr, data, order="False", version=1):
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)
    prefix = 10 if version == 1 else 12
    header += " " * (63 - (prefix + len(header)) % 64) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + data


def npy(shape, code="f", order="False", version=1):
    layers = shape[0] if len(shape) == 4 else 1
    return npy_of(shape, {"e": "<f2", "f": "<f4", "d": "<f8"}[code],
                  rows(layers * shape[-3], shape[-1], code), order, version)


def npz(members, method):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return out.getvalue()


def rules_trace():
    """Two layers of version 2, each of which does something else."""
    texts = {"format": "kvcheck-trace", "version": "2", "kind": "qkv", "rope_layout": "half,none",
             "rope_dims": "4", "rope_scale": "1.5,1", "attention_scale": "0.25", "soft_cap": "3,none",
             "window": "none,2", "rope_applied": "yes", "model_layers": "5"}
    header, data = {"__metadata__": texts}, b""
    vectors = [math.sin(i) for i in range(4 * 4 * 4)]
    for layer in (1, 4):
        tensors = {"q": ([2, 4, 4], vectors[:32]), "k": ([1, 4, 4], vectors[16:32]),
                   "v": ([1, 4, 4], vectors[32:48]), "sinks": ([2], [1, -2]), "slopes": ([2], [0.5, 0])}
        if layer == 1:
            tensors["frequencies"] = ([2], [1, 0.25])
        for name, (shape, numbers) in tensors.items():
            wide = name == "frequencies"
            begin, data = len(data), data + struct.pack("<%d%s" % (len(numbers), "d" if wide else "f"),
                                                        *numbers)
            header["layers.%d.%s" % (layer, name)] = {
                "dtype": "F64" if wide else "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    return json.dumps(header, separators=(",", ":")), data


def sampled_trace(queries, design):
    """Eight tokens of which some queries are recorded, of one kv-head that is not the model's first."""
    texts = {"format": "kvcheck-trace", "version": "2", "kind": "qkv", "rope_layout": "half",
             "rope_theta": "100", "rope_dims": "4", "query_design": design, "kv_head_numbers": "3"}
    header, data = {"__metadata__": texts}, struct.pack("<%di" % len(queries), *queries)
    header["queries"] = {"dtype": "I32", "shape": [len(queries)], "data_offsets": [0, len(data)]}
    for name, shape in {"q": [2, len(queries), 4], "k": [1, 8, 4], "v": [1, 8, 4]}.items():
        count = shape[0] * shape[1] * shape[2]
        begin, data = len(data), data + struct.pack("<%df" % count, *(math.sin(i) for i in range(count)))
        header["layers.2." + name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    return json.dumps(header, separators=(",", ":")), data


def array_history(feeds, evicted_at, head='{"kvcheck_history":1,"setup":{"budget":3}}'):
    """A recorded run of one unit as a safetensors file."""
    feeds_data = struct.pack("<%di" % len(feeds), *feeds)
    data = feeds_data + struct.pack("<%di" % len(evicted_at), *evicted_at)
    header = {"__metadata__": {"visible": "causal", **({"head": head} if head else {})},
              "feeds": {"dtype": "I32", "shape": [len(feeds)], "data_offsets": [0, len(feeds_data)]},
              "evicted_at": {"dtype": "I32", "shape": [1, 1, 1, len(evicted_at)],
                             "data_offsets": [len(feeds_data), len(data)]}}
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


def traces(kvcheck):
    """Synthetic traces of all kinds, as files and as headers with data."""
    specs = {
        "attention-f32": "zipf:tokens=8,heads=2,kv_heads=1,hitters=2",
        "attention-f16": "sink-recency:tokens=8,heads=2,kv_heads=2,dtype=f16",
        "qkv-half": "needle:kind=qkv,tokens=6,heads=1,kv_heads=1,head_dim=16,rope=half,position=1,attended=1,spread=0,ask_at=4",
        "qkv-interleaved": "zipf:kind=qkv,tokens=5,layers=2,heads=1,kv_heads=1,rope=interleaved,hitters=2,"
                           "head_dim=16",
    }
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        for name, spec in specs.items():
            made = subprocess.run([kvcheck, "trace", "generate", spec, "-o", path],
                                  capture_output=True)
            if made.returncode != 0:
                sys.exit(spec + ": " + made.stderr.decode())
            with open(path, "rb") as file:
                content = file.read()
            write("safetensors", name, content)
            if name == "attention-f32":
                write("safetensors", "cut", content[:-1])
            end = 8 + struct.unpack("<Q", content[:8])[0]
            write("trace", name, (content[8:end], content[end:]))
    texts = {"format": "kvcheck-trace", "version": "1", "kind": "attention", "layers": "1",
             "query_heads": "1", "kv_heads": "1", "model": "m", "licence": "MIT", "loop": "open"}
    header = {"__metadata__": texts,
              "layers.3.attention": {"dtype": "F32", "shape": [1, 3, 3], "data_offsets": [0, 36]},
              "tokens": {"dtype": "I32", "shape": [3], "data_offsets": [36, 48]},
              "text_ends": {"dtype": "I64", "shape": [3], "data_offsets": [48, 72]},
              "nll": {"dtype": "F32", "shape": [3], "data_offsets": [72, 84]},
              "text": {"dtype": "U8", "shape": [5], "data_offsets": [84, 89]}}
    data = (rows(1, 3, "f") + struct.pack("<3i", 1, 2, 3) + struct.pack("<3q", 1, 3, 5) +
            struct.pack("<3f", 0, 1, 2) + b"a b.c")
    write("trace", "with-text", (json.dumps(header, separators=(",", ":")), data))
    texts["kind"] = "other"
    write("trace", "wrong", (json.dumps(header, separators=(",", ":")), data))
    write("trace", "rules", rules_trace())
    write("trace", "sampled", sampled_trace([1, 2, 6], "1/4,2"))
    write("trace", "regular", sampled_trace([1, 4, 7], "every:3+1"))
    texts = {"format": "kvcheck-trace", "version": "2", "kind": "attention", "learned_sinks": "yes"}
    header = {"__metadata__": texts,
              "layers.0.attention": {"dtype": "F32", "shape": [1, 3, 3], "data_offsets": [0, 36]}}
    data = struct.pack("<9f", *(weight * 0.5 for weight in struct.unpack("<9f", rows(1, 3, "f"))))
    write("trace", "learned-sinks", (json.dumps(header, separators=(",", ":")), data))
    dumps = {"heads": npy((2, 4, 4)), "layers": npy((2, 1, 4, 4)), "f16": npy((1, 4, 4), "e"),
             "f64": npy((1, 4, 4), "d"), "version-2": npy((1, 3, 3), version=2),
             "fortran": npy((1, 3, 3), order="True")}
    write_all("npy", dumps)
    write_all("npz", {
        "stored": npz({"attention.npy": dumps["heads"]}, zipfile.ZIP_STORED),
        "deflated": npz({"attention.npy": dumps["f16"]}, zipfile.ZIP_DEFLATED),
        "two-arrays": npz({"a.npy": dumps["heads"], "b.npy": dumps["f16"]}, zipfile.ZIP_STORED),
        "kv-heads": npz({"attention.npy": npy((1, 2, 2, 2), "e"),
                         "kv_heads.npy": npy_of("()", "<i8", struct.pack("<q", 1))}, zipfile.ZIP_STORED),
        "steps": npz({"step_0.npy": npy((1, 2, 2, 2), "e"),
                      "step_1.npy": npy_of("(1, 2, 1, 3)", "<f2", struct.pack("<6e", *6 * [1 / 3]))},
                     zipfile.ZIP_STORED),
        "no-array": npz({"a.txt": b"text"}, zipfile.ZIP_STORED)})
    write_all("token_words", {  # how many words are expected, and the words
        "words": b'\3["a"," b\\n",""]', "unicode": b'\1["\\u00e9\\ud83d\\ude00"]', "short": b'\2["a"]',
        "number": b"\1[1]", "object": b'\1{"a":"b"}'})


def specs():
    write_all("synthetic_spec", {
        "zipf": "zipf:tokens=40,layers=2,heads=4,kv_heads=2,hitters=4,exponent=1.2",
        "drift": "drift:tokens=33,heads=2,kv_heads=1,hitters=3,period=8,seed=7",
        "needle": "needle:tokens=40,position=4,spread=2,attended=3,ask_at=20,ask_every=5,mass=0.7",
        "sinks": "sink-recency:tokens=24,sinks=2,mass=0.5,decay=4,noise=0.5,dtype=f16",
        "qkv": "zipf:kind=qkv,tokens=24,head_dim=16,rope=half,heads=2,kv_heads=2,hitters=3",
        "unknown": "zipff:tokens=3"})
    words = {
        "dense": "dense", "window": "window:budget=8", "streaming": "streaming:sinks=2,recent=6",
        "reservoir": "reservoir:sinks=1,recent=2,budget=9,algorithm=l;timing=lazy:4",
        "h2o": "h2o:sinks=1,budget=10;timing=trim-then-attend;chunk=4",
        "tova-layer": "tova:budget=7;unit=layer;visibility=window",
        "in-cache": "streaming:sinks=2,budget=8;positions=in-cache;chunk=3",
        "shifted": "streaming:sinks=2,budget=8;positions=shifted",
        "pyramid": "h2o:budget=12;budgets=pyramid:4",
        "retrieval": "streaming:sinks=2,budget=8;budgets=retrieval:0.1+1.0",
        "adaptive": "h2o:budget=12;budgets=adaptive:0.2",
        "pages": "dense;visibility=top-pages:8/4/1",
        "re-evaluated": "streaming:sinks=2,budget=8;positions=in-cache;vectors=re-evaluated;chunk=1",
        "stored": "streaming:sinks=2,budget=8;storage=int4:recent=4,sinks=1",
        "prompt": "h2o:sinks=1,ratio=0.5;compress=question+every:4;chunk=5",
        "phases": "prompt+hold", "ratio": "0.125",
        "prompt-preset": "@ada-snapkv-prompt:recent=4,ratio=0.4",
        "no-prompt": "streaming:ratio=0.5", "snapkv": "@snapkv-hold:budget=12", "keyformer": "keyformer:budget=10,tau=1.5",
        "ladder": "@lacache", "quest": "@quest", "wrong": "strm:budget=3"}
    write_all("spec", words)
    write_all("storage", {
        "f16": "f16", "int8": ("int8", "dense", "raw"), "int4": ("int4:recent=8,sinks=2", "dense"),
        "kivi4": ("kivi4:recent=32", "dense"), "covered": ("int4:recent=128,full=f16", "dense"),
        "kivi2": ("kivi2:recent=0,group=16", "streaming:sinks=4,budget=12"),
        "shifted-f16": ("f16", "streaming:sinks=2,budget=8;positions=shifted", "rotated-f16"),
        "h2o": ("int8:group=16", "h2o:budget=12;chunk=5"),
        "pages": ("bf16", "dense;visibility=top-pages:8/4/1"), "wrong": "int5"})
    write_all("numbers", {"list": "0,3-5,9", "count": "18446744073709551615", "real": "-1.5e-300",
                          "zero": "0", "empty": ""})


llama = {"model_type": "llama", "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,
         "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 8, "rms_norm_eps": 1e-5,
         "max_position_embeddings": 32, "rope_theta": 10000.0, "hidden_act": "silu",
         "bos_token_id": 1, "eos_token_id": [2], "tie_word_embeddings": True}
neox = {"model_type": "gpt_neox", "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,
        "num_attention_heads": 2, "vocab_size": 8, "layer_norm_eps": 1e-5, "rotary_pct": 0.5,
        "max_position_embeddings": 32, "rotary_emb_base": 10000, "hidden_act": "gelu",
        "use_parallel_residual": True, "tie_word_embeddings": False}
gpt2 = {"model_type": "gpt2", "n_embd": 8, "n_layer": 1, "n_head": 2, "vocab_size": 8,
        "n_positions": 32, "n_ctx": 32, "layer_norm_epsilon": 1e-5,
        "activation_function": "gelu_new"}


def tensors(shapes, dtype="F32"):
    at = 0
    header = {}
    for name, shape in shapes.items():
        size = 4 if dtype == "F32" else 2
        for length in shape:
            size *= length
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    return json.dumps(header, separators=(",", ":"))


def of_families(llama):
    """Configurations of the families that differ from llama's by entries, and each rotation."""
    entries = {
        "mistral": {"sliding_window": 7},
        "qwen3": {"use_sliding_window": True, "sliding_window": 6, "max_window_layers": 0},
        "smollm3": {"no_rope_layers": [1]},
        "gemma": {"hidden_act": "gelu", "head_dim": 8},
        "gemma2": {"query_pre_attn_scalar": 5, "sliding_window": 6, "attn_logit_softcapping": 2.0},
        "gemma3_text": {"sliding_window": 6, "layer_types": ["sliding_attention"],
                        "rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8},
                                            "sliding_attention": {"rope_theta": 100.0}}},
        "phi3": {"original_max_position_embeddings": 16, "partial_rotary_factor": 0.5,
                 "rope_scaling": {"type": "longrope", "short_factor": [1.0], "long_factor": [4.0]}},
        "olmo2": {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "truncate": False}},
        "granite": {"attention_multiplier": 0.3, "rope_scaling": {"type": "dynamic", "factor": 2.0}},
    }
    made = {name: json.dumps({**llama, "model_type": name, **more})
            for name, more in entries.items()}
    made["gpt_neo"] = json.dumps({
        "model_type": "gpt_neo", "hidden_size": 8, "num_layers": 2, "num_heads": 2, "vocab_size": 8,
        "max_position_embeddings": 32, "attention_types": [[["global", "local"], 1]],
        "window_size": 5})
    return made


def models():
    at = "model.layers.0."
    llama_shapes = {
        "model.embed_tokens.weight": [8, 8], at + "input_layernorm.weight": [8],
        at + "self_attn.q_proj.weight": [8, 8], at + "self_attn.k_proj.weight": [4, 8],
        at + "self_attn.v_proj.weight": [4, 8], at + "self_attn.o_proj.weight": [8, 8],
        at + "post_attention_layernorm.weight": [8], at + "mlp.gate_proj.weight": [8, 8],
        at + "mlp.up_proj.weight": [8, 8], at + "mlp.down_proj.weight": [8, 8],
        "model.norm.weight": [8]}
    post_norms = {at + "%s_feedforward_layernorm.weight" % x: [8] for x in ("pre", "post")}
    biases = {at + "self_attn.%s_proj.bias" % x: [8 if x == "q" else 4] for x in "qkv"}
    at = "gpt_neox.layers.0."
    neox_shapes = {"gpt_neox.embed_in.weight": [8, 8], "embed_out.weight": [8, 8]}
    for name, shape in {"input_layernorm": [8], "post_attention_layernorm": [8],
                        "attention.query_key_value": [24, 8], "attention.dense": [8, 8],
                        "mlp.dense_h_to_4h": [8, 8], "mlp.dense_4h_to_h": [8, 8]}.items():
        neox_shapes[at + name + ".weight"] = shape
        neox_shapes[at + name + ".bias"] = shape[:1]
    gpt2_shapes = {"wte.weight": [8, 8], "wpe.weight": [32, 8]}
    for name, shape in {"ln_1": [8], "ln_2": [8], "attn.c_attn": [8, 24], "attn.c_proj": [8, 8],
                        "mlp.c_fc": [8, 32], "mlp.c_proj": [32, 8]}.items():
        gpt2_shapes["h.0." + name + ".weight"] = shape
        gpt2_shapes["h.0." + name + ".bias"] = shape[-1:]
    for part in ("weight", "bias"):
        neox_shapes["gpt_neox.final_layer_norm." + part] = [8]
        gpt2_shapes["ln_f." + part] = [8]
    qwen2 = dict(llama, model_type="qwen2", use_sliding_window=False)
    scaled = dict(llama, rope_scaling={"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                                       "high_freq_factor": 4.0,
                                       "original_max_position_embeddings": 16})
    data = floats(64)
    write_all("model", {
        "llama": (json.dumps(llama), tensors(llama_shapes), data),
        "llama-f16": (json.dumps(llama), tensors(llama_shapes, "F16"),
                      struct.pack("<24e", *[x / 32 - 0.4 for x in range(24)])),
        "llama3": (json.dumps(scaled), tensors(llama_shapes), data),
        "qwen2": (json.dumps(qwen2), tensors({**llama_shapes, **biases}), data),
        "gpt-neox": (json.dumps(neox), tensors(neox_shapes), data),
        "gpt2": (json.dumps(gpt2), tensors(gpt2_shapes), data),
        "mistral": (json.dumps(dict(llama, model_type="mistral", sliding_window=3)),
                    tensors(llama_shapes), data),
        "gemma2": (json.dumps(dict(llama, model_type="gemma2", head_dim=4, sliding_window=3)),
                   tensors({**llama_shapes, **post_norms}), data),
        "dynamic": (json.dumps(dict(llama, rope_scaling={"type": "dynamic", "factor": 2.0})),
                    tensors(llama_shapes), data),
        "missing-tensor": (json.dumps(llama), tensors({"model.norm.weight": [8]}), data)})
    linear = dict(llama, rope_scaling={"type": "linear", "factor": 2.0})
    write_all("config", {
        "llama": json.dumps(llama), "qwen2": json.dumps(qwen2), "neox": json.dumps(neox),
        "gpt2": json.dumps(gpt2), "llama3": json.dumps(scaled), "linear": json.dumps(linear),
        "wrong": json.dumps(dict(llama, num_attention_heads=3)), **of_families(llama)})

    def checkpoint(vocabulary):
        width, inner, layers, heads, kv_heads, context = 8, 8, 1, 2, 1, 16
        head = width // heads
        size = abs(vocabulary)
        count = (size * width + layers * (2 * width + 2 * width * width +
                 2 * width * kv_heads * head + 3 * width * inner) + width + context * head)
        count += size * width if vocabulary < 0 else 0
        sizes = struct.pack("<7i", width, inner, layers, heads, kv_heads, vocabulary, context)
        return sizes + floats(count)

    write_all("llama2c", {"tied": checkpoint(8), "untied": checkpoint(-8), "cut": checkpoint(8)[:-4]})
    gguf_files()


def gguf(metadata, tensors, version=3):
    """A GGUF file; tensors have (name, shape with the fastest dimension first, type, bytes)."""
    def text(value):
        return struct.pack("<Q", len(value.encode())) + value.encode()

    def value(item):
        if isinstance(item, bool):
            return 7, struct.pack("<?", item)
        if isinstance(item, int):
            return 4, struct.pack("<I", item)
        if isinstance(item, float):
            return 6, struct.pack("<f", item)
        if isinstance(item, str):
            return 8, text(item)
        return 9, struct.pack("<IQ", value(item[0])[0], len(item)) + b"".join(
            value(one)[1] for one in item)

    out, data = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(metadata)), b""
    for key, item in metadata.items():
        kind, raw = value(item)
        out += text(key) + struct.pack("<I", kind) + raw
    for name, shape, kind, raw in tensors:
        out += text(name) + struct.pack("<I%dQ" % len(shape), len(shape), *shape)
        out += struct.pack("<IQ", kind, len(data))
        data += raw + bytes(-len(raw) % 32)
    return out + bytes(-len(out) % 32) + data


def gguf_files():
    def model(architecture, width, kind=0, **more):
        """One layer, two heads, six tokens."""
        at = architecture + "."
        metadata = {
            "general.architecture": architecture, at + "context_length": 16,
            at + "embedding_length": width, at + "block_count": 1,
            at + "feed_forward_length": width, at + "attention.head_count": 2,
            at + "attention.layer_norm_rms_epsilon": 1e-5, **more}
        block = {0: (1, 4), 1: (1, 2), 2: (32, 18), 8: (32, 34), 30: (1, 2)}

        def matrix(name, rows):
            weights, size = block[kind]
            raw = (b"\x11\x22\x33\x28" * (rows * width))[:rows * width // weights * size]
            return name + ".weight", (width, rows), kind, raw

        def vector(name):
            return name + ".weight", (width,), 0, struct.pack("<%df" % width, *[1.0] * width)

        layer = [matrix("blk.0." + name, width) for name in (
            "attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")]
        return metadata, [matrix("token_embd", 6), vector("output_norm"), vector("blk.0.attn_norm"),
                          vector("blk.0.ffn_norm"), *layer]

    scores = {"tokenizer.ggml.model": "llama", "tokenizer.ggml.unknown_token_id": 0,
              "tokenizer.ggml.tokens": ["<unk>", "\u2581", "a", "b", "\u2581a", "ab"],
              "tokenizer.ggml.scores": [0.0, -3.0, -4.0, -5.0, -1.0, -2.0],
              "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.token_type": [2, 1, 1, 1, 1, 1]}
    merges = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "llama-bpe",
              "tokenizer.ggml.tokens": byte_letters() + ["ab", "<s>"],
              "tokenizer.ggml.token_type": [1] * 257 + [3], "tokenizer.ggml.merges": ["a b"]}
    whole = gguf(*model("llama", 8, **scores))
    listed = model("llama", 8)[1] + [("rope_freqs.weight", (2,), 0, struct.pack("<2f", 1, 4))]
    write_all("gguf", {
        "llama": whole, "cut": whole[:-40], "header": whole[:24],
        "f16": gguf(*model("llama", 8, 1), version=2), "q8_0": gguf(*model("qwen2", 32, 8)),
        "q4_0": gguf(*model("gemma", 32, 2)), "bytes": gguf(merges, []),
        "factors": gguf(model("llama", 8)[0], listed),
        "yarn": gguf(*model("qwen2", 8, **{
            "qwen2.rope.scaling.type": "yarn", "qwen2.rope.scaling.factor": 4.0,
            "qwen2.rope.scaling.original_context_length": 8})),
        "unknown-entry": gguf(*model("llama", 8, **{"llama.mixture": 2}))})


def byte_letters():
    """GPT-2's printable character for each byte."""
    printable = [b for b in range(256) if 0x21 <= b <= 0x7e or 0xa1 <= b <= 0xff and b != 0xad]
    others = [b for b in range(256) if b not in printable]
    return [chr(b) for b in printable] + [chr(256 + i) for i in range(len(others))]


def tokenizers():
    vocabulary = {letter: i for i, letter in enumerate(byte_letters() + ["ab", "abc", "\u0120a"])}
    merges = ["a b", "ab c", "\u0120 a"]
    level = {"type": "ByteLevel", "add_prefix_space": False}
    split = {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": "\\p{N}{1,3}| ?\\p{L}+|\\s+"},
         "behavior": "Isolated", "invert": False},
        dict(level, use_regex=False)]}

    def bpe(**entries):
        model = {"type": "BPE", "vocab": vocabulary, "merges": merges}
        return json.dumps(dict({"model": model, "pre_tokenizer": level, "normalizer": None},
                               **entries), ensure_ascii=False, separators=(",", ":"))

    words = {"model": {"type": "WordLevel", "unk_token": "<u>",
                       "vocab": {"<u>": 0, "a": 1, "cat": 2, "ran": 3}},
             "pre_tokenizer": {"type": "WhitespaceSplit"}, "normalizer": None}
    added = [{"id": 259, "content": "<s>", "special": True, "normalized": False, "lstrip": False,
              "rstrip": False, "single_word": False}]
    text = "abc a cat\n12 \u00e9"
    write_all("tokenizer_json", {
        "byte-level": (bpe(), text), "split": (bpe(pre_tokenizer=split), text),
        "nfc": (bpe(normalizer={"type": "NFC"}), "e\u0301 " + text),
        "added": (bpe(added_tokens=added), "<s>" + text + "<s>"),
        "words": (json.dumps(words), "a cat sat"), "wrong": ("{\"model\":{}}", text)})
    write_all("gpt2_tokenizer", {
        "whole": (json.dumps(vocabulary, ensure_ascii=False, separators=(",", ":")),
                  "#version: 0.2\n" + "\n".join(merges) + "\n", text),
        "end-of-text": (json.dumps({**vocabulary, "<|endoftext|>": 259}, ensure_ascii=False,
                                   separators=(",", ":")), "a b\n", text + "<|endoftext|>"),
        "unknown-merge": (json.dumps({"a": 0}), "a b\n", text)})

    def scored(*tokens):
        return bytes([len(tokens)]) + b"".join(
            struct.pack("<fI", score, len(token)) + token for score, token in tokens)

    write_all("llama2c_tokenizer", {
        "bytes": (text, scored()), "wrong": (text, b"\x03abc"),
        "pairs": ("abab a", scored((-1, b"ab"), (-2, b"abab"), (-3, b" a"), (-3, b" a")))})


def cache_events(sinks, budget, chunks):
    """What a cache of sinks and newest tokens reports of each chunk."""
    stored, seen, events = [], 0, []
    for chunk in chunks:
        new = list(range(seen, seen + chunk))
        returned = stored + new
        visible = ["".join("1" if row <= query else "0" for row in returned) for query in new]
        seen += chunk
        stored = [t for t in returned if t < sinks or t >= seen - (budget - sinks)]
        events.append({"units": [{"returned": returned, "visible": visible, "stored": stored,
                                  "reported": len(stored)}]})
    return events


def battery():
    hello = {"protocol": 1, "name": "a cache",
             "wanted": {"sinks": 1, "recent": 1, "budget": 3, "seed": 0}}
    contract = {"contract": {"visibility": "causal"}}
    refuse = {"refused": "no", "units": [{"stored": [0, 3, 4], "reported": 3}]}
    run = {"events": cache_events(1, 3, [3, 2]) + [refuse]}
    again = {"events": [refuse]}

    def lines(*answers):
        return "\n".join(json.dumps(a, separators=(",", ":")) for a in answers) + "\n"

    write_all("conversation", {
        "whole": lines(hello, contract, run, again, again, again),
        "draws": lines(dict(hello, draws=True), contract,
                       {"draw": "below", "unit": 0, "bound": 5, "position": 7, "index": 0},
                       {"draw": "uniform", "unit": 0, "position": 7}, run, again, again, again),
        "refuses": lines(hello, {"refused": "these sizes"}),
        "failure": lines(hello, contract, {"events": run["events"][:1], "failure": "it broke"}),
        "error": lines(hello, {"error": "no"}), "no-json": "hello\n"})
    setup = {"layers": 1, "kv_heads": 2, "group": 1, "sequences": 2, "sinks": 1, "recent": 2,
             "budget": 6, "seed": 3}
    stream = {"kind": "hitter", "seed": 1, "planted": 2, "first_sequence": 0,
              "disturbed_sequence": -1, "disturbed_layer": -1, "disturbed_query_head": -1,
              "mirrored_group": 1, "offset": 0}
    feed = {"do": "feed", "branch": 0, "position": 0, "tokens": list(range(9))}
    calls = [feed, {"do": "fork", "branch": 0}, {"do": "snapshot", "branch": 1},
             {"do": "reorder", "branch": 0, "from": [1, 1]},
             {"do": "truncate", "branch": 1, "length": 4},
             {"do": "shift", "branch": 0, "begin": 1, "delta": -1}, {"do": "reset", "branch": 1},
             {"do": "look", "branch": 0}]
    run = {"ask": "run", "setup": setup, "draws": "seed", "stream": stream, "calls": calls}
    more = {"ask": "more", "stream": stream,
            "calls": [{"do": "feed", "branch": 0, "position": 9, "tokens": [9]}]}
    write_all("requests", {
        "hello": lines({"ask": "hello", "protocol": 1}, {"ask": "contract", "setup": setup}),
        "run": lines(run, more, dict(more, calls=calls[1:4])),
        "asked-draws": lines(dict(run, draws="ask", calls=[feed]), {"value": 1}, {"value": 0}),
        "more-first": lines(more), "wrong": lines({"ask": "nothing"}), "no-json": "hello\n"})
    rows = {"values": [0, 1], "keys": [0, 1], "positions": [0, None], "key_errors": [0.5, 0],
            "value_places": [[0, 0, 0], [0, 0, 0]], "key_places": [[0, 0, 0], [0, 0, 0]],
            "steps_off": [0, 0.5], "full_precision": [True, False]}
    unit = {"returned": rows, "visible": ["10", "11"], "stored": rows, "reported": 2, "moved": 1,
            "query_positions": [0, 1], "key_positions": [[0, 1], [0, 1]],
            "weights": [[1, 0], [0.5, 0.5]], "bytes": 64}
    full = {"name": "x", "sinks": 1, "recent": 2, "budget": 8, "largest_budget": "any",
            "timing": "lazy", "slack": 4, "visibility": "top-pages", "attended": 8,
            "attended_page": 4, "dense_layers": 1, "positions": "in-cache", "unit": "head",
            "page": 2, "rollback": "any", "precision": "int8", "claims": ["uniform"],
            "reference": "h2o:budget=8"}
    write_all("declarations", {
        "setup": json.dumps(setup), "contract": json.dumps(full), "facts": json.dumps(unit),
        "plain-facts": json.dumps({"stored": [0, 1], "returned": [0], "visible": ["1", "1"]}),
        "rows-from": json.dumps({"budgets": [8, 4, 8], "rows_from": [0, 1, 0]}),
        "nothing": "{}", "wrong": "{\"budget\":-1}"})
    sizes = "sinks=1,recent=1,budget=3;stream=random;calls="
    causal = json.dumps(contract["contract"])
    events = json.dumps(cache_events(1, 3, [3, 2, 1, 2]))
    write_all("history", {
        "right": (sizes + "f3,f2,f1,f2", causal, events),
        "window": (sizes + "f1,f1,f1,f1,f1", "{}", json.dumps(cache_events(1, 3, [1] * 5))),
        "too-many": (sizes + "f3,f2,f1,f2", causal, json.dumps(cache_events(1, 9, [3, 2, 1, 2]))),
        "refused": (sizes + "f3,f2,k", causal, json.dumps(cache_events(1, 3, [3, 2]) + [refuse])),
        "rich": ("sinks=0,recent=1,budget=2;stream=random;calls=f2", "{}",
                 json.dumps([{"units": [unit]}])),
        "wrong": (sizes + "f3", "{}", "[{}]")})
    head = {"kvcheck_history": 1, "setup": {"sinks": 1, "recent": 1, "budget": 3},
            "contract": {"visibility": "causal"}}
    fed = [{"do": "feed", "tokens": 3, "units": [{"evicted": [], "visible": "causal"}]},
           {"do": "feed", "tokens": 1, "units": [{"evicted": [1], "visible": "causal"}]}]
    whole = {"do": "feed", "tokens": 2, "units": [dict(unit, layer=[0], head=0)]}
    write_all("recorded", {
        "evicted": lines(head, *fed), "two-runs": lines(head, fed[0], head, fed[0]),
        "rich": lines(head, whole, {"do": "truncate", "length": 1, "units": [{"stored": [0]}]}),
        "operations": lines(head, fed[0], {"do": "fork"}, {"do": "reset", "branch": 1},
                            {"do": "reorder", "from": [0]}, {"do": "shift", "delta": -1},
                            {"do": "snapshot", "refused": "no"}, {"failure": "it broke"}),
        "large": lines(head, {"do": "feed", "tokens": 9999, "units": [{"visible": "causal"}]}),
        "no-entry": lines(head, {"do": "feed", "tokens": 1}),
        "not-stored": lines(head, dict(fed[1], units=[{"evicted": [7]}])), "no-json": "hello\n"})
    write_all("array_history", {
        "right": array_history([2, 1, 1], [-1, 1, 2, -1]),
        "too-early": array_history([2, 1, 1], [-1, -1, -1, 2][::-1]),
        "no-head": array_history([4], [-1] * 4, head=None), "no-arrays": "hello\n",
        "lengths": array_history([2, 1], [-1] * 4), "negative": array_history([2, -1], [-1])})
    write_all("test_case", {
        "case": "sinks=1,recent=2,budget=5,layers=2;stream=hitter,seed=7,planted=3;"
                "calls=f3,f1,k,b1:f2,b0:t4,r",
        "every-call": sizes + "f5v1,k,b1:t2,s,d1,o0,r",
        "reproduce": "visible.sinks/" + sizes + "f3,f2,f4",
        "relation": "operation.fork/" + sizes + "f3,k,b1:f2",
        "no-law": "no.law/" + sizes + "f3", "wrong": sizes + "x3"})


def reports():
    write_all("results_file", {"unchanged": b"", "header": bytes([0, 0, 18, 1]),
                               "schema": bytes([0, 1, 0, 65]), "page": bytes([0, 32, 8, 255])})
    write_all("results_rows", {
        "unchanged": "", "spec": "cells spec 1 h2o:budget=9\neval_cells spec * window:budget=4",
        "large": "traces tokens 0 9223372036854775807\nunits stored_peak * -1",
        "blob": "cells kept 0 xabcdefgh\nresidency evicted_at 0 x\ntraces map_mass 0 xaaaa",
        "texts": "runs command 1 a\033[31m\nruns status 1 running\ntraces name 0 <b>",
        "deleted": "cells delete 0\nheads delete *\nruns delete 1",
        "numbers": "heads retained_mass 0 1e300\nseries stored * -0.5\ntimed_cells token_s * 0",
        "evaluation": "eval_series targets * 0\neval_recall asked 0 0\neval_after targets * -1\neval_open_loop queries * 1\neval_inputs cell 0 x\nevaluations segment 0 3",
        "layers": "traces layers 0 0,1\ntraces rope_layout 0 half\nheads layer * 7"})
    write_all("loss_log", {
        "log": "input_length,nll\n1,2.5\n2,0.25\n3,700\n", "blanks": " nll , input_length \r\n1,2\r\n",
        "more-columns": "step,input_length,nll,text\n0,1,2,\"a,b\"\n1,4,1e-3,\"c\"\n",
        "long": "input_length,nll\n" + "".join("%d,1\n" % (i * 100 + 1) for i in range(60)),
        "decreasing": "input_length,nll\n2,1\n1,1\n"})
    write_all("figure_names", {
        "both": "# ours\n\nh2o:sinks=4 = Heavy = hitters #Ab0102\ntova = TOVA\r\nwindow = #00ff00\n",
        "no-name": "h2o = \n", "no-sign": "h2o=H2O\n", "colours": "a = #000000 #111111\nb = #12345g",
        "twice": "a = A\nb = A\n", "same-words": "a = A\na = B\n", "escape": "a = \033[1m\xe4\n"})
    matrix = {"passed": True, "whole": True, "seed": 1, "right_subjects": 2, "right_batteries": 4,
              "laws": [{"law": "size.stored", "statistical": False},
                       {"law": "chance.uniform", "statistical": True}],
              "mutants": [{"mutant": "m", "wrong": "never evicts", "source": "here",
                           "equivalent": "", "verdict": "killed", "smallest": "sinks=1",
                           "killers": [{"law": "size.stored", "cases": 3},
                                       {"law": "chance.uniform", "cases": 1}]}],
              "idle_laws": ["chance.uniform"],
              "accusations": [{"subject": "window", "law": "size.stored", "seed": 3}]}
    numbers = b"\x02\x81\x01\x05" + b"\x04" + struct.pack("<d", 0.1)
    write_all("finished_parts", {
        "whole": ["group 1 cell 2", "abc", ""],
        "torn": ["group 1 cell 2", "abc", "\x01\x02\x03"],
        "long-lengths": ["k", "", b"\xff" * 20 + b"rest"],
        "numbers": ["unit 0 bounds 1", numbers, ""],
        "mark": ["k", "v", "kvcheck unfinished run, format 1\n"],
        "other-file": ["k", "v", "SQLite format 3"]})
    write_all("kill_matrix", {
        "killed": json.dumps(matrix),
        "lives": json.dumps(dict(matrix, passed=False, mutants=[
            dict(matrix["mutants"][0], verdict="LIVES", killers=[])])),
        "nothing": json.dumps(dict(matrix, laws=[], mutants=[], idle_laws=[], accusations=[])),
        "unknown-law": json.dumps(dict(matrix, laws=[]))})


def command_lines():
    write_all("arguments", {
        "policies": ("policies", "h2o", "--brief"), "json": ("policies", "--json", "@h2o"),
        "spec": ("policies", "streaming:sinks=4,budget=64;positions=in-cache"),
        "replay": ("replay", "t.safetensors", "--policy=h2o", "--budget", "4,8", "-ox.db"),
        "eval": ("eval", "--model", "m", "--windows", "0,256", "--", "--text"),
        "check": ("check", "window:budget=4", "--cases", "100", "--quick"),
        "info": ("info", "a", "b"), "generate": ("generate", "zipf", "-o", "-"),
        "unknown": ("nothing", "a"), "control": ("policies", "a\033[31mb")})


def plans():
    replay = {"traces": ["a.safetensors", "synthetic:zipf:tokens=64"], "policies": ["h2o", "@snapkv-hold"]}
    texts = {"model": "m", "texts": ["a.txt"], "policies": ["dense", "h2o"]}
    write_all("sweep_plan", {
        "least": json.dumps({"replay": replay}),
        "most": json.dumps({"detail": "series", "replay": dict(
            replay, budgets=[16, 64], seeds=[3, 18446744073709551615], chunk=8, prompt=32, question=4,
            **{"kv-heads": 2, "top-k": 4, "oracle": True, "oracle-tokens": 512, "strict": True})}),
        "seeds": json.dumps({"replay": dict(replay, seeds=20)}),
        "unknown-field": json.dumps({"replay": dict(replay, budget=[16])}),
        "twice": json.dumps({"replay": dict(replay, budgets=[16, 16])}),
        "no-traces": json.dumps({"replay": {"traces": [], "policies": ["h2o"]}}),
        "types": json.dumps({"replay": {"traces": "a", "policies": [1]}, "detail": 3}),
        "eval": json.dumps({"eval": texts}),
        "eval-most": json.dumps({"detail": "series", "eval": dict(
            texts, budgets=[16], seeds=3, chunk=8, prompt=32, question=4, weights="int8", storage="int4",
            keys="raw", tokenizer="t.json", ids=True, tokens=64, split="\n", each=True, mark=True,
            windows=[0, 256], segment=64, **{"no-begin": True, "open-loop": True})}),
        "tasks": json.dumps({"tasks": {"model": "m", "files": ["a.jsonl"], "policies": ["h2o"],
                                       "answer-tokens": 4, "no-begin": True,
                                       "beyond-context": True}}),
        "speed": json.dumps({"speed": {"model": "m", "lengths": [64], "policies": ["h2o"]}}),
        "speed-most": json.dumps({"detail": "summary", "speed": {
            "model": "m", "lengths": [64, 16], "policies": ["h2o", "dense"], "budgets": [16], "seeds": [2],
            "chunk": 8, "weights": "int8", "storage": "f16", "keys": "raw", "tokens": 4, "runs": 8,
            "threads": 2}}),
        "speed-heads": json.dumps({"detail": "heads", "speed": {"model": "m", "lengths": [64],
                                                                "policies": ["h2o"]}}),
        "two-sections": json.dumps({"eval": texts, "replay": replay}),
        "eval-heads": json.dumps({"eval": texts, "detail": "heads"}),
        "cut": json.dumps({"replay": replay})[:-3], "list": "[]", "deep": "[" * 64})
    mean = {"results": "run.db", "measure": "loss", "of": "h2o", "mean": {"below": 2.5}}
    ratio = {"about": "uncut", "results": "run.db", "measure": "perplexity", "window": 0, "of": "window:budget=64",
             "against": "streaming", "ratio": {"above": 0.5, "below": 1.5}}
    spread = dict(ratio, measure="retained_mass", spread=True, difference={"above": -1e-3})
    del spread["ratio"], spread["window"]
    law = {"results": "laws.jsonl", "law": "attention.permutation"}
    uniform = {"results": "uniform.jsonl", "uniform": "reservoir:budget=64"}

    def said(*conditions, **more):
        return json.dumps({"hypotheses": [dict({"hypothesis": "It holds.", "conditions": conditions}, **more)]})

    write_all("hypotheses", {
        "mean": said(mean), "most": said(ratio, spread, law, uniform, source="S.", note="N."),
        "two-quantities": said(dict(ratio, difference={"above": 0})), "no-quantity": said({"results": "run.db"}),
        "unknown-measure": said(dict(mean, measure="los")), "no-bound": said(dict(mean, mean={})),
        "empty-bounds": said(dict(mean, mean={"above": 1, "below": 1})),
        "perplexities": said(dict(spread, measure="perplexity")), "one-spec": said(dict(ratio, against=None)),
        "growth": said(dict(mean, measure="token_s", length=64, growth={"below": 1.5}, mean=None)),
        "growth-of-loss": said(dict(mean, growth={"below": 1.5}, mean=None)), "law-of-numbers": said(dict(law, measure="loss")), "none": said(),
        "huge": said(dict(mean, mean={"above": 1e308})), "cut": said(mean)[:-4], "list": "[]"})
    item = {"id": "a", "context": "The hat is red.", "answers": ["red"]}
    most = dict(item, group="g", question=" What is the hat?", answers=["red", "the red"],
                choices=["red", "blue"], stop=["\n", "."], about={"depth": 0.5})
    write_all("task_items", {
        "least": json.dumps(item), "most": json.dumps(most),
        "two": json.dumps(item) + "\n\n" + json.dumps(dict(most, id="b")) + "\n",
        "twice": json.dumps(item) + "\n" + json.dumps(item), "empty": "\n",
        "articles": json.dumps(dict(item, answers=["the", "."])),
        "letters": json.dumps(dict(item, answers=["\u00c9t\u00e9 \u0391\u03a3"]), ensure_ascii=False),
        "no-answer": json.dumps(dict(item, answers=[])),
        "not-a-choice": json.dumps(dict(item, choices=["blue", "green"])),
        "unknown-field": json.dumps(dict(item, answer="red")), "cut": json.dumps(item)[:-3]})


words = {
    "task_items": "id group context question answers choices stop about the a an \\n \\u00c9",
    "sweep_plan": "replay detail traces policies budgets seeds chunk prompt question kv-heads top-k "
                  "oracle oracle-tokens strict summary heads series true false null eval tasks model texts files "
                  "windows segment open-loop weights tokenizer ids no-begin storage keys tokens split each "
                  "mark answer-tokens beyond-context speed lengths runs threads",
    "hypotheses": "hypotheses hypothesis source note conditions about results measure of against spread window "
                  "length growth token_s mean difference ratio law uniform above below true false null loss perplexity",
    "spec": "dense window streaming random reservoir h2o tova snapkv keyformer lagkv fifo lru "
            "chunkkv rkv a2sf criticalkv kvzip q-filters paged-eviction ladder pages separators "
            "token-classes scissorhands key-norm keydiff "
            "expected-attention semantic-blocks @quest @duo @snapkv-hold sinks= recent= budget= "
            ";timing=lazy: ;timing=trim-then-attend ;visibility=window ;visibility=top-pages: "
            ";positions=in-cache ;positions=shifted ;unit=layer ;unit=head ;unit=model "
            ";budgets=pyramid: ;budgets=retrieval: ;budgets=adaptive: ;vectors=re-evaluated ;chunk= "
            ";storage=kivi2 ;storage=int4:recent= "
            ";compress=prompt ;compress=question +grow +hold +every: ;compress=never ratio=0.5 "
            "@snapkv-prompt",
    "storage": "f32 f16 bf16 int8 int4 kivi4 kivi2 :recent= ,recent= sinks= full=f16 group= "
               "streaming:budget=8 ;positions=shifted ;positions=in-cache ;chunk= rotated-f16 raw",
    "synthetic_spec": "sink-recency zipf drift needle topics uniform one-hot ties kind=qkv tokens= "
                      "layers= heads= kv_heads= head_dim= seed= dtype=f16 rope=half hitters= mass= "
                      "rope=interleaved exponent= within= decay= noise= period= position= spread= "
                      "attended= ask_at= ask_every= sinks= topics=",
    "trace": "__metadata__ format kvcheck-trace version kind attention qkv layers query_heads "
             "kv_heads head_dim rope_layout rope_theta rope_dims interleaved trained_context dtype "
             "shape data_offsets F32 F16 BF16 I32 I64 U8 tokens text text_ends nll layers.0.q rope_scale "
             "rope_applied attention_scale soft_cap window learned_sinks model_layers none half,none yes "
             "F64 layers.0.frequencies layers.0.sinks layers.0.slopes queries query_design kv_head_numbers "
             "every: 1/4 0-3,6",
    "npy": "descr fortran_order shape <f2 <f4 <f8 False True",
    "config": "mistral qwen3 smollm3 gemma gemma2 gemma3_text phi3 olmo2 granite stablelm gpt_neo "
              "sliding_window layer_types sliding_attention full_attention no_rope_layers yarn "
              "dynamic longrope short_factor long_factor beta_fast mscale attention_factor "
              "attention_types query_pre_attn_scalar attn_logit_softcapping "
              "model_type llama qwen2 gpt_neox gpt2 head_dim rope_scaling rope_parameters rope_type "
              "linear llama3 factor low_freq_factor high_freq_factor partial_rotary_factor "
              "original_max_position_embeddings rotary_pct attention_bias mlp_bias n_inner "
              "eos_token_id tie_word_embeddings use_sliding_window kvcheck_note quantization_config",
    "gguf": "GGUF general.architecture general.alignment llama qwen2 qwen3 gemma gemma2 gemma3 phi3 "
            "olmo2 granite stablelm gptneox gpt2 .context_length .attention.head_count_kv "
            ".attention.key_length .attention.sliding_window .rope.dimension_count .rope.freq_base "
            ".rope.scaling.type .rope.scaling.factor linear yarn longrope rope_freqs.weight "
            "rope_factors_long.weight attn_logit_softcapping blk.0.attn_q.bias output.weight "
            "tokenizer.ggml.model tokenizer.ggml.pre tokenizer.ggml.tokens tokenizer.ggml.merges "
            "tokenizer.ggml.scores tokenizer.ggml.token_type tokenizer.ggml.add_space_prefix "
            "llama-bpe qwen2 smollm <0x41>",
    "tokenizer_json": "added_tokens content special lstrip normalizer NFC Sequence Split Regex "
                      "pattern behavior Isolated invert ByteLevel add_prefix_space use_regex BPE "
                      "WordLevel vocab merges unk_token WhitespaceSplit ignore_merges byte_fallback",
    "results_rows": "runs traces dense cells heads units series residency bounds evaluations "
                    "eval_cells eval_series eval_recall eval_after eval_open_loop eval_inputs weights timings timed_cells timing_threads "
                    "timed_repetitions repetition timed_details mean_token_s kernels processor "
                    "delete * spec budget "
                    "tokens layers query_heads kv_heads kept lifetimes evicted_at map_mass map_side "
                    "map_block ordinal run trace cell first_step targets nats series_width segment "
                    "rope_layout checksum seed status label top_k number stored_peak optimum greedy",
    "figure_names": "h2o = #0072b2 window:recent=64 # H2O",
    "loss_log": "input_length nll , 1e5 nan inf",
    "kill_matrix": "passed whole seed laws law statistical mutants mutant killers cases verdict "
                   "idle_laws accusations subject equivalent",
    "test_case": "sinks= recent= budget= layers= kv-heads= group= sequences= seed= stream=random "
                 "stream=hitter stream=ties stream=drift planted= calls= visible.sinks/ survives/ "
                 "operation.fork/ operation.truncate/ chunking.equal/ f1 f3 k b1: t2 r o1.0 d-1 s",
    "arguments": "policies replay eval check record generate speed report selftest uniformity "
                 "--policy --budget --seed --output --json --brief --chunk --windows --oracle -o -- "
                 "--model --text --tokens --help",
    "protocol": "protocol name draws logits sizes contract refused events units returned "
                "visible stored reported query_positions key_positions weights values keys positions "
                "value_places key_places key_errors steps_off full_precision moved bytes failure "
                "error ask hello run more setup layers kv_heads group sequences sinks recent budget "
                "seed stream calls do feed look fork truncate reset reorder shift snapshot branch "
                "tokens length from begin delta timing lazy slack visibility causal top-pages unit "
                "head page rollback any precision int8 claims reference largest_budget mean_budget "
                "rows_from kvcheck_history variant evicted listed page_bounds refused causal all",
}


def dictionaries():
    folder = os.path.join(here, "dictionaries")
    os.makedirs(folder, exist_ok=True)
    shared = {"protocol": ["conversation", "requests", "declarations", "history",
                           "recorded"],
              "trace": ["trace", "safetensors"], "npy": ["npy", "npz"], "config": ["config", "model"]}
    for key, text in words.items():
        for target in shared.get(key, [key]):
            with open(os.path.join(folder, target + ".dict"), "w") as file:
                file.writelines('"%s"\n' % word.replace("\\", "\\\\") for word in text.split())


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    here = sys.argv[2] if len(sys.argv) == 3 else here
    traces(sys.argv[1])
    specs()
    models()
    tokenizers()
    battery()
    reports()
    command_lines()
    plans()
    dictionaries()
