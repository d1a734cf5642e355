"""Traces and replays that are pickled, as for other processes, and what can no longer be unpickled."""

import concurrent.futures
import copy
import functools
import multiprocessing
import os
import pickle
import shutil
import tempfile
import unittest

import numpy

import kvcheck

SOURCE = os.environ["KVCHECK_SOURCE"]
BUNDLED = SOURCE + "/traces/data/tinystories-2m.qkv.safetensors"


def again(value):
    return pickle.loads(pickle.dumps(value))


def rows(tokens=30):
    weights = numpy.tril(numpy.random.default_rng(2).exponential(size=(3, 2, tokens, tokens)))
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(numpy.float32)


def facts_of(trace):
    return {name: value for name, value in vars(trace).items() if not name.startswith("_")}


class Traces(unittest.TestCase):
    def expect_same(self, trace):
        other = again(trace)
        self.assertIsNot(other, trace)
        self.assertEqual(facts_of(other), facts_of(trace))
        self.assertEqual((other.words, other.token_ids.tolist()), (trace.words, trace.token_ids.tolist()))
        for layer in range(len(trace.layers)):
            for name in ("attention",) if trace.kind == "attention" else ("queries", "keys", "values"):
                one, two = getattr(trace, name)(layer), getattr(other, name)(layer)
                self.assertEqual(one.dtype, two.dtype)
                numpy.testing.assert_array_equal(one, two)
        self.assertEqual(kvcheck.replay(other, "h2o", 9), kvcheck.replay(trace, "h2o", 9))
        return other

    def test_of_arrays(self):
        trace = kvcheck.attention(rows(), words=["w%d" % i for i in range(30)], token_ids=range(30),
                                  layers=[1, 4, 9], model="toy", name="mine")
        self.expect_same(self.expect_same(trace))
        vectors = numpy.random.default_rng(1).normal(size=(2, 4, 24, 8)).astype(numpy.float16)
        self.expect_same(kvcheck.qkv(vectors[:, :, [3, 9, 23]], vectors[:, :2], vectors[:, 2:], window=7,
                                     sinks=[0.5, 1, -1, 2], frequencies=[[1, 0.5, 0.25, 0.125], None],
                                     soft_cap=[None, 30], query_positions=[3, 9, 23]))

    def test_synthetic_ones_are_small(self):
        for spec in ("zipf:tokens=300,heads=2", "needle:tokens=120,ask_at=110,kind=qkv"):
            trace = kvcheck.generate(spec)
            self.expect_same(trace)
            self.assertLess(len(pickle.dumps(trace)), 1000)

    def test_of_a_file_are_its_path(self):
        self.expect_same(kvcheck.open_trace(BUNDLED))
        self.assertLess(len(pickle.dumps(kvcheck.open_trace(BUNDLED))), 1000)
        with tempfile.TemporaryDirectory() as folder:
            numpy.save(folder + "/dump.npy", rows()[0])
            self.expect_same(kvcheck.open_trace(folder + "/dump.npy", kv_heads=1))
            before = os.getcwd()
            os.chdir(folder)
            try:
                trace = kvcheck.open_trace("dump.npy")
            finally:
                os.chdir(before)
            self.expect_same(trace)

    def test_files_that_changed_or_are_gone_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/t.safetensors"
            shutil.copy(BUNDLED, path)
            pickled = pickle.dumps(kvcheck.open_trace(path))
            kvcheck.attention(rows()).save(path)
            with self.assertRaisesRegex(kvcheck.Error, "^'%s' has changed since its trace was pickled: its "
                                                       "checksum is [0-9a-f]{16}; expected" % path):
                pickle.loads(pickled)
            os.unlink(path)
            with self.assertRaisesRegex(kvcheck.Error, "^a pickled trace is not there any more: cannot open "
                                                       "'%s'" % path):
                pickle.loads(pickled)

    def test_copies_are_the_trace_itself(self):
        trace = kvcheck.attention(rows())
        self.assertIs(copy.deepcopy({"a": trace})["a"], trace)
        self.assertIs(copy.copy(trace), trace)


