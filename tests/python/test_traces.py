"""Traces of arrays, and the sentences that refuse what is no trace."""

import importlib.util
import os
import sys
import tempfile
import threading
import time
import unittest
import warnings

import numpy

import kvcheck

SOURCE = os.environ["KVCHECK_SOURCE"]
BUNDLED = SOURCE + "/traces/data/tinystories-2m.qkv.safetensors"


def rows(layers=1, heads=2, tokens=40, dtype=numpy.float32, seed=1):
    random = numpy.random.default_rng(seed)
    weights = numpy.tril(random.exponential(size=(layers, heads, tokens, tokens)))
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(dtype)


class Attention(unittest.TestCase):
    def test_numbers_arrive(self):
        for dtype in (numpy.float32, numpy.float16):
            given = rows(layers=3, dtype=dtype)
            trace = kvcheck.attention(given, layers=[0, 4, 9], model="toy")
            self.assertEqual((trace.tokens, trace.query_heads, trace.layers, trace.model),
                             (40, 2, [0, 4, 9], "toy"))
            for layer in range(3):
                self.assertEqual(trace.attention(layer).dtype, dtype)
                numpy.testing.assert_array_equal(trace.attention(layer), given[layer])

    def test_any_layout_gives_the_same_results(self):
        given = rows()[0]
        expected = kvcheck.replay(kvcheck.attention(given), "h2o", 12).lines
        wide = numpy.zeros((2, 40, 80), numpy.float32)
        wide[:, :, ::2] = given
        for other in (given[None], given.astype(">f4"), numpy.asfortranarray(given), wide[:, :, ::2],
                      given[::-1].copy()[::-1]):
            self.assertEqual(kvcheck.replay(kvcheck.attention(other), "h2o", 12).lines, expected)
        double = kvcheck.attention(rows(dtype=numpy.float64))
        numpy.testing.assert_array_equal(double.attention(), given)

    def test_what_a_model_returns_for_one_text_is_taken(self):
        class Tensor:  # as torch's are
            def __init__(self, array):
                self.array, self.dtype, self.shape = array, array.dtype, array.shape

            def detach(self):
                return Tensor(self.array)

            def cpu(self):
                return self.array

        given = rows(layers=3)
        batch = given[:, None]
        for returned in (batch, tuple(batch), tuple(map(Tensor, batch))):
            trace = kvcheck.attention(returned)
            for layer in range(3):
                numpy.testing.assert_array_equal(trace.attention(layer), given[layer])
        with self.assertRaisesRegex(kvcheck.Error, r"a batch of 2 texts; expected one text, .*rows\[:, 0"):
            kvcheck.attention(numpy.concatenate([batch, batch], axis=1))

    def test_a_trace_outlives_its_arrays(self):
        trace = kvcheck.attention(rows())
        lines = kvcheck.replay(trace, "tova", 12).lines
        self.assertEqual(kvcheck.replay(trace, "tova", 12).lines, lines)

    def test_shared_kv_heads_share_residents(self):
        given = rows(heads=4)
        apart = kvcheck.replay(kvcheck.attention(given), "h2o", 12)
        shared = kvcheck.replay(kvcheck.attention(given, kv_heads=2), "h2o", 12)
        self.assertEqual((apart.cells["units"][0], shared.cells["units"][0]), (4, 2))

    def test_words(self):
        words = ["Ein", " Öl", " the", ","] * 10
        trace = kvcheck.attention(rows(), words=words)
        self.assertEqual(trace.words, words)
        kept = kvcheck.replay(trace, "token-classes", 12)
        self.assertEqual(set(kept.kept_words(0)) <= set(words), True)

    def test_a_saved_trace_reads_back(self):
        with tempfile.TemporaryDirectory() as folder:
            given = rows(dtype=numpy.float16)
            kvcheck.attention(given, words=["a"] * 40).save(folder + "/t.safetensors")
            trace = kvcheck.open_trace(folder + "/t.safetensors")
            numpy.testing.assert_array_equal(trace.attention(), given[0])
            self.assertEqual(trace.words, ["a"] * 40)

    def test_other_threads_run_while_numbers_are_copied(self):
        rows = numpy.zeros((4, 2500, 2500), numpy.float32)
        rows[:, :, 0] = 1
        trace = kvcheck.attention(rows, kv_heads=4)
        longest, ended = [0.0], threading.Event()

        def looks():
            last = time.perf_counter()
            while not ended.is_set():
                now = time.perf_counter()
                longest[0], last = max(longest[0], now - last), now

        thread = threading.Thread(target=looks)
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-4)  # else what both wait for the lock counts more than the copy
        thread.start()
        try:
            # A busy machine may stop the thread for a while, but not each time.
            for attempt in range(40):
                longest[0], began = 0.0, time.perf_counter()
                trace.attention()
                took = time.perf_counter() - began
                time.sleep(0.02)  # so that the thread notes when it last ran
                if longest[0] < took / 2:
                    return
        finally:
            ended.set()
            thread.join()
            sys.setswitchinterval(interval)
        self.fail("no other thread ran while the rows were copied")

    def test_masked_and_uneven_arrays_are_refused(self):
        with self.assertRaisesRegex(kvcheck.Error, "^rows is a masked array"):
            kvcheck.attention(numpy.ma.array(rows()))
        with self.assertRaisesRegex(kvcheck.Error, "^rows is no array: "):
            kvcheck.attention([[[1.0], [0.5, 0.5]]])

    @unittest.skipIf(importlib.util.find_spec("torch") is None, "torch is not installed")
    def test_tensors_with_a_gradient_are_arrays(self):
        import torch
        given = rows()[0]
        trace = kvcheck.attention(torch.from_numpy(given.copy()).requires_grad_())
        numpy.testing.assert_array_equal(trace.attention(), given)
        halves = torch.eye(8).bfloat16()[None]  # NumPy has no such numbers
        numpy.testing.assert_array_equal(kvcheck.attention(halves).attention()[0], numpy.eye(8))

    def test_heads_that_may_share_keys_are_warned_of(self):
        many = rows(heads=8)[0]
        with tempfile.TemporaryDirectory() as folder:
            numpy.save(folder + "/d.npy", many)
            numpy.savez(folder + "/d.npz", attention=many)
            numpy.savez(folder + "/said.npz", attention=many, kv_heads=2)
            for make in (lambda: kvcheck.attention(many), lambda: kvcheck.open_trace(folder + "/d.npy"),
                         lambda: kvcheck.open_trace(folder + "/d.npz")):
                with self.assertWarnsRegex(UserWarning, "^'.*' does not say which of its 8 heads share"):
                    make()
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                kvcheck.attention(many, kv_heads=8)
                kvcheck.attention(many[:4])
                kvcheck.open_trace(folder + "/d.npy", kv_heads=2)
                self.assertEqual(kvcheck.open_trace(folder + "/said.npz").kv_heads, 2)

    def test_wrong_arguments_are_named(self):
        q = numpy.ones((2, 6, 4), numpy.float32)
        for make, sentence in (
                (lambda: kvcheck.attention(rows(tokens=2), words=[1, 2]), "^words has 1; expected the te"),
                (lambda: kvcheck.attention(rows(tokens=2), token_ids=["a", "b"]), "^token_ids has 'a'"),
                (lambda: kvcheck.attention(rows(), layers=["a"]), "^layers has 'a'; expected a whole"),
                (lambda: kvcheck.attention(rows(), kv_heads="two"), "^kv_heads has 'two'"),
                (lambda: kvcheck.qkv(q, q, q, theta="x"), "^theta has 'x'; expected a number"),
                (lambda: kvcheck.qkv(q, q, q, window=1.5), "^window has 1.5; expected a whole number"),
                (lambda: kvcheck.qkv(q, q, q, soft_cap=[q]), "^soft_cap has .*; expected a number"),
                (lambda: kvcheck.qkv(q, q, q, frequencies=["x"]), r"^frequencies is \['x'\]; expected"),
                (lambda: kvcheck.qkv(q, q, q).keys(-1), "^there is no layer with index -1; 'qkv' has 1"),
                (lambda: kvcheck.qkv(q, q, q).keys("a"), "^layer has 'a'")):
            with self.assertRaisesRegex(kvcheck.Error, sentence):
                make()

    def test_one_of_each_is_no_plural(self):
        self.assertIn("40 tokens, 1 layer of 2 heads>", repr(kvcheck.attention(rows())))

    def test_fields_of_a_generator_are_keywords_too(self):
        for spec, fields in (("zipf", {"tokens": 64, "heads": 1}), ("zipf:heads=1", {"tokens": 64})):
            trace = kvcheck.generate(spec, **fields)
            self.assertEqual((trace.tokens, trace.query_heads), (64, 1))
        self.assertEqual(kvcheck.generate("synthetic:zipf:tokens=64").tokens, 64)
        with self.assertRaisesRegex(kvcheck.Error, "did you mean 'tokens'"):
            kvcheck.generate("zipf", token=64)

    def test_wrong_arrays_are_refused(self):
        good = rows()[0]

        def changed(place, value):
            array = good.copy()
            array[place] = value
            return array

        for given, sentence in (
                (good[:, :-1], "39 queries and 40 keys"),
                (good[0], r"has the shape \(40, 40\)"),
                (good.astype(int), "dtype int64"),
                (good[:0], "is empty"),
                (["a"], "dtype <U1"),
                (changed((1, 3, 2), numpy.nan), "head 1, query 3, key 2: found nan"),
                (changed((0, 0, 1), 0.5), "that key comes after the query"),
                (changed((0, 5, 1), -0.5), "found -0.5"),
                (good * 2, "sum")):
            with self.assertRaisesRegex(kvcheck.Error, sentence):
                kvcheck.attention(given)
        for options, sentence in (
                ({"kv_heads": 3}, "expected a divisor of the 2 heads"),
                ({"layers": [1, 2]}, "one for each of the 1 layers"),
                ({"layers": [-1]}, "none below 0"),
                ({"words": ["a"]}, "words has 1 texts"),
                ({"token_ids": [1]}, "there are 1 token ids"),
                ({"token_ids": [-1] * 40}, "token")):
            with self.assertRaisesRegex(kvcheck.Error, sentence):
                kvcheck.attention(good, **options)


