"""Policies of Python: their parameters, what they do wrong, and the laws."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy

import kvcheck
import twins

SOURCE = os.environ["KVCHECK_SOURCE"]
TRACE = "synthetic:zipf:tokens=80,heads=2"
MODEL = SOURCE + "/model/data"


def policy(class_name, body, **attributes):
    return type(class_name, (kvcheck.Policy,), {"evict": body, **attributes})


def output_projections(model):
    """The matrix of each layer, [width, heads * dim], as float64."""
    with open(model + "/model.safetensors", "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    types = {"F16": numpy.float16, "F32": numpy.float32}
    return [numpy.frombuffer(data[slice(*tensor["data_offsets"])], types[tensor["dtype"]])
            .reshape(tensor["shape"]).astype(float)
            for name, tensor in header.items() if name.endswith("attention.dense.weight")]


def forgets_nothing(self, evicted):
    pass


class Definitions(unittest.TestCase):
    def test_parameters_reach_the_object(self):
        seen = []

        class Weighted(kvcheck.Policy):
            parameters = {"alpha": kvcheck.Parameter(0.5, "a share", 0, 1), "every_n": 3,
                          "mode": kvcheck.Parameter("soft", choices=("soft", "hard"))}

            def __init__(self, alpha, every_n, mode):
                seen.append((alpha, every_n, mode))

            def evict(self, candidates, draws):
                return [0]

        result = kvcheck.replay(TRACE, [Weighted, "weighted:alpha=0.25,every-n=7,mode=hard"], 12)
        self.assertEqual(set(seen), {(0.5, 3, "soft"), (0.25, 7, "hard")})
        self.assertIn("alpha=0.25,every-n=7,mode=hard", result.cells["spec"][1])
        with self.assertRaisesRegex(kvcheck.Error, "alpha.*between 0 and 1|alpha.*0 to 1"):
            kvcheck.replay(TRACE, ["weighted:alpha=2"], 12)
        with self.assertRaisesRegex(kvcheck.Error, "did you mean 'soft'"):
            kvcheck.replay(TRACE, ["weighted:mode=sofd"], 12)

    def test_a_class_gives_its_policy_a_name(self):
        for name, expected in (("KeepsOldest", "keeps-oldest"), ("My_Policy", "my-policy"),
                               ("_Of2Words", "of2-words")):
            made = policy(name, lambda self, seen, draws: range(len(seen.positions) - seen.capacity))
            self.assertEqual(kvcheck.replay(TRACE, made, 12).cells["spec"][0].split(":")[0], expected)

    def test_a_second_class_of_a_name_takes_the_place_of_the_first(self):
        first = policy("Again", lambda self, seen, draws: [0])
        second = policy("Again", lambda self, seen, draws: [len(seen.positions) - 1])
        lines = [kvcheck.replay(TRACE, one, 12).lines for one in (first, second, first)]
        self.assertNotEqual(lines[0], lines[1])
        self.assertEqual(lines[0], lines[2])

    def test_wrong_classes_are_refused(self):
        body = lambda self, seen, draws: [0]
        for wrong, sentence in (
                (int, "expected a subclass of kvcheck.Policy"),
                (type("Empty", (kvcheck.Policy,), {}), "has no evict"),
                (policy("H2o", body), "there is a policy 'h2o' already"),
                (policy("Spaced", body, name="my policy"), "a-z, 0-9 and '-'"),
                (policy("Unclaimed", body, claims=("constant",)), "unknown claim 'constant'"),
                (policy("Needy", body, needs=("key",)), "needs 'key'"),
                (policy("Blind", body, needs=("keys",)), "has no observe"),
                (policy("Keeper", body, observe=lambda self, seen: None), r"observe\(\) but no forget"),
                (policy("Sunk", body, sinks=-1), "sinks of Sunk is -1"),
                (policy("Listed", body, parameters={"a": [1]}), r"has the default \[1\]"),
                (policy("Timed", body, seconds=0), "seconds of Timed is 0; expected a number above 0"),
                (policy("Silent", body, summary=""), "empty summary"),
                (policy("Built", body, __init__=lambda self, a: None), "maker of 'built' throws")):
            with self.assertRaisesRegex(kvcheck.Error, sentence):
                kvcheck.register(wrong)
        self.assertEqual(kvcheck.replay(TRACE, "h2o", 12).cells["policy"][0], "h2o")

    def test_observations(self):
        seen = []

        class Observer(kvcheck.Policy):
            needs = ("attention", "keys", "values", "queries")

            def observe(self, observation):
                seen.append(observation)

            forget = forgets_nothing

            def evict(self, candidates, draws):
                return [0]

        trace = kvcheck.generate("zipf:tokens=30,heads=2,kv_heads=1,kind=qkv")
        kvcheck.replay(trace, Observer, 8)
        self.assertEqual([one.query for one in seen], list(range(30)))
        for one in seen:
            self.assertAlmostEqual(float(one.mass.sum()), 1, 5)
            self.assertEqual(one.keys.shape, (1, trace.head_dim))
            self.assertEqual(one.queries.shape, (2, trace.head_dim))
            numpy.testing.assert_array_equal(one.values[0], trace.values()[0, one.query])
        with self.assertRaisesRegex(ValueError, "only during the call"):
            seen[0].draws.uniform(1)
        self.assertIsNone(seen[0].output_norms)

    def test_values_after_the_output_projection(self):
        seen = []

        class Sized(kvcheck.Policy):
            needs = ("values", "output_norms")

            def observe(self, observation):
                seen.append(observation)

            forget = forgets_nothing

            def evict(self, candidates, draws):
                return [0]

        with self.assertRaisesRegex(kvcheck.Error, "'output_norms' without 'values'; expected both"):
            kvcheck.register(type("Alone", (Sized,), {"needs": ("output_norms",)}))
        kvcheck.replay("synthetic:zipf:tokens=20,heads=1,kind=qkv", Sized, 8)
        self.assertTrue(seen and all(one.output_norms is None for one in seen))
        seen.clear()
        kvcheck.eval(Sized, model=MODEL, text=MODEL + "/held-out.txt", tokens=12, budget=8, threads=1)
        projections = output_projections(MODEL)
        self.assertTrue(seen)
        for one in seen:
            heads = len(one.output_norms)
            norms = [numpy.abs(matrix.reshape(len(matrix), -1, one.values.shape[1]) @ one.values[0]).sum(0)
                     for matrix in projections]
            near = [numpy.abs(all_heads.reshape(-1, heads) - one.output_norms).max(1).min() for all_heads in norms]
            self.assertLess(min(near), 1e-4 * one.output_norms.max())


class Faults(unittest.TestCase):
    def failing(self, body, sentence, **attributes):
        with self.assertRaisesRegex(kvcheck.Error, sentence):
            kvcheck.replay(TRACE, policy("Faulty", body, **attributes), 12)

    def test_an_exception_names_the_policy_and_the_line(self):
        def body(self, seen, draws):
            raise KeyError("lost\nkey")

        self.failing(body, r"policy 'faulty' throws an exception: KeyError: .*test_policies.py, line")

    def test_wrong_victims(self):
        self.failing(lambda self, seen, draws: [-1], "the index -1; expected 0 to")
        self.failing(lambda self, seen, draws: [99], "the index 99; expected 0 to")
        self.failing(lambda self, seen, draws: [0.5], "expected whole numbers")
        for wrong in (None, " 3 ", ["0", "1"], b"0", {0}, numpy.array([1j]), numpy.array([1], "m8[s]"),
                      (i for i in (0, 1)), object()):
            self.failing(lambda self, seen, draws: wrong, "returned .*; expected whole numbers")
        self.failing(lambda self, seen, draws: [True], "flatnonzero")
        self.failing(lambda self, seen, draws: numpy.arange(len(seen.positions)) == 0, "flatnonzero")
        self.failing(lambda self, seen, draws: [], "found only 0; expected at least 1")
        self.failing(lambda self, seen, draws: [0, 0], "found 0 and then 0")

    # A call of each of the other cells would take as long as that of the first one.
    def test_a_failure_ends_the_calls_for_all_cells(self):
        for failing in ("evict", "observe"):
            calls = []

            def fail(self, *arguments):
                calls.append(1)
                raise RuntimeError("not so")

            methods = {"observe": lambda self, seen: None, "forget": lambda self, ranks: None,
                       "evict": lambda self, seen, draws: [0]}
            one = type("Once", (kvcheck.Policy,), {**methods, failing: fail, "needs": ("attention",)})
            with self.assertRaisesRegex(kvcheck.Error, "not so"):
                kvcheck.replay(TRACE, one, [12, 13, 14], seeds=3)
            self.assertEqual(len(calls), 1, failing)
            # All caches of a chunk decide before its first layer runs.
            with self.assertRaisesRegex(kvcheck.Error, "not so"):
                kvcheck.eval(model=MODEL, text=MODEL + "/held-out.txt", tokens=40, threads=1,
                             policies=[one], budgets=[12, 13])
            self.assertLessEqual(len(calls), 1 + 16, failing)

    def test_wrong_observe_and_forget(self):
        def fail(self, *arguments):
            raise RuntimeError("not so")

        self.failing(lambda self, seen, draws: [0], "not so", observe=fail, forget=forgets_nothing)
        self.failing(lambda self, seen, draws: [0], "not so", forget=fail)

    def test_nothing_is_lost_by_a_failure(self):
        self.failing(lambda self, seen, draws: [-1], "the index -1")
        self.assertGreater(kvcheck.replay(TRACE, twins.Fifo, 12).cells["evictions"][0], 0)

    def test_a_call_that_does_not_return_ends_the_replay(self):
        def hangs(self, *arguments):
            while True:
                pass

        for body, attributes in ((hangs, {}), (lambda self, seen, draws: [0], 
                                 {"observe": hangs, "forget": forgets_nothing})):
            began = time.monotonic()
            self.failing(body, r"policy 'faulty' throws an exception: TimeoutError: (evict|observe) of "
                         r"Faulty has run for more than 0.5 s.*test_policies.py, line", seconds=0.5,
                         **attributes)
            self.assertLess(time.monotonic() - began, 30)

    def test_a_call_that_does_not_return_is_named_by_check(self):
        def computes(self, *arguments):
            while True:
                pass

        def sleeps(self, *arguments):
            time.sleep(1000)

        first = lambda self, seen, draws: [0]
        for name, methods in (("evict", {"evict": sleeps}),
                              ("observe", {"evict": first, "observe": computes, "forget": forgets_nothing})):
            began = time.monotonic()
            hangs = type("Hangs", (kvcheck.Policy,), {"seconds": 0.3, **methods})
            broken, = kvcheck.check(hangs, filter=["survives"], time="4s").broken
            self.assertEqual(broken["law"], "survives")
            self.assertEqual(broken["seen"], "it gave no answer in time: %s of Hangs has run for more than "
                                             "0.3 s; its class may allow more in `seconds`" % name)
            self.assertLess(time.monotonic() - began, 50)

    def test_calls_that_do_not_return_are_named_when_a_class_is_registered(self):
        def hangs(self):
            while True:
                pass

        for name in ("__init__", "clone"):
            with self.assertRaisesRegex(kvcheck.Error, name + " of Stuck has run for more than 0.3 s"):
                kvcheck.check(policy("Stuck", lambda self, seen, draws: [0], **{name: hangs}, seconds=0.3))

    def test_a_thread_that_computes_does_not_stop_a_check(self):
        # It holds Python's lock while check forks children, one for each death, which call the policy.
        ended = threading.Event()

        def computes():
            while not ended.is_set():
                pass

        thread = threading.Thread(target=computes)
        thread.start()
        try:
            leaves = policy("Leaves", lambda self, seen, draws: os._exit(3))
            broken, = kvcheck.check(leaves, filter=["survives"]).broken
            self.assertEqual(broken["seen"], "it left the process with status 3")
            self.assertEqual(kvcheck.check(twins.Fifo, filter=["size.*", "survives"]).broken, [])
        finally:
            ended.set()
            thread.join()

    def test_many_short_calls_may_take_longer_than_one(self):
        def slow(self, seen, draws):
            time.sleep(0.01)
            return [0]

        self.assertEqual(kvcheck.replay(TRACE, policy("Slow", slow, seconds=0.3), 12).cells["policy"][0],
                         "slow")

    def test_ctrl_c_ends_a_policy_that_hangs(self):
        self.interrupt("class Hangs(kvcheck.Policy):\n"
                       "    def evict(self, candidates, draws):\n"
                       "        print('here', flush=True)\n"
                       "        while True: pass\n"
                       "kvcheck.replay('synthetic:zipf:tokens=99', Hangs, [9, 10, 11], seeds=2)\n")

    # There C++ has the handler of the signal, not Python.
    def test_signals_end_a_policy_that_hangs_in_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/hangs.py"
            with open(path, "w", encoding="utf-8") as file:
                file.write("import kvcheck\nclass Hangs(kvcheck.Policy):\n"
                           "    def evict(self, candidates, draws):\n"
                           "        print('here', flush=True)\n"
                           "        while True: pass\n")
            words = ["--load", path, "replay", "synthetic:zipf:tokens=99", "--policy", "hangs", "--budget", "9,10"]
            for signal_number in (signal.SIGINT, signal.SIGTERM):
                child = subprocess.Popen([sys.executable, "-m", "kvcheck", *words], stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE)
                self.assertTrue(child.stdout.readline().startswith(b"here"))
                child.send_signal(signal_number)
                child.communicate(timeout=30)
                self.assertEqual(child.returncode, 130)

    def test_ctrl_c_ends_a_long_replay(self):
        self.interrupt("trace = kvcheck.generate('zipf:tokens=2500,heads=8,layers=2')\n"
                       "print('here', flush=True)\n"
                       "kvcheck.replay(trace, ['h2o', 'tova', 'random'], [200, 400, 800], seeds=90)\n")

    def test_ctrl_c_ends_the_making_of_a_stream(self):
        self.interrupt("print('here', flush=True)\n"
                       "kvcheck.generate('zipf:tokens=65536,heads=32,kind=qkv')\n")

    def test_ctrl_c_ends_a_long_check(self):
        self.interrupt("print('here', flush=True)\n"
                       "kvcheck.check('h2o:budget=64', nightly=True)\n")

    def test_a_call_that_took_too_long_leaves_no_exception_behind(self):
        # The exception waits for Python's next instruction, which is the caller's.
        self.interrupt("import time\n"
                       "class Sleeps(kvcheck.Policy):\n"
                       "    seconds = 0.2\n"
                       "    def evict(self, candidates, draws):\n"
                       "        print('here', flush=True)\n"
                       "        time.sleep(1000)\n"
                       "try:\n"
                       "    kvcheck.replay('synthetic:zipf:tokens=99', Sleeps, 9)\n"
                       "except KeyboardInterrupt:\n"
                       "    for i in range(1000):\n"
                       "        time.sleep(0.0001)\n"
                       "    raise\n", wait=2)

    def test_an_interrupted_check_has_what_it_had_found(self):
        said = self.interrupt("print('here', flush=True)\n"
                              "try:\n"
                              "    kvcheck.check('h2o:budget=64', nightly=True)\n"
                              "except KeyboardInterrupt as interrupt:\n"
                              "    found = interrupt.found\n"
                              "    print(type(found).__name__, found['complete'], len(found['laws']) > 9)\n"
                              "    raise\n", wait=2)
        self.assertEqual(said, "Laws False True\n")

    def interrupt(self, text, wait=0.3):
        child = subprocess.Popen([sys.executable, "-c", "import kvcheck\n" + text],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(child.stdout.readline(), b"here\n")
        time.sleep(wait)
        child.send_signal(2)
        out, err = (text.decode() for text in child.communicate(timeout=60))
        self.assertIn("KeyboardInterrupt", err)
        self.assertNotIn("TimeoutError", err)
        self.assertNotEqual(child.returncode, 0)
        return out


class Laws(unittest.TestCase):
    def broken(self, subject, *laws):
        report = kvcheck.check(subject, filter=list(laws))
        return [law["law"] for law in report["laws"] if law["status"] == "broken"]

    def test_right_policies_hold(self):
        for twin in (twins.Fifo, twins.Tova, twins.Random, twins.KeyNorm):
            self.assertEqual(self.broken(twin, "size.*", "chunking.*", "operation.*", "survives"), [])

    def test_a_wrong_claim_is_found(self):
        class Forgetful(kvcheck.Policy):
            claims = ("constant-size", "chunk-invariant", "deterministic")

            def evict(self, candidates, draws):
                return range(len(candidates.positions) - candidates.capacity + 1)

        self.assertNotEqual(self.broken(Forgetful, "size.*"), [])

    def test_state_that_no_clone_has_is_found(self):
        class Shared(twins.KeyNorm):
            name = "py-shared"

            def clone(self):
                return self

        self.assertNotEqual(self.broken(Shared, "operation.*", "isolation.*"), [])


if __name__ == "__main__":
    unittest.main()
