"""A decoder with the attention interface of transformers, in NumPy or, where it is there, in torch.

Its layers differ as those of published models do: grouped heads, norms of keys, layers that do not rotate,
windows, learned sinks, soft caps, tables in either layout, scaled rotations, fused projections.
"""

import types

import numpy

try:
    import torch
except ModuleNotFoundError:
    torch = None


class Plain:
    """What the recorder uses of torch.nn.Module."""

    def children(self):
        return [one for one in vars(self).values() if isinstance(one, Plain)]

    def modules(self):
        yield self
        for one in vars(self).values():
            for child in one if isinstance(one, list) else [one]:
                if isinstance(child, Plain):
                    yield from child.modules()

    def __call__(self, *given, **named):
        return self.forward(*given, **named)


class Table(dict):
    """ALL_ATTENTION_FUNCTIONS: a mapping."""


def join(parts, axis):
    return numpy.concatenate(parts, axis) if isinstance(parts[0], numpy.ndarray) else torch.cat(parts, axis)


def eager_attention_forward(module, query, key, value, attention_mask, scaling=None, dropout=0.0,
                            softcap=None, s_aux=None, **_):
    library = numpy if isinstance(query, numpy.ndarray) else torch
    index = [head * key.shape[1] // query.shape[1] for head in range(query.shape[1])]
    logits = (query @ key[:, index].swapaxes(-1, -2)) * scaling
    if softcap is not None:
        logits = softcap * library.tanh(logits / softcap)
    logits = logits + attention_mask[..., :key.shape[2]]
    if s_aux is not None:
        logits = join([logits, s_aux.reshape(1, -1, 1, 1) + 0 * logits[..., :1]], -1)
    weights = library.exp(logits)
    rows = (weights / weights.sum(-1)[..., None])[..., :key.shape[2]]
    module.last_rows = rows[0]
    return (rows @ value[:, index]).swapaxes(1, 2), None


FUNCTIONS = Table(sdpa=eager_attention_forward)


def classes(library, base):
    """The class Decoder for arrays of one library."""

    class Linear(base):
        def __init__(self, weight):
            super().__init__()
            self.weight = weight

        def forward(self, x):
            return x @ self.weight

    class Norm(base):
        def forward(self, x):
            return x / (x * x).mean(-1)[..., None] ** 0.5

    class Attention(base):
        def __init__(self, config, layer_idx, weights, make):
            super().__init__()
            self.config, self.layer_idx, self.scaling = config, layer_idx, config.scaling
            rule = config.rules[layer_idx % len(config.rules)]
            self.rule, self.sliding_window = rule, rule.get("window")
            self.sinks = make(rule["sinks"]) if "sinks" in rule else None
            if config.fused:
                self.qkv_proj = Linear(join([weights[name] for name in "qkv"], 1))
            else:
                self.q_proj, self.k_proj, self.v_proj = (Linear(weights[name]) for name in "qkv")
            if config.norm:
                self.k_norm = Norm()

        def project(self, hidden):
            config = self.config
            if config.fused:
                wide = self.qkv_proj(hidden)
                ends = numpy.cumsum([config.heads * config.dim, config.kv_heads * config.dim])
                parts = wide[..., :ends[0]], wide[..., ends[0]:ends[1]], wide[..., ends[1]:]
            else:
                parts = self.q_proj(hidden), self.k_proj(hidden), self.v_proj(hidden)
            q, k, v = (part.reshape(*hidden.shape[:-1], -1, config.dim) for part in parts)
            if config.norm:
                k = self.k_norm(k)
            return (part.swapaxes(1, 2) for part in (q, k, v))

        def rotate(self, x, cos, sin):
            r = self.config.rope_dims
            rest, cos, sin = x[..., r:], cos[:, None], sin[:, None]
            x = x[..., :r]
            if self.config.layout == "half":
                cos, sin = cos[..., :r // 2], sin[..., :r // 2]
                a, b = x[..., :r // 2], x[..., r // 2:]
                rotated = join([a * cos - b * sin, b * cos + a * sin], -1)
            else:
                cos, sin = cos[..., :r:self.config.step], sin[..., :r:self.config.step]
                cos, sin = cos[..., :r // 2], sin[..., :r // 2]
                a, b = x[..., ::2], x[..., 1::2]
                rotated = library.stack([a * cos - b * sin, b * cos + a * sin], -1).reshape(x.shape)
            return join([rotated, rest], -1)

        def forward(self, hidden, position_embeddings=None, attention_mask=None, cache=None):
            q, k, v = self.project(hidden)
            if self.rule.get("rotates", True):
                q, k = (self.rotate(x, *position_embeddings) for x in (q, k))
            if cache is not None:
                before = cache.get(self.layer_idx)
                if before is not None:
                    k, v = join([before[0], k], 2), join([before[1], v], 2)
                keep = slice(-(self.sliding_window - 1) if self.sliding_window else None, None)
                cache[self.layer_idx] = k[:, :, keep], v[:, :, keep]
            name = self.config._attn_implementation
            function = eager_attention_forward if name == "eager" else FUNCTIONS[name]
            output, _ = function(self, q, k, v, attention_mask[self.layer_idx][..., -k.shape[2]:],
                                 dropout=0.0, scaling=self.scaling, sliding_window=self.sliding_window,
                                 softcap=self.rule.get("soft_cap"), s_aux=self.sinks)
            return output.reshape(*hidden.shape[:-1], -1)

    class Decoder(base):
        def __init__(self, config, dtype=None):
            super().__init__()
            self.config, random = config, numpy.random.default_rng(config.seed)
            self.make = make = lambda array: _made(library, array, dtype)

            def drawn(*shape):
                return make(random.normal(size=shape) / shape[0] ** 0.5)

            wide = config.heads * config.dim
            self.embedding = drawn(config.vocabulary, wide) * 8
            if library is torch:
                self.embedding = torch.nn.Parameter(self.embedding, requires_grad=False)
            layers = [Attention(config, layer, {
                "q": drawn(wide, wide), "k": drawn(wide, config.kv_heads * config.dim),
                "v": drawn(wide, config.kv_heads * config.dim)}, make)
                for layer in range(config.num_hidden_layers)]
            self.layers = layers if base is Plain else torch.nn.ModuleList(layers)

        def tables(self, first, count):
            return tuple(self.make(table[None]) for table in self.config.tables(first, count))

        def forward(self, input_ids, use_cache=False, cache=None, first=0):
            ids = input_ids[0]
            hidden = self.embedding[ids][None]
            masks = [self.make(_mask(layer.sliding_window, first, len(ids))[None, None])
                     for layer in self.layers]
            for layer in self.layers:
                hidden = hidden + layer(hidden, position_embeddings=self.tables(first, len(ids)),
                                        attention_mask=masks, cache=cache)
            return types.SimpleNamespace(logits=hidden @ self.embedding.T / 64)

    return Decoder


def _made(library, array, dtype):
    array = numpy.asarray(array, numpy.float32)
    return array if library is numpy else torch.from_numpy(array).to(dtype or torch.float32)


def _mask(window, first, count):
    """Added to logits, for all keys up to the last query."""
    distance = (first + numpy.arange(count))[:, None] - numpy.arange(first + count)
    hidden = (distance < 0) | (distance >= (window or first + count))
    return numpy.where(hidden, -1e9, 0)


class Config:
    """Sizes and rules. rules: what layers do, one after another and again from the first."""

    _name_or_path = "like/attention"

    def __init__(self, heads=4, kv_heads=2, dim=16, layers=2, rules=({},), layout="half", rope_dims=None,
                 theta=10000.0, frequencies=None, scale=1.0, norm=False, fused=False, scaling=None,
                 implementation="eager", seed=1, vocabulary=64, twice=True):
        self.heads, self.kv_heads, self.dim, self.num_hidden_layers = heads, kv_heads, dim, layers
        self.rules, self.layout, self.rope_dims = list(rules), layout, rope_dims or dim
        self.rope_theta, self.frequencies, self.scale = theta, frequencies, scale
        self.norm, self.fused, self.seed, self.vocabulary = norm, fused, seed, vocabulary
        self.scaling = dim ** -0.5 if scaling is None else scaling
        self._attn_implementation = implementation
        # Whether tables hold each number twice; interleaved ones then stand side by side.
        self.twice, self.step = twice, 2 if twice else 1

    def tables(self, first, count):
        r = self.rope_dims
        frequencies = self.frequencies
        if frequencies is None:
            frequencies = self.rope_theta ** (-numpy.arange(0, r, 2) / r)
        angles = numpy.outer(first + numpy.arange(count), frequencies).astype(numpy.float32)
        if self.twice:
            angles = (numpy.concatenate([angles, angles], 1) if self.layout == "half"
                      else numpy.repeat(angles, 2, 1))
        return self.scale * numpy.cos(angles), self.scale * numpy.sin(angles)


class Tokenizer:
    """A word for each number of a vocabulary of 64."""

    words = ["w%d " % number for number in range(64)]

    def __call__(self, text):
        return {"input_ids": [int(word[1:]) for word in text.split()]}

    def decode(self, ids, **_):
        return "".join(self.words[token] for token in ids)


Decoder = classes(numpy, Plain)
if torch is not None:
    TorchDecoder = classes(torch, torch.nn.Module)
