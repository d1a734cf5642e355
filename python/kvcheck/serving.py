"""Makes a Python key/value cache a subject of kvcheck.

    import kvcheck

    class Window:
        def __init__(self, budget):
            self.budget, self.ids = budget, []

        def append(self, tokens):           # returns, for each token, the ids that it sees
            seen = []
            for token in tokens:
                self.ids = (self.ids + [token])[-self.budget:]
                seen.append(list(self.ids))
            return seen

        def kept(self):                     # returns the ids that are stored, in slot order
            return self.ids

    kvcheck.serve(Window)

Then run:  kvcheck check --exec 'python3 window.py'

kvcheck makes one object for each sequence, layer and kv head. The constructor takes any of these
arguments by name: sinks, recent, budget, seed, draws, sequence, layer, head, group. It raises a
ValueError to refuse sizes. Only append and kept are required. The other methods are optional, and a
call of a method that is missing is refused:

    append(tokens, attention)   receives also the attention that the tokens pay (class Attention)
    reset()                     forgets all tokens
    fork()                      returns an independent copy
    truncate(length)            removes all but the first `length` tokens
    shift(begin, delta)         moves rotary positions; declare `shifts` if the cache always can
    snapshot(), restore(state)  save and restore the cache through any value
    positions()                 returns the rotary positions of kept()
    __len__()                   returns the number of rows that the cache reports

Any method may raise Refused("why") to refuse a call; it must not have changed anything then. For
caches of tensors see kvcheck.tensors. PROTOCOL.md specifies the messages. This module needs
only the standard library.
"""

import inspect
import json
import math
import sys
import traceback

PROTOCOL = 1
IDS_PER_VARIANT = 10_000_000  # a token's id is variant * this + position

__all__ = ["Attention", "Draws", "Facts", "Refused", "position_of", "serve", "serve_model"]


class Refused(Exception):
    """The cache refuses a call, and nothing has changed."""


def position_of(token):
    """The position of a token in its stream. Truncated tokens get new ids when fed anew."""
    return token % IDS_PER_VARIANT


class Facts:
    """What an append did, for caches that lists of visible ids do not describe completely.

    returned   the ids of the rows given to attention, in slot order
    visible    for each query and each returned row, whether the query may attend to the row
    others     other fields of a unit in the protocol: positions, query_positions, weights, ...
    """

    def __init__(self, returned, visible, **others):
        self.returned, self.visible, self.others = returned, visible, others

    def fields(self):
        rows = {"values": self.returned}
        unit = {"visible": ["".join("1" if bit else "0" for bit in row) for row in self.visible]}
        for name, value in self.others.items():
            if name in ("keys", "value_places", "key_places", "positions", "key_errors",
                        "steps_off", "full_precision"):
                rows[name] = value
            else:
                unit[name] = value
        unit["returned"] = rows if len(rows) > 1 else self.returned
        return unit


def _fields_of_seen(seen):
    """The union of the lists of visible ids, in stream order, and the mask over it."""
    returned = sorted(set().union(*seen), key=position_of) if seen else []
    visible = []
    for ids in seen:
        ids = set(ids)
        visible.append("".join(["1" if row in ids else "0" for row in returned]))
    return {"returned": returned, "visible": visible}


class Attention:
    """The attention that the tokens of one append pay, before anything is masked.

    rows[h][i][p] is the logit of query i for the token at position p, in the h-th of the query
    heads that share the cache.
    """

    def __init__(self, rows):
        self.rows = rows

    def mass(self, query, ids):
        """The probabilities of one query over the ids that it sees, averaged over the heads."""
        total = [0.0] * len(ids)
        for head in self.rows:
            row = head[query]
            logits = [row[token % IDS_PER_VARIANT] for token in ids]
            most = max(logits)
            powers = [math.exp(logit - most) for logit in logits]
            scale = len(self.rows) * sum(powers)
            total = [sofar + power / scale for sofar, power in zip(total, powers)]
        return total


def philox(counter, key):
    """Philox 4x32-10: maps a counter of four 32-bit words and a key of two to four random words."""
    a, b, c, d = counter
    k, m = key
    for _ in range(10):
        low, high = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = ((high >> 32) ^ b ^ k, high & 0xFFFFFFFF,
                      (low >> 32) ^ d ^ m, low & 0xFFFFFFFF)
        k, m = (k + 0x9E3779B9) & 0xFFFFFFFF, (m + 0xBB67AE85) & 0xFFFFFFFF
    return a, b, c, d


