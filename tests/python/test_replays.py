"""Replays from Python give the program's numbers, and policies of Python those of their C++ twins."""

import contextlib
import glob
import importlib.util
import json
import os
import sqlite3
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import numpy

import kvcheck
import twins

SOURCE, PROGRAM = os.environ["KVCHECK_SOURCE"], os.environ["KVCHECK_PROGRAM"]
BUNDLED = sorted(glob.glob(SOURCE + "/traces/data/*.safetensors"))
SYNTHETIC = ["synthetic:zipf:tokens=300,heads=2,layers=2", "synthetic:needle:tokens=200,ask_at=150,kind=qkv"]


def printed(*arguments):
    """The JSON lines of `kvcheck replay`."""
    return subprocess.run([PROGRAM, "replay", *arguments, "--quiet", "--json", "-", "--per-head"],
                          stdout=subprocess.PIPE, check=True).stdout.decode()


class Replays(unittest.TestCase):
    def test_lines_are_those_of_the_program(self):
        for trace in BUNDLED + SYNTHETIC[:1]:
            result = kvcheck.replay(trace, ["h2o", "random:sinks=2", "@tova"], [16, 40], seeds=2,
                                    oracle=trace in SYNTHETIC)
            oracle = ["--oracle"] if trace in SYNTHETIC else []
            self.assertEqual(result.lines, printed(
                trace, "--policy", "h2o", "--policy", "random:sinks=2", "--policy", "@tova",
                "--budget", "16,40", "--seeds", "2", *oracle))

    def test_tables_hold_what_the_lines_say(self):
        result = kvcheck.replay(SYNTHETIC[0], ["h2o", "random"], [16, 40], seeds=2)
        rows = [json.loads(line) for line in result.lines.splitlines()]
        cells = [row for row in rows if row["type"] == "cell"]
        self.assertEqual(len(result), len(cells))
        for row, cell in zip(cells, result.cells):
            for name in result.cells.dtype.names:
                if row[name] is None:
                    self.assertTrue(numpy.isnan(cell[name]), name)
                else:
                    self.assertEqual(cell[name], row[name], name)
        heads = [row["retained_mass"] for row in rows if row["type"] == "head"]
        self.assertEqual(result.heads["retained_mass"].tolist(), heads)

    def test_the_command_of_a_run_names_the_file_as_the_caller_did(self):
        relative = os.path.relpath(BUNDLED[0])
        with tempfile.TemporaryDirectory() as folder:
            stream = kvcheck.generate(SYNTHETIC[0])
            for given, named in ((relative, relative), (Path(relative), relative),
                                 (SYNTHETIC[0], SYNTHETIC[0]), (stream, "synthetic:" + stream.name),
                                 (kvcheck.open_trace(relative), os.path.basename(relative))):
                kvcheck.replay(given, "fifo", 16, output=folder + "/run.db")
                with contextlib.closing(sqlite3.connect(folder + "/run.db")) as file:
                    command, = file.execute("SELECT command FROM runs ORDER BY id DESC").fetchone()
                self.assertEqual(command, "kvcheck.replay(%r, ['fifo'], budgets=[16])" % named)

    def test_the_oracle_needs_no_policy(self):
        bounds = kvcheck.oracle(SYNTHETIC[0], [16, 40])
        cells = kvcheck.replay(SYNTHETIC[0], ["h2o"], [16, 40], oracle=True).cells
        for name in bounds.dtype.names:
            self.assertEqual(bounds[name].tolist(), cells[name].tolist(), name)
        self.assertTrue((bounds["greedy_oracle"] <= bounds["optimum"]).all())
        before = kvcheck.oracle(SYNTHETIC[0], 16, fields="timing=trim-then-attend;unit=layer")
        self.assertLess(before["optimum"][0], bounds["optimum"][0])
        with self.assertRaisesRegex(kvcheck.Error, "timing"):
            kvcheck.oracle(SYNTHETIC[0], 16, fields="timing=late")

    def test_without_top_k_the_overlap_is_not_measured(self):
        cells = kvcheck.replay(SYNTHETIC[0], ["h2o"], 16, top_k=0).cells
        self.assertTrue(numpy.isnan(cells["topk_overlap"]).all())
        expected = kvcheck.replay(SYNTHETIC[0], ["h2o"], 16).cells
        self.assertEqual(cells["retained_mass"].tolist(), expected["retained_mass"].tolist())

    def test_all_leaves_out_by_name(self):
        result = kvcheck.replay(SYNTHETIC[0], "all", 32)
        self.assertIn("keydiff", result.left_out)
        self.assertNotIn("keydiff", result.cells["policy"])

    def test_labels_name_cells_shortly(self):
        result = kvcheck.replay(SYNTHETIC[0], ["streaming:sinks=2", "streaming:sinks=0", "random"],
                                [16, 40], seeds=2)
        self.assertEqual(result.labels, ["streaming:sinks=2"] * 2 + ["streaming:sinks=0"] * 2 +
                         ["random"] * 4)

    def test_arrays_agree_with_the_means(self):
        trace = kvcheck.open_trace(BUNDLED[0])
        result = kvcheck.replay(trace, "h2o", 64)
        series = result.series(0)
        self.assertEqual(len(series), trace.tokens)
        self.assertAlmostEqual(series["retained_mass"].mean(), result.cells["retained_mass"][0], 12)
        units = len(trace.layers) * trace.kv_heads
        self.assertEqual(result.kept(0).sum(), result.cells["kept_at_end"][0] * units)
        residency = result.residency(0)
        self.assertEqual(len(residency), units)
        at_end = sum((unit.evicted_at > trace.tokens).astype(int) for unit in residency)
        numpy.testing.assert_array_equal(at_end, result.kept(0))
        resident = residency[0].resident()
        self.assertEqual(resident[-1].sum(), (residency[0].evicted_at >= trace.tokens).sum())
        self.assertFalse(numpy.triu(resident, 1).any())
        self.assertEqual(result.lifetimes(0).sum(), result.cells["evictions"][0])
        self.assertEqual(len(result.kept_words(0)), (result.kept(0) > 0).sum())

    def test_retained_mass_is_what_the_residents_see(self):
        trace = kvcheck.generate("zipf:tokens=120,heads=2")
        result = kvcheck.replay(trace, "fifo", 16)
        for head, unit in enumerate(result.residency(0)):
            mass = (trace.attention()[head].astype(float) * unit.resident()).sum(axis=1).mean()
            self.assertAlmostEqual(mass, result.heads["retained_mass"][head], 6)

    def test_any_number_of_threads_gives_the_same(self):
        lines = {kvcheck.replay(BUNDLED[0], ["tova", "random"], 48, threads=threads).lines
                 for threads in (1, 2, 5)}
        self.assertEqual(len(lines), 1)

    def test_arrays_are_traces(self):
        trace = kvcheck.generate("zipf", tokens=60, heads=2)
        rows = trace.attention()
        expected = kvcheck.replay(kvcheck.attention(rows), "h2o", 16).lines
        self.assertEqual(kvcheck.replay(rows, "h2o", 16).lines, expected)
        self.assertEqual(kvcheck.oracle(rows, 16).tolist(), kvcheck.oracle(trace, 16).tolist())
        for given in (None, (rows, rows, rows), 3):
            with self.assertRaisesRegex(kvcheck.Error, "^trace is a .*expected a Trace, a path"):
                kvcheck.replay(given, "h2o", 16)

    def test_results_are_added_to_a_file_as_the_program_adds_them(self):
        def dump(path):
            with contextlib.closing(sqlite3.connect(path)) as database:
                return [line for line in database.iterdump() if not line.startswith('INSERT INTO "runs"')]

        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = os.path.join(folder, "ours.db"), os.path.join(folder, "theirs.db")
            kvcheck.replay(SYNTHETIC[0], ["h2o", "random"], [16, 40], seeds=2, oracle=True, output=ours)
            printed(SYNTHETIC[0], "--policy", "h2o", "--policy", "random", "--budget", "16,40", "--seeds",
                    "2", "--oracle", "-o", theirs)
            self.assertEqual(dump(ours), dump(theirs))
            self.assertRegex(kvcheck.run("report", "--list", ours).out,
                             r"kvcheck\.replay\('synthetic:zipf:tokens=300,.*', \['h2o', 'random'\], budgets="
                             r"\[16, 40\], seeds=\[1, 2\], oracle=True\)")

            rows = kvcheck.generate("zipf", tokens=60, heads=2).attention()
            kvcheck.replay(rows, twins.Fifo, 16, output=ours)
            self.assertIn("kvcheck.replay('attention', ['py-fifo'], budgets=[16])",
                          kvcheck.run("report", "--list", ours).out)
            page = os.path.join(folder, "ours.html")
            self.assertEqual(kvcheck.run("explore", ours, "-o", page).status, 0)
            self.assertTrue(os.path.exists(page))

    def test_arrays_in_a_file_are_texts_of_their_own(self):
        traces = [kvcheck.attention(kvcheck.generate("zipf", tokens=60, heads=2, seed=seed).attention(),
                                    words=["a "] * 60) for seed in (1, 2, 3)]
        with tempfile.TemporaryDirectory() as folder:
            path, saved = os.path.join(folder, "run.db"), os.path.join(folder, "t.safetensors")
            for trace in traces:
                kvcheck.replay(trace, ["h2o", "streaming"], 16, output=path)
            self.assertIn("retained mass once evicting, 3 texts", kvcheck.run("compare", path).out)
            traces[2].save(saved)
            page = os.path.join(folder, "page.html")
            self.assertEqual(kvcheck.run("explore", path, "--trace", saved, "-o", page).err, "")
            traces[0].save(saved)
            self.assertIn("which run", kvcheck.run("explore", path, "--trace", saved, "-o", page).err)

    def test_what_fails_adds_nothing_to_a_file(self):
        class Late(kvcheck.Policy):
            raised = ValueError

            def evict(self, candidates, draws):
                raise self.raised("late")

        rows = kvcheck.generate("zipf", tokens=60, heads=2).attention()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.db")
            for Late.raised, expected in ((ValueError, kvcheck.Error), (KeyboardInterrupt,) * 2):
                with self.assertRaises(expected):
                    kvcheck.replay(rows, Late, 16, output=path)
                self.assertEqual(os.listdir(folder), [])
            kvcheck.replay(rows, "h2o", 16, output=path)
            listed = kvcheck.run("report", "--list", path).out
            Late.raised = ValueError
            with self.assertRaises(kvcheck.Error):
                kvcheck.replay(rows, Late, 16, output=path)
            self.assertEqual(kvcheck.run("report", "--list", path).out, listed)
            text = os.path.join(folder, "text.db")
            with open(text, "w") as file:
                file.write("no results")
            for wrong, sentence in ((text, "is not a kvcheck results file"), (folder, "is a directory"), (7, "^output is 7"),
                                    ("", "output is ''")):
                with self.assertRaisesRegex(kvcheck.Error, sentence):
                    kvcheck.replay(rows, "h2o", 16, output=wrong)
            with open(text) as file:
                self.assertEqual(file.read(), "no results")

    def test_wrong_numbers_are_named(self):
        for budgets, seeds, sentence in (
                ("32", 1, "^budgets has '32'; expected whole numbers from 1"),
                (None, 1, "^budgets has None"),
                (16.5, 1, "^budgets has 16.5"),
                (16, -1, "^seeds is -1; expected how many"),
                (16, 0, "^seeds is 0; expected how many"),
                (16, [1, 2, 1], "^seeds names 1 twice; expected each once"),
                ([16, 32, 16], 1, "^budgets names 16 twice; expected each once"),
                (16, True, "^seeds has True"),
                (16, [], "^seeds is empty")):
            with self.assertRaisesRegex(kvcheck.Error, sentence):
                kvcheck.replay(SYNTHETIC[0], "random", budgets, seeds=seeds)
        self.assertEqual(len(kvcheck.replay(SYNTHETIC[0], "random", 16, seeds=numpy.int64(2))), 2)

    def test_data_frames(self):
        result = kvcheck.replay(SYNTHETIC[0], ["h2o", "fifo"], [16, 40])
        with self.assertRaisesRegex(kvcheck.Error, "there is no table 'rows'"):
            result.to_pandas("rows")
        if importlib.util.find_spec("pandas") is None:
            with self.assertRaisesRegex(kvcheck.Error, "pandas is not installed"):
                result.to_pandas()
            return
        frame = result.to_pandas()
        self.assertEqual(frame["retained_mass"][0], result.cells["retained_mass"][0])
        series = result.to_pandas("series")
        last = series[(series["label"] == "fifo") & (series["budget"] == 40)]
        self.assertEqual(last["stored"].tolist(), result.series(3)["stored"].tolist())
        residency = result.to_pandas("residency")
        self.assertEqual(len(residency), sum(len(unit.evicted_at) for cell in range(4)
                                             for unit in result.residency(cell)))
        self.assertEqual(residency["evicted_at"].tolist()[:300],
                         result.residency(0)[0].evicted_at.tolist())

    def test_tables_are_joined_for_data_frames(self):
        # What to_pandas joins, where pandas is not there to do it.
        result = kvcheck.replay(SYNTHETIC[0], "h2o", 16)
        for parts in (result._series_of(0), result._residency_of(0)):
            self.assertEqual(parts[0].dtype.names[:4], ("cell", "label", "budget", "seed"))
            self.assertEqual((parts[0]["label"][0], parts[0]["budget"][0]), ("h2o", 16))