class Rules(unittest.TestCase):
    """What layers may do in version 2 of the format."""

    def vectors(self, layers=2):
        random = numpy.random.default_rng(5)
        shape = (layers, 4, 24, 8)
        return [random.normal(size=shape).astype(numpy.float32) for _ in "qkv"]

    def test_arrive_and_are_saved(self):
        table = [1.0, 0.5, 0.25, 0.125]
        trace = kvcheck.qkv(*self.vectors(), frequencies=[table, None], rope_scale=1.25, theta=100,
                            soft_cap=[None, 30], window=7, sinks=[0.5, 1, -1, 2],
                            attention_scale=[0.25, None], model_layers=12, layers=[3, 8])
        with tempfile.TemporaryDirectory() as folder:
            trace.save(folder + "/rules.safetensors")
            for one in (trace, kvcheck.open_trace(folder + "/rules.safetensors")):
                first, second = one.rules
                self.assertEqual(first["frequencies"], table)
                self.assertAlmostEqual(second["frequencies"][1], 100 ** -0.25)
                self.assertEqual((first["soft_cap"], second["soft_cap"]), (None, 30))
                self.assertEqual((first["attention_scale"], second["attention_scale"]),
                                 (0.25, 1 / numpy.sqrt(8)))
                self.assertEqual((first["window"], first["sinks"]), (7, [0.5, 1, -1, 2]))
                self.assertEqual((one.model_layers, first["rope_scale"]), (12, 1.25))

    def test_a_window_changes_what_is_retained(self):
        mass = [kvcheck.replay(kvcheck.qkv(*self.vectors(), window=window), "window", 8)
                .cells["retained_mass"][0] for window in (None, 8)]
        self.assertLess(mass[0], 0.9)
        self.assertAlmostEqual(mass[1], 1, 6)

    def test_rows_with_a_learned_sink(self):
        given = rows() * numpy.float32(0.5)
        with self.assertRaisesRegex(kvcheck.Error, "expected 1 within"):
            kvcheck.attention(given)
        trace = kvcheck.attention(given, learned_sinks=True)
        self.assertTrue(trace.learned_sinks)
        whole = kvcheck.replay(kvcheck.attention(rows()), "window", 8)
        part = kvcheck.replay(trace, "window", 8)
        self.assertAlmostEqual(part.cells["retained_mass"][0], whole.cells["retained_mass"][0], 6)

    def test_wrong_rules_are_refused(self):
        wrong = {"window is '0'": {"window": 0}, "soft_cap is '-1.0'": {"soft_cap": -1},
                 "window has 3 values": {"window": [1, 2, 3]}, "has 2 numbers; expected 4": {
                     "frequencies": [1, 2]}, "has nan at 0": {"sinks": [float("nan"), 0, 0, 0]},
                 "sinks has 3 lists": {"sinks": [[1] * 4] * 3}, "no layer rotates": {
                     "rope": "none", "rope_applied": True}, "rope_dims is 10": {"rope_dims": 10}}
        for sentence, arguments in wrong.items():
            with self.assertRaisesRegex(kvcheck.Error, sentence):
                kvcheck.qkv(*self.vectors(), **arguments)


