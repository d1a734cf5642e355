"""Makes caches of real tensors subjects of kvcheck. The rows that a cache returns carry tags, which
show the token that each row belongs to.

    import kvcheck_tensors

    class Cache:
        def __init__(self, layers, sinks, budget): ...
        def update(self, keys, values, layer):   # returns keys, values and optionally a mask
            ...
        def stored(self, layer):                 # returns keys, values
            ...

    kvcheck_tensors.serve(Cache)                 # torch tensors
    kvcheck_tensors.serve(Cache, lists=True)     # nested lists

The shapes are [sequences, kv_heads, tokens, 24] for keys and [sequences, kv_heads, tokens, 12] for
values, both float32. update may return more rows than it receives. A mask is [tokens, rows] or
[sequences, kv_heads, tokens, rows]; it is true or 1 where a query may attend to a row. Without a
mask, query i of n sees all rows except the last n - 1 - i. Keys arrive rotated for their position
in the stream, as a model passes them to its cache, in 12 pairs (i, i + 12) with base 10000. The
optional methods are length(layer), reset(), fork(), truncate(length), reorder(sequences),
shift(begin, delta), snapshot() and restore(state). Any method may raise kvcheck.Refused to refuse a
call.
"""

import functools
import math

import kvcheck
from kvcheck.serving import _call_with

PAIRS = 12
KEY_SIZE, VALUE_SIZE = 2 * PAIRS, PAIRS
SPEEDS = [10000.0 ** (-i / PAIRS) for i in range(PAIRS)]  # radians a position

# A tag has twelve digits: position (4, lowest first), variant (2), sequence, layer, head, two check
# sums, and 7. A digit plus 1 is the length of a rotary pair of a key, and a number of a value.
_CONSTANT = 7


def _sums(digits):
    plain, weighted = 3, 5
    for i in range(9):
        plain += digits[i]
        weighted += digits[i] * (2 * i + 3) + (digits[i] >> 1)
    return [plain % 16, weighted % 16]


def _digits(token, place):
    position, variant = token % kvcheck.IDS_PER_VARIANT, token // kvcheck.IDS_PER_VARIANT
    digits = [position >> 4 * i & 15 for i in range(4)] + [variant & 15, variant >> 4, *place]
    return digits + _sums(digits) + [_CONSTANT]


@functools.lru_cache(1 << 16)
def encode_key(token, place, position):
    """The key with the tag of a token, rotated for a position. Place is (sequence, layer, head)."""
    digits = _digits(token, place)
    return ([(d + 1) * math.cos(position * s) for d, s in zip(digits, SPEEDS)]
            + [(d + 1) * math.sin(position * s) for d, s in zip(digits, SPEEDS)])


@functools.lru_cache(1 << 16)
def encode_value(token, place):
    return [d + 1.0 for d in _digits(token, place)]


def _read_digits(numbers):
    scale = numbers[-1] / (_CONSTANT + 1)
    if not 0.01 < scale < 100:
        return None
    digits = [round(number / scale) - 1 for number in numbers]
    if min(digits) < 0 or max(digits) > 15 or digits[9:11] != _sums(digits):
        return None
    return digits


def _token(digits):
    position = sum(digit << 4 * i for i, digit in enumerate(digits[:4]))
    return (digits[4] + 16 * digits[5]) * kvcheck.IDS_PER_VARIANT + position


def read_value(value):
    """The token and its place. The token is -1 if the value holds no tag."""
    digits = _read_digits(value)
    return (_token(digits), digits[6:9]) if digits else (-1, [0, 0, 0])


def read_key(key):
    """The token, its place, the position that the key is rotated for, and its relative error."""
    lengths = [math.hypot(key[i], key[i + PAIRS]) for i in range(PAIRS)]
    digits = _read_digits(lengths)
    if not digits:
        return -1, [0, 0, 0], None, 1.0
    position = 0.0
    for i in reversed(range(PAIRS)):  # the slow pairs give it coarsely, the fast ones refine it
        off = math.atan2(key[i + PAIRS], key[i]) - position * SPEEDS[i]
        position += math.remainder(off, 2 * math.pi) / SPEEDS[i]
    if abs(position - round(position)) < 0.25:
        position = float(round(position))
    token, place = _token(digits), digits[6:9]
    exact = encode_key(token, tuple(place), position)
    error = math.dist(key, exact) / math.hypot(*exact)
    return token, place, position, error


_read_keys, _read_values = {}, {}  # the tags of rows that were read before, by their numbers
_MOST_READ = 1 << 16