class Draws:
    """Random numbers addressed by position and index, as the policies of kvcheck draw them.

    `position` must be the position of the token for which you draw, and `index` counts its draws.
    """

    def __init__(self, seed, unit, ask=None):
        self._key = (seed & 0xFFFFFFFF, seed >> 32)
        self._unit, self._ask = unit, ask

    def _block(self, position, index, again):
        words = philox((index, again, position, self._unit), self._key)
        return words[1] << 32 | words[0]

    def below(self, bound, position, index=0):
        """A whole number, uniform on 0, ..., bound - 1."""
        if self._ask:
            return self._ask({"draw": "below", "unit": self._unit, "bound": bound,
                              "position": position, "index": index})
        again = 0
        while True:
            product = self._block(position, index, again) * bound
            if product & 0xFFFFFFFFFFFFFFFF >= (1 << 64) % bound:
                return product >> 64
            again += 1

    def uniform(self, position, index=0):
        """A real number, uniform on (0, 1)."""
        if self._ask:
            return self._ask({"draw": "uniform", "unit": self._unit, "position": position,
                              "index": index})
        return ((self._block(position, index, 0) >> 12) + 0.5) * 2.0 ** -52


def _takes(function):
    """The names of the arguments that a function takes, or None if it takes any."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return {p.name for p in parameters}


def _call_with(function, words):
    names = _takes(function)
    return function(**{k: v for k, v in words.items() if names is None or k in names})


class _Units:
    """One branch of a case: a cache for each set of residents, made from a class that knows ids."""

    def __init__(self, server, setup, contract, ask):
        self.server, self.setup, self.contract, self.ask = server, setup, contract, ask
        shared = contract.get("unit", "kv-head")
        self.heads = setup["kv_heads"] * (setup["group"] if shared == "head" else 1)
        self.owner = []  # for each unit, the index of its cache
        self.payers = []  # for each cache, the query heads that attend to it
        self.caches = []
        places = {}
        query_heads = setup["kv_heads"] * setup["group"]
        per_head = query_heads // self.heads
        for sequence in range(setup["sequences"]):
            for layer in range(setup["layers"]):
                for head in range(self.heads):
                    place = {"layer": (sequence, layer), "model": (sequence,)}.get(
                        shared, (sequence, layer, head))
                    if place not in places:
                        places[place] = len(self.caches)
                        self.payers.append([])
                        self.caches.append(self._make(len(self.owner), sequence, layer, head))
                    self.owner.append(places[place])
                    first = (sequence * setup["layers"] + layer) * query_heads + head * per_head
                    self.payers[places[place]] += range(first, first + per_head)

    def _make(self, unit, sequence, layer, head):
        words = dict(self.setup, sequence=sequence, layer=layer, head=head)
        words["draws"] = Draws(self.setup["seed"], unit, self.ask)
        return _call_with(self.server.cache, words)

    def feed(self, call):
        tokens = call["tokens"]
        appended = []
        for cache, payers in zip(self.caches, self.payers):
            if self.server.logits:
                logits = call["logits"]
                attention = Attention([logits[payer] for payer in payers])
                seen = cache.append(list(tokens), attention)
            else:
                seen = cache.append(list(tokens))
            appended.append(seen.fields() if isinstance(seen, Facts) else _fields_of_seen(seen))
        return self.look(appended)

    def look(self, appended=None):
        units = []
        for index, cache in enumerate(self.caches):
            unit = appended[index] if appended else {}
            kept = list(cache.kept())
            if hasattr(cache, "positions"):
                kept = {"values": kept, "positions": list(cache.positions())}
            unit["stored"] = kept
            if hasattr(cache, "__len__"):
                unit["reported"] = len(cache)
            units.append(unit)
        return [units[owner] for owner in self.owner]

    def _every(self, name, *words):
        if not all(hasattr(cache, name) for cache in self.caches):
            raise Refused(name + " is not offered")
        return [getattr(cache, name)(*words) for cache in self.caches]

    def _with(self, caches):
        other = object.__new__(_Units)
        other.__dict__.update(self.__dict__, caches=caches)
        return other

    def reset(self):
        self._every("reset")

    def truncate(self, length):
        self._every("truncate", length)

    def shift(self, begin, delta):
        self._every("shift", begin, delta)

    def fork(self):
        return self._with(self._every("fork"))

    def reorder(self, source):
        count = self.setup["sequences"]
        if len(source) != count or any(sequence >= count for sequence in source):
            raise Refused("there are %d sequences" % count)
        each = len(self.caches) // count
        if not all(hasattr(cache, "fork") for cache in self.caches):
            raise Refused("reorder needs fork")
        self.caches = [self.caches[sequence * each + i].fork()
                       for sequence in source for i in range(each)]

    def snapshot(self):
        states = self._every("snapshot")
        fresh = _Units(self.server, self.setup, self.contract, self.ask)
        for cache, state in zip(fresh.caches, states):
            cache.restore(state)
        return fresh


class _Server:
    """Answers each request of the host with one line."""

    def __init__(self, model, hello, contract, defaults):
        self.model, self.hello, self.declared, self.defaults = model, hello, contract, defaults
        self.read, self.write = sys.stdin, sys.stdout
        sys.stdout = sys.stderr  # what a cache prints must not mix with the answers
        self.branches = []

    def run(self):
        for line in self.read:
            request = json.loads(line)
            handler = getattr(self, "on_" + request["ask"], None)
            answer = handler(request) if handler else {"error": "unknown request"}
            if "number" in request:
                answer = dict(answer, number=request["number"])
            self._send(answer)

    def _send(self, answer):
        self.write.write(json.dumps(answer, separators=(",", ":")) + "\n")
        self.write.flush()

    def _draw(self, question):
        self._send(question)
        return json.loads(self.read.readline())["value"]

    def contract_of(self, setup):
        declared = self.declared(setup) if callable(self.declared) else self.declared
        return dict(self.defaults, **(declared or {}))

    def on_hello(self, _):
        hello = dict(self.hello, protocol=PROTOCOL, numbers=True)
        for sizes in ({"sinks": 2, "recent": 4}, {"sinks": 2, "recent": 10},
                      {"sinks": 0, "recent": 4}, {"sinks": 0, "recent": 12}):
            if "wanted" in hello:
                break
            setup = dict(sizes, layers=1, kv_heads=1, group=1, sequences=1, budget=12, seed=0)
            if "contract" in self.on_contract({"setup": setup}):
                hello["wanted"] = setup
        return hello

    def on_contract(self, request):
        try:
            setup = request["setup"]
            contract = self.contract_of(setup)
            self.model(setup, contract, None)
            return {"contract": contract}
        except (Refused, ValueError) as refused:
            return {"refused": str(refused) or "these sizes are not possible"}
        except Exception:  # the run will raise it too, and report it
            return {"contract": contract}

    def on_run(self, request):
        self.branches = []
        setup = request["setup"]
        ask = self._draw if request["draws"] == "ask" else None
        try:
            self.branches = [self.model(setup, self.contract_of(setup), ask)]
        except Exception:  # the host judges whatever a cache raises
            return {"events": [], "failure": traceback.format_exc(limit=-3)}
        return self.on_more(request)

    def on_more(self, request):
        events = []
        try:
            for call in request["calls"]:
                event = self._call(call)
                events.append(event)
                if "refused" in event:
                    break
        except Exception:
            return {"events": events, "failure": traceback.format_exc(limit=-3)}
        return {"events": events}

    def _call(self, call):
        branch = self.branches[call["branch"]]
        verb = call["do"]
        try:
            if verb == "feed":
                return {"units": branch.feed(call)}
            if verb == "fork":
                self.branches.append(branch.fork())
            elif verb == "truncate":
                branch.truncate(call["length"])
            elif verb == "reset":
                branch.reset()
            elif verb == "reorder":
                branch.reorder(call["from"])
            elif verb == "shift":
                branch.shift(call["begin"], call["delta"])
            elif verb == "snapshot":
                self.branches[call["branch"]] = branch = branch.snapshot()
        except Refused as refused:
            return {"refused": str(refused) or "not offered", "units": branch.look()}
        return {"units": branch.look()}


def serve_model(model, hello, contract, defaults=()):
    """Serves subjects that you implement yourself. model(setup, contract, ask) returns a branch with
    feed(call), look(), fork(), truncate(), reset(), reorder(), shift() and snapshot()."""
    _Server(model, hello, contract, dict(defaults)).run()


def requested_sizes(requested, older):
    """The sizes of serve's argument `requested`, or those of its older name "wanted"."""
    unknown = sorted(set(older) - {"wanted"})
    if unknown:
        raise TypeError("serve() got an unexpected keyword argument '%s'" % unknown[0])
    if requested is not None and older:
        raise TypeError("serve() takes 'requested' or its older name, not both")
    return older.get("wanted", requested)


def serve(cache, contract=None, name=None, requested=None, **older):
    """Serves a class of caches that know token ids, until the host closes the connection.

    contract   what the cache declares (properties/PROTOCOL.md), or a function that returns it for a
               setup; a field that is missing has its strictest reading
    requested  the sizes that laws request, such as {"sinks": 4, "recent": 8, "budget": 16}; this
               argument may also be given by its older name, "wanted"
    """
    server = type("Ids", (), {})()
    server.cache = cache
    server.logits = len(inspect.signature(cache.append).parameters) > 2
    names = _takes(cache.__init__)
    hello = {"name": name or cache.__name__, "logits": server.logits,
             "draws": names is None or "draws" in names}
    requested = requested_sizes(requested, older)
    if requested:
        hello["wanted"] = requested
    defaults = {} if hasattr(cache, "positions") else {"positions": "untold"}
    serve_model(lambda setup, declared, ask: _Units(server, setup, declared, ask), hello, contract,
                defaults)