def seed_of(name, seed):
    """What a policy of this name gets for a seed: FNV-1a of the name, exclusive or the seed
    (base/random/rng.h)."""
    key = 0xCBF29CE484222325
    for byte in name.encode():
        key = (key ^ byte) * 0x100000001B3 % 2**64
    return key ^ seed


class Twins(unittest.TestCase):
    def compare(self, twin, spec, **options):
        # Draws differ by the name of the policy, so the twin gets the seeds that give the same.
        seeds = [1, 2]
        own = [seed_of(spec, seed) ^ seed_of(twin.name, 0) for seed in seeds]
        served = 0
        for trace in BUNDLED + SYNTHETIC:
            opened = kvcheck.open_trace(trace) if trace in BUNDLED else \
                kvcheck.generate(trace[len("synthetic:"):])
            if opened.kind == "attention" and "keys" in twin.needs:
                continue
            mine = kvcheck.replay(opened, twin, [17, 64], seeds=own, **options)
            its = kvcheck.replay(opened, spec, [17, 64], seeds=seeds, **options)
            for name in its.cells.dtype.names:
                if name not in ("spec", "policy", "seed"):
                    numpy.testing.assert_array_equal(mine.cells[name], its.cells[name], name)
            for cell in range(len(its)):
                for one, other in zip(mine.residency(cell), its.residency(cell)):
                    numpy.testing.assert_array_equal(one.evicted_at, other.evicted_at)
            self.assertGreater(its.cells["evictions"].min(), 0)
            served += 1
        self.assertGreaterEqual(served, 2)

    def test_fifo(self):
        self.compare(twins.Fifo, "fifo")
        self.compare(twins.Fifo, "fifo", chunk=7)

    def test_tova(self):
        self.compare(twins.Tova, "tova")
        self.compare(twins.Tova, "tova", chunk=7)

    def test_random(self):
        self.compare(twins.Random, "random")

    def test_key_norm(self):
        self.compare(twins.KeyNorm, "key-norm")

    def test_24_heads_of_512_tokens_take_seconds(self):
        trace = kvcheck.open_trace(SOURCE + "/traces/data/tinystories-2m.qkv.safetensors")
        self.assertEqual((trace.tokens, len(trace.layers) * trace.query_heads), (512, 24))
        began = time.monotonic()
        kvcheck.replay(trace, twins.Tova, 64)
        self.assertLess(time.monotonic() - began, 5)


if __name__ == "__main__":
    unittest.main()