def _columns(keys, values):
    """The tags of lists of rows, as columns of the protocol."""
    if len(keys) != len(values):
        raise ValueError("%d keys and %d values" % (len(keys), len(values)))
    if len(_read_keys) > _MOST_READ or len(_read_values) > _MOST_READ:
        _read_keys.clear()
        _read_values.clear()
    of_keys, of_values = [], []
    for key in map(tuple, keys):
        reading = _read_keys.get(key)
        if reading is None:
            reading = _read_keys[key] = read_key(key)
        of_keys.append(reading)
    for value in map(tuple, values):
        reading = _read_values.get(value)
        if reading is None:
            reading = _read_values[value] = read_value(value)
        of_values.append(reading)
    return {"values": [token for token, _ in of_values],
            "value_places": [place for _, place in of_values],
            "keys": [token for token, _, _, _ in of_keys],
            "key_places": [place for _, place, _, _ in of_keys],
            "positions": [position for _, _, position, _ in of_keys],
            "key_errors": [error for _, _, _, error in of_keys]}


def _listed(tensor):
    return tensor.tolist() if hasattr(tensor, "tolist") else tensor


class _Model:
    """One branch: a cache with all its layers, heads and sequences."""

    def __init__(self, cache_class, lists, setup, contract):
        self.cache_class, self.lists = cache_class, lists
        self.setup, self.contract = setup, contract
        self.cache = _call_with(cache_class, setup)

    def _tensor(self, nested):
        if self.lists:
            return nested
        import torch
        return torch.tensor(nested, dtype=torch.float32)

    def _given(self, layer, tokens, encode):
        return self._tensor([[[encode(token, (sequence, layer, head)) for token in tokens]
                              for head in range(self.setup["kv_heads"])]
                             for sequence in range(self.setup["sequences"])])

    def feed(self, call):
        tokens, first = call["tokens"], call["position"]
        count = len(tokens)
        if count == 0:
            return self.look(0)
        positions = {token: first + i for i, token in enumerate(tokens)}
        returned = []
        for layer in range(self.setup["layers"]):
            keys = self._given(layer, tokens, lambda t, p: encode_key(t, p, positions[t]))
            values = self._given(layer, tokens, encode_value)
            result = self.cache.update(keys, values, layer)
            returned.append([_listed(part) for part in result])
        return self.look(count, returned, [float(first + i) for i in range(count)])

    def _mask(self, returned, sequence, head, count, rows):
        if len(returned) < 3 or returned[2] is None:
            return ["1" * (rows - (count - 1 - i)) + "0" * (count - 1 - i) for i in range(count)]
        mask = returned[2]
        if isinstance(mask[0][0], list):
            mask = mask[sequence if len(mask) > 1 else 0]
            mask = mask[head if len(mask) > 1 else 0]
        return ["".join("1" if bit else "0" for bit in row) for row in mask]

    def look(self, count=0, returned=None, positions=None):
        units = []
        stored = [[_listed(part) for part in self.cache.stored(layer)]
                  for layer in range(self.setup["layers"])]
        for sequence in range(self.setup["sequences"]):
            for layer in range(self.setup["layers"]):
                for head in range(self.setup["kv_heads"]):
                    keys, values = stored[layer]
                    unit = {"stored": _columns(*(
                        [part[sequence][head] for part in (keys, values)] if keys else ([], [])))}
                    if hasattr(self.cache, "length"):
                        unit["reported"] = int(self.cache.length(layer))
                    if returned:
                        keys, values = returned[layer][0], returned[layer][1]
                        rows = _columns(keys[sequence][head], values[sequence][head])
                        unit["returned"] = rows
                        unit["visible"] = self._mask(returned[layer], sequence, head, count,
                                                     len(rows["values"]))
                        unit["query_positions"] = positions
                    units.append(unit)
        return units

    def _do(self, name, *words):
        if not hasattr(self.cache, name):
            raise kvcheck.Refused(name + " is not offered")
        return getattr(self.cache, name)(*words)

    def reset(self):
        self._do("reset")

    def truncate(self, length):
        self._do("truncate", length)

    def reorder(self, source):
        self._do("reorder", source)

    def shift(self, begin, delta):
        self._do("shift", begin, delta)

    def _with(self, cache):
        other = object.__new__(_Model)
        other.__dict__.update(self.__dict__, cache=cache)
        return other

    def fork(self):
        return self._with(self._do("fork"))

    def snapshot(self):
        state = self._do("snapshot")
        fresh = _Model(self.cache_class, self.lists, self.setup, self.contract)
        fresh.cache.restore(state)
        return fresh


def serve(cache, contract=None, name=None, requested=None, lists=False, **older):
    """Serves a class of caches of tensors until the host closes the connection. The arguments are
    those of kvcheck.serve; `lists` passes nested lists instead of torch tensors."""
    hello = {"name": name or cache.__name__}
    requested = kvcheck.requested_sizes(requested, older)
    if requested:
        hello["wanted"] = requested
    if not lists:
        import torch
        torch.set_num_threads(1)  # more threads gain nothing for tensors this small
        torch.set_grad_enabled(False)
    kvcheck.serve_model(lambda setup, declared, ask: _Model(cache, lists, setup, declared), hello,
                        contract)
