"""Rotary positions in double precision, with NumPy.

Written from modeling_rope_utils.py in Hugging Face transformers. A table is the inverse frequencies
with the factor of cosines and sines.
"""
import math

import numpy as np


def plain(base, dims):
    return 1.0 / base ** (np.arange(0, dims, 2) / dims)


def yarn(settings, base, dims, context):
    factor = settings["factor"]
    original = settings.get("original_max_position_embeddings", context)

    def mscale(scale, m=1.0):
        return 1.0 if scale <= 1 else 0.1 * m * math.log(scale) + 1.0

    attention = settings.get("attention_factor")
    if attention is None and settings.get("mscale") and settings.get("mscale_all_dim"):
        attention = mscale(factor, settings["mscale"]) / mscale(factor, settings["mscale_all_dim"])
    elif attention is None:
        attention = mscale(factor)

    def correction(rotations):
        return dims * math.log(original / (rotations * 2 * math.pi)) / (2 * math.log(base))

    low = correction(settings.get("beta_fast") or 32)
    high = correction(settings.get("beta_slow") or 1)
    if settings.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dims - 1)
    if low == high:
        high += 0.001
    ramp = np.clip((np.arange(dims // 2) - low) / (high - low), 0, 1)
    inverse = plain(base, dims)
    return inverse / factor * ramp + inverse * (1 - ramp), attention


def llama3(settings, base, dims):
    low_factor, high_factor = settings["low_freq_factor"], settings["high_freq_factor"]
    original = settings["original_max_position_embeddings"]
    frequencies = []
    for frequency in plain(base, dims):
        wavelength = 2 * math.pi / frequency
        if wavelength < original / high_factor:
            frequencies.append(frequency)
        elif wavelength > original / low_factor:
            frequencies.append(frequency / settings["factor"])
        else:
            smooth = (original / wavelength - low_factor) / (high_factor - low_factor)
            frequencies.append((1 - smooth) * frequency / settings["factor"] + smooth * frequency)
    return np.array(frequencies), 1.0


def longrope(settings, base, dims, config, length):
    original = config.get("original_max_position_embeddings",
                          settings.get("original_max_position_embeddings"))
    factor = config["max_position_embeddings"] / original
    attention = settings.get("attention_factor")
    if attention is None:
        attention = 1.0
        if factor > 1:
            attention = math.sqrt(1 + math.log(factor) / math.log(original))
    lists = settings["long_factor"] if length > original else settings["short_factor"]
    return plain(base, dims) / np.array(lists), attention


def rope_table(config, dims, base, length):
    settings = config.get("rope_scaling")
    if settings is None:
        return plain(base, dims), 1.0
    kind = settings.get("rope_type", settings.get("type"))
    context = config["max_position_embeddings"]
    if kind == "linear":
        return plain(base, dims) / settings["factor"], 1.0
    if kind == "dynamic":
        reach = max(length, context)
        grown = settings["factor"] * reach / context - (settings["factor"] - 1)
        return plain(base * grown ** (dims / (dims - 2)), dims), 1.0
    if kind == "llama3":
        return llama3(settings, base, dims)
    if kind == "yarn" and config["model_type"] != "phi3":
        return yarn(settings, base, dims, context)
    return longrope(settings, base, dims, config, length)


def rotate(x, positions, table):
    """x [tokens, dim]: q * cos + rotate_half(q) * sin over the leading dimensions."""
    inverse, factor = table
    half = len(inverse)
    angles = np.outer(positions, inverse)
    cos, sin = np.cos(angles) * factor, np.sin(angles) * factor
    a, b, rest = x[:, :half], x[:, half:2 * half], x[:, 2 * half:]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin, rest], axis=1)