class Replays(unittest.TestCase):
    def test_are_equal_when_unpickled(self):
        result = kvcheck.replay(BUNDLED, ["h2o", "random"], [32, 64], seeds=2, oracle=True)
        other = again(again(result))
        self.assertEqual(other, result)
        self.assertEqual(hash(other), hash(result))
        self.assertEqual(repr(other), repr(result))
        for name in ("lines", "labels", "left_out"):
            self.assertEqual(getattr(other, name), getattr(result, name))
        for name in ("cells", "heads", "dense"):
            for field in getattr(result, name).dtype.names:
                numpy.testing.assert_array_equal(getattr(other, name)[field], getattr(result, name)[field])
        for cell in range(len(result)):
            self.assertEqual(other.series(cell).tobytes(), result.series(cell).tobytes())
            numpy.testing.assert_array_equal(other.kept(cell), result.kept(cell))
            numpy.testing.assert_array_equal(other.lifetimes(cell), result.lifetimes(cell))
            self.assertEqual(len(other.residency(cell)), len(result.residency(cell)))
            self.assertEqual(other.kept_words(cell), result.kept_words(cell))
        self.assertEqual(facts_of(other.trace), facts_of(result.trace))

    def test_that_differ_are_not_equal(self):
        result = kvcheck.replay(rows(), "h2o", 9)
        self.assertNotEqual(kvcheck.replay(rows(), "h2o", 10), result)
        self.assertNotEqual(result, result.lines)
        # What the lines do not say: when each token was evicted.
        other = again(result)
        other.residency(0)[0].evicted_at[0] += 1
        self.assertNotEqual(other, result)

    def test_outlive_their_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/t.safetensors"
            shutil.copy(BUNDLED, path)
            result = kvcheck.replay(path, "h2o", 32)
            pickled = pickle.dumps(result)
        other = pickle.loads(pickled)
        self.assertEqual(other, result)
        self.assertEqual(other.kept_words(0), result.kept_words(0))
        with self.assertRaisesRegex(kvcheck.Error, "^a pickled trace is not there any more"):
            other.trace

    def test_arrays_of_traces_are_not_part_of_them(self):
        trace = kvcheck.attention(rows(400), words=["w"] * 400, name="mine")
        result = kvcheck.replay(trace, "h2o", 9)
        self.assertIs(result.trace, trace)
        self.assertLess(len(pickle.dumps(result)), rows(400).nbytes / 8)
        other = again(result)
        self.assertEqual(other.kept_words(0), result.kept_words(0))
        with self.assertRaisesRegex(kvcheck.Error, "^the trace 'mine' of this pickled replay was made of"):
            other.trace

    def test_cross_to_other_processes(self):
        work = functools.partial(kvcheck.replay, policies=["h2o", "tova"], budgets=9)
        traces = [kvcheck.generate("zipf:tokens=60,heads=2"), kvcheck.attention(rows()),
                  kvcheck.open_trace(BUNDLED)]
        for way in ("spawn", "fork"):
            with concurrent.futures.ProcessPoolExecutor(
                    1, mp_context=multiprocessing.get_context(way)) as pool:
                self.assertEqual(list(pool.map(work, traces)), [work(trace) for trace in traces])

    def test_what_other_functions_return_is_pickled(self):
        laws = kvcheck.check("fifo:budget=9", filter=["size.stored"])
        self.assertEqual((type(again(laws)), again(laws)), (kvcheck.Laws, laws))
        with self.assertRaises(kvcheck.Error) as caught:
            kvcheck.open_trace("/nowhere")
        self.assertEqual(str(again(caught.exception)), str(caught.exception))


if __name__ == "__main__":
    unittest.main()
