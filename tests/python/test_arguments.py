"""Whatever is wrong with an argument is a kvcheck.Error that names it, and never an exception of Python's."""

import os
import tempfile
import unittest

import numpy

import kvcheck
import like_attention as like
from kvcheck import record

SOURCE = os.environ["KVCHECK_SOURCE"]
MODEL = SOURCE + "/model/data"
STREAM = "synthetic:zipf:tokens=40,heads=2"
ROWS = numpy.tri(6, dtype=numpy.float32)[None] / numpy.arange(1, 7, dtype=numpy.float32)[:, None]
VECTORS = numpy.ones((2, 6, 4), numpy.float32)


class Nothing:
    """An object of no use."""

    def __repr__(self):
        return "<Nothing>"


class Mine(kvcheck.Policy):
    def evict(self, candidates, draws):
        return [0]


# One of each kind that a caller may give by mistake.
WRONG = (None, True, False, 0, -1, 1.5, 2**70, float("nan"), numpy.nan, 1j, "", "a", "\ud800", "a\0b", b"a",
         [], {}, {"a": 1}, {1}, (), [None], [[1, 2], [3]], [1.5], ["a", 1], [True], object, Nothing, Nothing(),
         numpy.array([None, "a"], object), numpy.array(1.5), numpy.zeros((2, 2)), numpy.array(["a"]),
         numpy.array([numpy.nan]), iter(()), lambda: None, Mine())


def calls():
    """Each function, and each of its arguments, beside arguments that are right."""
    trace = kvcheck.attention(ROWS, words=list("abcdef"))
    vectors = kvcheck.qkv(VECTORS, VECTORS, VECTORS)
    result = kvcheck.replay(trace, "fifo:sinks=0", 3)
    layer = {"number": 0, "queries": VECTORS, "keys": VECTORS, "values": VECTORS}
    cos = numpy.ones((6, 2), numpy.float32)
    spelt = {"model": MODEL, "text": MODEL + "/held-out.txt", "tokens": 8}
    folder = tempfile.mkdtemp()

    def policy(**attributes):
        return kvcheck.register(type("Wrong", (kvcheck.Policy,), {"evict": Mine.evict, **attributes}))

    def written(**changes):
        return record.write_trace(folder + "/t", [record.Layer(**{**layer, **changes})])

    def rotated(**changes):
        return written(rotation=record.Rotation(**{"layout": "half", "dims": 4, "scale": 1.0, "theta": 9.0,
                                                   "frequencies": None, **changes}))

    return (
        (kvcheck.replay, {"trace": trace, "policies": "fifo:sinks=0", "budgets": 3, "seeds": 1, "chunk": 1,
                          "oracle": False, "top_k": 1, "threads": 1}),
        (kvcheck.oracle, {"trace": trace, "budgets": 5, "fields": "", "threads": 1}),
        (kvcheck.open_trace, {"path": SOURCE + "/traces/data/tinystories-2m.qkv.safetensors",
                              "kv_heads": None, "learned_sinks": False}),
        (kvcheck.generate, {"spec": "zipf:heads=1", "tokens": 8, "layers": 1}),
        (kvcheck.attention, {"rows": ROWS, "name": "a", "kv_heads": 1, "model": "", "layers": [0],
                             "words": None, "token_ids": None, "learned_sinks": False,
                             "query_positions": None, "query_design": ""}),
        (kvcheck.qkv, {"queries": VECTORS, "keys": VECTORS, "values": VECTORS, "rope": "half", "theta": 9.0,
                       "rope_dims": 4, "frequencies": None, "rope_scale": 1.0, "rope_applied": False,
                       "attention_scale": None, "soft_cap": None, "window": None, "sinks": None,
                       "slopes": None, "model_layers": 0, "name": "a", "model": "", "layers": [0],
                       "words": None, "token_ids": None, "query_positions": None, "query_design": ""}),
        (kvcheck.Trace, {"handle": trace._handle, "origin": trace._origin}),
        (trace.attention, {"layer": 0}), (vectors.keys, {"layer": 0}), (vectors.queries, {"layer": 0}),
        (vectors.values, {"layer": 0}), (trace.save, {"path": folder + "/saved"}),
        (result.series, {"cell": 0}), (result.kept, {"cell": 0}), (result.lifetimes, {"cell": 0}),
        (result.residency, {"cell": 0}), (result.kept_words, {"cell": 0}),
        (result.to_pandas, {"what": "cells"}),
        (kvcheck.check, {"subject": "fifo:budget=9", "filter": ["size.stored"], "seed": 1, "time": "1s",
                         "full": False}),
        (kvcheck.uniformity, {"subject": "reservoir:sinks=1,recent=1,budget=5", "tokens": 8, "trials": 9}),
        (kvcheck.judge, {"history": [], "filter": ["size.stored"], "declare": ["visibility=causal"]}),
        (kvcheck.eval, {"policies": "window", "budgets": 8, **spelt}),
        (kvcheck.register, {"policy": Mine}),
        (policy, {"name": "wrong", "needs": (), "sinks": 0, "recent_percent": 50, "parameters": {},
                  "claims": (), "seconds": 60, "summary": "s", "source": "s", "differs": "d", "cost": "c",
                  "evict": Mine.evict}),
        (lambda **parts: policy(parameters={"a": kvcheck.Parameter(**parts)}, __init__=lambda self, a: None),
         {"default": 1, "meaning": "m", "least": 0, "most": 1, "choices": ()}),
        (written, {"number": 0, "queries": VECTORS, "keys": VECTORS, "values": VECTORS, "rotation": None,
                   "scale": None, "soft_cap": None, "window": None, "sinks": None, "slopes": None}),
        (rotated, {"layout": "half", "dims": 4, "scale": 1.0, "theta": 9.0, "frequencies": None}),
        (record.write_trace, {"path": folder + "/w", "layers": [record.Layer(**layer)],
                              "rope_applied": False, "kv_heads": None, "words": None, "token_ids": None,
                              "losses": None, "queries": None, "kv_head_numbers": None, "storage": "f16",
                              "model": "m"}),
        (record.rotate, {"vectors": VECTORS, "cos": cos, "sin": cos, "layout": "half"}),
        (record.rotation_of, {"cos": cos, "sin": cos, "dim": 4, "layout": None, "epsilon": 1e-6,
                              "among": ()}),
        (record.attention_rows, {"queries": VECTORS, "keys": VECTORS, "scale": None, "window": None,
                                 "soft_cap": None, "sinks": None, "slopes": None, "positions": None}),
        (record.losses_of, {"logits": numpy.ones((2, 3)), "ids": [0, 1]}),
        (record.words_of, {"tokenizer": like.Tokenizer(), "ids": [0, 1]}),
        (record.Recorder, {"model": like.Decoder(like.Config()), "layers": None, "kv_heads": None,
                           "queries": None, "rotation": "as-given", "functions": like.FUNCTIONS}),
        (record.record_text, {"model": like.Decoder(like.Config()), "tokenizer": like.Tokenizer(),
                              "text": "w1 w2", "path": folder + "/r", "tokens": 8, "queries": None,
                              "layers": None, "kv_heads": None, "rotation": "as-given",
                              "functions": like.FUNCTIONS, "storage": "f16"}),
    )


