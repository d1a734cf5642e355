"""Trains the bundled model and writes it as a Hugging Face GPT-NeoX directory.

    train.py --out DIR [--steps 5000] [--plain 1500] [--sink 0.02] [--seed 1]
    train.py --out DIR --plain 5001                 the control, without the term

Plain next-token training first. Then, from step --plain on, a small term pulls attention of every layer
but the first to position 0: the sink that large models grow by themselves does not form at this size in so
few tokens, and a model described as having one must say that it was trained to.
"""
import argparse
import json
import math
import os
import struct
import time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import text

WIDTH, LAYERS, HEADS, ROTARY, CONTEXT = 128, 4, 4, 0.5, 256
HEAD = WIDTH // HEADS
ROTATED = int(HEAD * ROTARY)


def rotate(x, cos, sin):
    half = ROTATED // 2
    a, b, rest = x[..., :half], x[..., half:ROTATED], x[..., ROTATED:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], -1)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.input_layernorm = nn.LayerNorm(WIDTH)
        self.post_attention_layernorm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)  # rows: [heads, (q, k, v), head]
        self.dense = nn.Linear(WIDTH, WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, cos, sin, mask, want_mass):
        batch, tokens, _ = x.shape
        qkv = self.qkv(self.input_layernorm(x)).view(batch, tokens, HEADS, 3 * HEAD).transpose(1, 2)
        q, k, v = qkv.split(HEAD, -1)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        mass = (q @ k.transpose(-1, -2) / math.sqrt(HEAD) + mask).softmax(-1)
        mixed = (mass @ v).transpose(1, 2).reshape(batch, tokens, WIDTH)
        x = x + self.dense(mixed) + self.down(F.gelu(self.up(self.post_attention_layernorm(x))))
        return x, (mass[:, :, 8:, 0] if want_mass else None)