class QueriesKeysValues(unittest.TestCase):
    def test_arrays_of_a_file_replay_as_the_file(self):
        opened = kvcheck.open_trace(BUNDLED)
        layers = range(len(opened.layers))
        made = kvcheck.qkv(numpy.stack([opened.queries(i) for i in layers]),
                           numpy.stack([opened.keys(i) for i in layers]),
                           numpy.stack([opened.values(i) for i in layers]), rope="interleaved",
                           name=opened.name, words=opened.words)
        policies = ["tova", "keydiff", "h2o;positions=in-cache"]
        self.assertEqual(kvcheck.replay(made, policies, 64).lines,
                         kvcheck.replay(opened, policies, 64).lines)

    def test_wrong_arrays_are_refused(self):
        q, k = numpy.ones((4, 10, 8), numpy.float32), numpy.ones((2, 10, 8), numpy.float32)
        for arguments, options, sentence in (
                ((q, k, k[:, :9]), {}, "values has the shape"),
                ((q, k, k.astype(numpy.float16)), {}, "expected one dtype"),
                ((k, q, q), {}, "expected a divisor of the 2 of queries"),
                ((q, k, k), {"rope": "yarn"}, "rope is 'yarn'"),
                ((q, k, k), {"theta": -1}, "theta has -1; expected a number above 0"),
                ((q, k, k), {"theta": None}, "theta is None; expected a number above 0, or frequencies"),
                ((q, k, k), {"frequencies": [1, 2, 3]}, "frequencies of layer 0 has 3 numbers; expected 4"),
                ((q[:, :2], k, k), {"query_positions": [9, 1]}, "query_positions has 1 after 9"),
                ((q, k, k), {"rope_dims": 9}, "rope_dims")):
            with self.assertRaisesRegex(kvcheck.Error, sentence):
                kvcheck.qkv(*arguments, **options)

    def test_what_a_trace_lacks_is_named(self):
        with self.assertRaisesRegex(kvcheck.Error, "has no attention; it has queries"):
            kvcheck.open_trace(BUNDLED).attention()
        with self.assertRaisesRegex(kvcheck.Error, "no layer with index 6"):
            kvcheck.open_trace(BUNDLED).keys(6)