# Arguments that are objects of other libraries, of which nothing is known but the methods that are called.
FOREIGN = {("Recorder", "functions"), ("record_text", "functions"), ("record_text", "tokenizer"),
           ("record_text", "text"), ("losses_of", "logits"), ("words_of", "tokenizer"), ("words_of", "ids")}


def tried(function, arguments):
    """What is raised that should not be; None if nothing is."""
    try:
        function(**arguments)
    except kvcheck.Error as error:
        if str(error).count("\n") or not str(error):
            return "the sentence %r" % str(error)
    except Exception as error:  # what this test is for
        return "%s: %s" % (type(error).__name__, error)
    return None


class Arguments(unittest.TestCase):
    def setUp(self):
        # Some of the words are names of files that can be written.
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def test_right_ones_are_taken(self):
        for function, right in calls():
            if function is not kvcheck.judge and getattr(function, "__name__", "") != "to_pandas":
                self.assertIsNone(tried(function, right), function)

    def test_wrong_ones_are_sentences(self):
        found = []
        for function, right in calls():
            name = getattr(function, "__name__", "")
            for argument in right:
                for wrong in WRONG:
                    if (name, argument) in FOREIGN:
                        continue
                    what = tried(function, {**right, argument: wrong})
                    if what:
                        found.append("%s(%s=%r) raises %s" % (name, argument, wrong, what[:200]))
        self.assertEqual(found, [], "\n".join(found))

    def test_sentences_name_the_argument_what_was_found_and_what_was_expected(self):
        trace = kvcheck.attention(ROWS)
        result = kvcheck.replay(trace, "fifo:sinks=0", 3)
        for call, sentence in (
                (lambda: kvcheck.replay(trace, {"fifo": 1}, 3), r"^policies is {'fifo': 1}; expected specs"),
                (lambda: kvcheck.replay(trace, None, 3), "^policies is None; expected specs"),
                (lambda: kvcheck.replay(trace, [], 3), "^policies is empty"),
                (lambda: kvcheck.replay(trace, [7], 3), "^policies has 7; expected a spec such as"),
                (lambda: kvcheck.replay(trace, [Mine()], 3), "^policies has an object of Mine; expected the"),
                (lambda: kvcheck.check(None), "^subject has None; expected a spec such as"),
                (lambda: kvcheck.replay(trace, "fifo", {3: 1}), "^budgets is {3: 1}; expected whole numbers"),
                (lambda: kvcheck.replay(trace, "fifo", [[3]]), r"^budgets has \[3\]; expected whole numbers"),
                (lambda: kvcheck.replay(trace, "fifo", 0), "^budgets has 0; expected whole numbers from 1"),
                (lambda: kvcheck.replay(trace, "fifo", True), "^budgets has True; expected whole numbers"),
                (lambda: kvcheck.replay(trace, "fifo", 3, top_k=-1), "^top_k has -1; expected a whole number "
                                                                     "from 0"),
                (lambda: kvcheck.replay(trace, "fifo", 3, oracle="no"), "^oracle is 'no'; expected True or F"),
                (lambda: kvcheck.replay(trace, "fifo", 3, seeds=10**9), "^seeds is 1000000000; expected how"),
                (lambda: kvcheck.replay(trace, "fifo", 3, threads=0), "^threads has 0; expected a whole"),
                (lambda: kvcheck.oracle(trace, 3, fields=1), "^fields is 1; expected a text"),
                (lambda: kvcheck.open_trace(None), "^path is None; expected a path"),
                (lambda: kvcheck.open_trace("a", kv_heads=0), "^kv_heads has 0; expected a whole number from"),
                (lambda: kvcheck.open_trace("a", learned_sinks=1), "^learned_sinks is 1; expected True or"),
                (lambda: kvcheck.generate(None), "^spec is None; expected a generator"),
                (lambda: kvcheck.generate("zipf", tokens=[8]), r"^tokens is \[8\]; expected a number or a"),
                (lambda: kvcheck.attention(ROWS, words="abcdef"), "^words is 'abcdef'; expected a list"),
                (lambda: kvcheck.attention(ROWS, token_ids=[2**40] * 6), "^token_ids has 1099511627776; exp"),
                (lambda: kvcheck.attention(ROWS, kv_heads=True), "^kv_heads has True; expected a whole"),
                (lambda: kvcheck.attention(ROWS, name=3), "^name is 3; expected a text"),
                (lambda: trace.save(None), "^path is None; expected a path"),
                (lambda: trace.attention(True), "^layer has True; expected a whole number"),
                (lambda: result.kept(0.0), "^cell has 0.0; expected a whole number"),
                (lambda: result.to_pandas(None), "^what is None"),
                (lambda: kvcheck.judge(None), "^history is None; expected the path of a file, or its lines"),
                (lambda: kvcheck.check("fifo", seed={"a": 1}), "^seed is {'a': 1}; expected a number"),
                (lambda: kvcheck.check("fifo", help=True), r"^check\(help=True\) prints a text .*run\('check'"),
                (lambda: kvcheck.register(Mine()), "^<.*Mine object.*> is an object of the policy; expected"),
                (lambda: record.write_trace("t", [1]), "^layers has 1; expected a record.Layer"),
                (lambda: record.write_trace(None, []), "^path is None; expected a path"),
                (lambda: record.Recorder(None), "^model is None; expected a model of transformers"),
                (lambda: record.words_of(None, [1]), "^tokenizer is None; expected"),
                (lambda: record.words_of(like.Tokenizer(), [0.5]), "^ids has 0.5; expected whole numbers"),
                (lambda: record.record_text(None, like.Tokenizer(), None, "t"), "^text is None; expected a"),
                (lambda: record.record_text(None, None, "a", "t"), "^tokenizer is None; expected one"),
                (lambda: record.losses_of(None, [1]), "^logits is None; expected an array")):
            with self.assertRaisesRegex(kvcheck.Error, sentence):
                call()


if __name__ == "__main__":
    unittest.main()