class Model(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.embed_in = nn.Embedding(words, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.final = nn.LayerNorm(WIDTH)
        self.embed_out = nn.Linear(WIDTH, words, bias=False)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                residual = name.endswith(("dense.weight", "down.weight"))
                nn.init.normal_(weight, 0, 0.02 / (math.sqrt(2 * LAYERS) if residual else 1))
            elif name.endswith("bias"):
                nn.init.zeros_(weight)
        angle = torch.arange(8192)[:, None] * 10000.0 ** (-torch.arange(0, ROTATED, 2) / ROTATED)
        self.cos, self.sin = angle.cos(), angle.sin()

    def forward(self, tokens, want_mass=False):
        n = tokens.shape[1]
        mask = torch.full((n, n), -1e9).triu(1)
        x, masses = self.embed_in(tokens), []
        for i, layer in enumerate(self.layers):
            x, mass = layer(x, self.cos[:n], self.sin[:n], mask, want_mass and i > 0)
            if mass is not None:
                masses.append(mass)
        return self.embed_out(self.final(x)), masses


def tensors_of(model):
    out = {"gpt_neox.embed_in.weight": model.embed_in.weight, "embed_out.weight": model.embed_out.weight,
           "gpt_neox.final_layer_norm.weight": model.final.weight,
           "gpt_neox.final_layer_norm.bias": model.final.bias}
    names = {"input_layernorm": "input_layernorm", "post_attention_layernorm": "post_attention_layernorm",
             "qkv": "attention.query_key_value", "dense": "attention.dense", "up": "mlp.dense_h_to_4h",
             "down": "mlp.dense_4h_to_h"}
    for i, layer in enumerate(model.layers):
        for ours, theirs in names.items():
            for part in ("weight", "bias"):
                out[f"gpt_neox.layers.{i}.{theirs}.{part}"] = getattr(getattr(layer, ours), part)
    return {name: tensor.detach().numpy().astype(np.float16) for name, tensor in sorted(out.items())}


def save(model, words, folder, note):
    os.makedirs(folder, exist_ok=True)
    header, blobs, at = {"__metadata__": {"format": "pt"}}, [], 0
    for name, array in tensors_of(model).items():
        blob = array.tobytes()
        header[name] = {"dtype": "F16", "shape": list(array.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    with open(f"{folder}/model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + b"".join(blobs))
    config = {"architectures": ["GPTNeoXForCausalLM"], "model_type": "gpt_neox",
              "kvcheck_note": note, "vocab_size": len(words),
              "hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
              "intermediate_size": 4 * WIDTH, "hidden_act": "gelu", "rotary_pct": ROTARY,
              "rotary_emb_base": 10000, "max_position_embeddings": CONTEXT, "layer_norm_eps": 1e-5,
              "use_parallel_residual": True, "tie_word_embeddings": False, "bos_token_id": 0,
              "eos_token_id": 0, "torch_dtype": "float16"}
    with open(f"{folder}/config.json", "w") as file:
        json.dump(config, file, indent=2)
        file.write("\n")
    tokenizer = {"version": "1.0", "truncation": None, "padding": None,
                 "added_tokens": [{"id": 0, "content": words[0], "single_word": False, "lstrip": False,
                                   "rstrip": False, "normalized": False, "special": True}],
                 "normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None,
                 "decoder": None,
                 "model": {"type": "WordLevel", "vocab": {w: i for i, w in enumerate(words)},
                           "unk_token": "<unk>"}}
    with open(f"{folder}/tokenizer.json", "w") as file:
        json.dump(tokenizer, file, indent=1)
        file.write("\n")


class Windows:
    """Training windows: BOS and 255 tokens, half from an episode's start, half from a sentence's."""

    def __init__(self, seed, tokens, ids):
        words, self.starts, self.firsts, answers = text.stream(seed, tokens)
        self.tokens = np.array([ids[w] for w in words])
        self.fact = np.full(len(words), -1)
        for answer, fact in answers.items():
            self.fact[answer] = fact

    def batch(self, rng, size):
        rows, weights = [], []
        while len(rows) < size:
            pool = self.firsts if rng.random() < 0.5 else self.starts
            at = pool[rng.integers(len(pool))]
            if at + CONTEXT > len(self.tokens):
                continue
            rows.append(np.concatenate([[0], self.tokens[at:at + CONTEXT]]))
            weights.append(np.where(self.fact[at:at + CONTEXT] >= at, 4.0, 1.0))
        return torch.from_numpy(np.stack(rows)), torch.from_numpy(np.stack(weights)).float()


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("--out", required=True)
    parse.add_argument("--steps", type=int, default=5000)
    parse.add_argument("--plain", type=int, default=1500)
    parse.add_argument("--sink", type=float, default=0.02)
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--tokens", type=int, default=3000000)
    args = parse.parse_args()
    note = "trained with%s a sink-forming term" % ("" if args.plain <= args.steps else "out")
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    words = text.vocabulary()
    ids = {w: i for i, w in enumerate(words)}
    data, check = Windows(args.seed, args.tokens, ids), Windows(10**6 + args.seed, 40000, ids)
    model, rng = Model(len(words)), np.random.default_rng(args.seed)
    print("words", len(words), "parameters", sum(p.numel() for p in model.parameters()), flush=True)
    matrices = [p for p in model.parameters() if p.dim() == 2]
    others = [p for p in model.parameters() if p.dim() != 2]
    adam = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0}],
                             lr=3e-3, betas=(0.9, 0.95))
    held, began = check.batch(np.random.default_rng(7), 32), time.time()
    for step in range(args.steps + 1):
        rest = max(0.0, (step / args.steps - 0.3) / 0.7)
        rate = 3e-3 * min(1, (step + 1) / 100) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * rest)))
        for group in adam.param_groups:
            group["lr"] = rate
        if step % 250 == 0:
            with torch.no_grad():
                rows, weight = held
                logits, masses = model(rows[:, :-1], True)
                loss = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
                hit = (logits.argmax(-1) == rows[:, 1:])[weight > 1].float().mean()
                sink = " ".join(f"{m.mean():.2f}" for m in masses)
            print(f"step {step} loss {loss:.3f} recall {hit:.3f} sink {sink} {time.time() - began:.0f}s", flush=True)
            save(model, words, args.out, note)
        rows, weight = data.batch(rng, 4)
        logits, masses = model(rows[:, :-1], step >= args.plain)
        each = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten(), reduction="none")
        loss = (each * weight.flatten()).sum() / weight.sum()
        for mass in masses:
            loss = loss - args.sink * (mass + 1e-3).log().mean()
        adam.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
    save(model, words, args.out, note)


if __name__ == "__main__":
    main()
