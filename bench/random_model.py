"""Writes a llama of random weights that kvcheck, llama.cpp, ik_llama.cpp and llama2.c read, for peers.py.

Usage: random_model.py FOLDER [LAYERS]

It has 12 layers of 12 heads of 64, a width of 768, 2,048 inner numbers and 32,000 tokens: 110 million weights.
FOLDER gets f32.gguf, f16.gguf, and model.bin with tokenizer.bin for llama2.c. Speed does not depend on the
numbers, so the three files do not hold the same ones.
"""
import os
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "model"))
import gguf_writer  # noqa: E402  (it stands in a folder of the tests)

WIDTH, HEADS, INNER, VOCABULARY, CONTEXT = 768, 12, 2048, 32000, 2048
MATRICES = {"attn_q": (WIDTH, WIDTH), "attn_k": (WIDTH, WIDTH), "attn_v": (WIDTH, WIDTH),
            "attn_output": (WIDTH, WIDTH), "ffn_gate": (INNER, WIDTH), "ffn_down": (WIDTH, INNER),
            "ffn_up": (INNER, WIDTH)}
NORMS = ("attn_norm", "ffn_norm")


def random(draw, shape):
    """Numbers of the size that trained weights have."""
    return (draw.standard_normal(shape, dtype=np.float32) * np.float32(0.02)).astype("<f4")


def words():
    """A vocabulary as SentencePiece's: control tokens, bytes, and words."""
    bytes_ = ["<0x%02X>" % byte for byte in range(256)]
    return ["<unk>", "<s>", "</s>", *bytes_, *("w%d" % i for i in range(VOCABULARY - 259))]


def metadata(layers):
    a = "llama."
    return {"general.architecture": "llama", "general.name": "random weights",
            a + "context_length": CONTEXT, a + "embedding_length": WIDTH, a + "block_count": layers,
            a + "feed_forward_length": INNER, a + "attention.head_count": HEADS,
            a + "attention.head_count_kv": HEADS, a + "rope.dimension_count": WIDTH // HEADS,
            a + "attention.layer_norm_rms_epsilon": 1e-5, a + "rope.freq_base": 10000.0,
            a + "vocab_size": VOCABULARY, "tokenizer.ggml.model": "llama",
            "tokenizer.ggml.tokens": words(),
            "tokenizer.ggml.scores": [-float(i) for i in range(VOCABULARY)],
            "tokenizer.ggml.token_type": [2, 3, 3] + [6] * 256 + [1] * (VOCABULARY - 259),
            "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2,
            "tokenizer.ggml.unknown_token_id": 0}


def write_gguf(path, layers, kind, draw):
    number = {"F32": "<f4", "F16": "<f2"}[kind]
    tensors = [("token_embd.weight", [VOCABULARY, WIDTH], kind,
                random(draw, (VOCABULARY, WIDTH)).astype(number).tobytes()),
               ("output_norm.weight", [WIDTH], "F32", np.ones(WIDTH, "<f4").tobytes())]
    for layer in range(layers):
        at = "blk.%d." % layer
        tensors += [(at + name + ".weight", [WIDTH], "F32", np.ones(WIDTH, "<f4").tobytes())
                    for name in NORMS]
        tensors += [(at + name + ".weight", list(shape), kind, random(draw, shape).astype(number).tobytes())
                    for name, shape in MATRICES.items()]
    with open(path, "wb") as file:
        file.write(gguf_writer.container(metadata(layers), tensors))


def write_llama2c(folder, layers, draw):
    with open(folder + "/model.bin", "wb") as file:
        file.write(struct.pack("<7i", WIDTH, INNER, layers, HEADS, HEADS, VOCABULARY, CONTEXT))
        shapes = list(MATRICES.values())
        attention, feed = shapes[:4], shapes[4:]
        for numbers in (random(draw, (VOCABULARY, WIDTH)), np.ones((layers, WIDTH), "<f4"),
                        *(random(draw, (layers, *shape)) for shape in attention),
                        np.ones((layers, WIDTH), "<f4"),
                        *(random(draw, (layers, *shape)) for shape in feed), np.ones(WIDTH, "<f4"),
                        np.zeros((2, CONTEXT, WIDTH // HEADS // 2), "<f4")):
            file.write(numbers.tobytes())
    with open(folder + "/tokenizer.bin", "wb") as file:
        texts = [word.encode() for word in words()]
        file.write(struct.pack("<i", max(map(len, texts))))
        for at, text in enumerate(texts):
            file.write(struct.pack("<fi", -float(at), len(text)) + text)


def main(folder, layers):
    draw = np.random.default_rng(7)
    os.makedirs(folder, exist_ok=True)
    for kind in ("F32", "F16"):
        write_gguf(f"{folder}/{kind.lower()}.gguf", layers, kind, draw)
    write_llama2c(folder, layers, draw)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 12)