class SomeQueries(unittest.TestCase):
    def setUp(self):
        rng = numpy.random.default_rng(3)
        self.arrays = [rng.standard_normal((heads, 90, 8)).astype("float32") for heads in (4, 2, 2)]
        self.whole = kvcheck.qkv(*self.arrays)
        with tempfile.TemporaryDirectory() as folder:
            whole, some = folder + "/whole.safetensors", folder + "/some.safetensors"
            self.whole.save(whole)
            kvcheck.run("trace", "slice", whole, "--queries", "4/30", "-o", some)
            self.sliced = kvcheck.open_trace(some)

    def made(self, **changes):
        arguments = {"query_positions": self.sliced.query_positions,
                     "query_design": self.sliced.query_design, **changes}
        queries, keys, values = self.arrays
        return kvcheck.qkv(queries[:, self.sliced.query_positions], keys, values, **arguments)

    def test_arrays_replay_as_the_sliced_file(self):
        self.assertIsNone(self.whole.query_positions)
        self.assertEqual(self.sliced.query_design, "4/30")
        self.assertEqual(self.made().queries().shape, (4, 12, 8))
        cells = [kvcheck.replay(trace, "streaming", 20).cells for trace in (self.made(), self.sliced)]
        for name in ("retained_mass", "retained_mass_half_width", "output_error"):
            self.assertGreater(cells[0][name][0], 0)
            self.assertEqual(cells[0][name][0], cells[1][name][0])
        without = kvcheck.replay(self.made(query_design=""), "streaming", 20).cells
        self.assertGreater(without["retained_mass"][0], 0)
        self.assertTrue(numpy.isnan(without["retained_mass_half_width"][0]))

    def test_rows_of_attention(self):
        rows = numpy.tril(numpy.ones((2, 40, 40), "float32"))
        rows /= rows.sum(axis=2, keepdims=True)
        some = kvcheck.attention(rows[:, [5, 20, 39]], query_positions=[5, 20, 39])
        self.assertEqual(some.tokens, 40)
        self.assertEqual(some.attention().shape, (2, 3, 40))
        # The newest 10 before the query and its own token, of 6, 21 and 40.
        mass = kvcheck.replay(some, "window", 10).cells["retained_mass"][0]
        self.assertAlmostEqual(mass, (1 + 11 / 21 + 11 / 40) / 3, places=6)

    def test_wrong_queries_are_refused(self):
        positions = self.sliced.query_positions
        for changes, message in (
                ({"query_positions": positions[1:]}, "query_positions has 11 numbers; expected one for"),
                ({"query_positions": None}, "without query_positions; expected both"),
                ({"query_positions": None, "query_design": ""}, "keys has the shape"),
                ({"query_positions": [-1] + positions[1:]}, "below 0 or too large"),
                ({"query_positions": positions[:-1] + [90]}, "expected 0 to 89"),
                ({"query_positions": positions[::-1]}, "query_positions has 77 after 88"),
                ({"query_design": "5/30"}, "expected 5, by query_design '5/30'"),
                ({"query_design": "some"}, "query_design")):
            with self.assertRaisesRegex(kvcheck.Error, message):
                self.made(**changes)
        with self.assertRaisesRegex(kvcheck.Error, "expected as many, or query_positions"):
            kvcheck.attention(numpy.ones((1, 2, 3), "float32"))


class Files(unittest.TestCase):
    def test_wrong_files_are_refused(self):
        with self.assertRaisesRegex(kvcheck.Error, "cannot open '/nowhere'"):
            kvcheck.open_trace("/nowhere")
        with self.assertRaisesRegex(kvcheck.Error, "generate"):
            kvcheck.open_trace("synthetic:zipf")
        with self.assertRaisesRegex(kvcheck.Error, "did you mean 'zipf'"):
            kvcheck.generate("zipff")

    def test_a_dump_with_shared_heads(self):
        with tempfile.TemporaryDirectory() as folder:
            numpy.save(folder + "/a.npy", rows(heads=4)[0])
            self.assertEqual(kvcheck.open_trace(folder + "/a.npy", kv_heads=2).kv_heads, 2)


if __name__ == "__main__":
    unittest.main()
