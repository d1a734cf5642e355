"""The program's commands as functions: what they return, and what they refuse."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy

import kvcheck
import twins

SOURCE, PROGRAM = os.environ["KVCHECK_SOURCE"], os.environ["KVCHECK_PROGRAM"]
MODEL = SOURCE + "/model/data"
TRACE = "synthetic:zipf:tokens=80,heads=2"


class Programs(unittest.TestCase):
    def test_commands_know_policies_of_python(self):
        kvcheck.register(twins.Fifo)
        printed = kvcheck.run("policies", "py-fifo")
        self.assertEqual(printed.status, 0)
        self.assertIn("A policy in Python.", printed.out)
        self.assertEqual(kvcheck.run("policies", "py-fofi").status, 2)

    def test_uniformity(self):
        kvcheck.register(twins.Fifo)
        report, = kvcheck.uniformity("reservoir:sinks=1,recent=1,budget=5", tokens=8, trials=200)
        self.assertTrue(report["uniform"])
        biased, = kvcheck.uniformity("py-fifo:sinks=0,recent=1,budget=5", tokens=8, trials=200)
        self.assertFalse(biased["uniform"])

    def test_wrong_options_are_the_programs_sentence(self):
        with self.assertRaisesRegex(kvcheck.Error, "^unknown option '--quiett'"):
            kvcheck.check("h2o", quiett=True)

    def test_the_module_is_the_program(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write("import kvcheck\nclass Mine(kvcheck.Policy):\n"
                       "    def evict(self, candidates, draws): return [0]\n")
            file.flush()
            words = [sys.executable, "-m", "kvcheck", "--load", file.name, "replay", TRACE,
                     "--policy", "mine", "--budget", "12"]
            done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
            self.assertIn(b"mine", done.stdout)
        done = subprocess.run([sys.executable, "-m", "kvcheck", "replya"], stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"did you mean 'replay'", done.stderr)

    def test_a_star_import_leaves_eval_alone(self):
        names = {}
        exec("from kvcheck import *", names)
        self.assertNotIn("eval", names)
        self.assertIs(names["replay"], kvcheck.replay)
        self.assertIn("eval", dir(kvcheck))


class Evaluations(unittest.TestCase):
    def test_a_text_is_read_under_each_policy(self):
        text = MODEL + "/held-out.txt"
        result = kvcheck.eval(["dense", twins.Fifo], model=MODEL, text=text, tokens=96, budget=32)
        lines = subprocess.run(
            [PROGRAM, "eval", "--policy", "dense", "--policy", "fifo", "--model", MODEL, "--text", text,
             "--tokens", "96", "--budget", "32", "--json", "-", "--quiet"],
            stdout=subprocess.PIPE, check=True).stdout.splitlines()
        expected = [json.loads(line)["perplexity"] for line in lines]
        self.assertEqual(result.table()["perplexity"].tolist(), expected)
        self.assertEqual(result.table()["policy"].tolist(), ["dense", "py-fifo"])
        self.assertNotEqual(expected[0], expected[1])
        self.assertTrue(numpy.isnan(result.table()["budget"][0]))
        self.assertEqual(result[0]["segments"][0]["targets"], 95)
        self.assertNotIn("segments", result.table().dtype.names)

    def test_items_are_answered(self):
        with tempfile.TemporaryDirectory() as folder:
            items = folder + "/items.jsonl"
            self.assertEqual(kvcheck.run("tasks", "story-fact", "--items", 2, "-o", items).status, 0)
            answers = kvcheck.eval("streaming", model=MODEL, tasks=items, budget=64).table()
        self.assertEqual(answers["item"].tolist(), ["story-fact-0", "story-fact-1"])
        self.assertEqual(answers["exact"].dtype, bool)

    def test_a_missing_file_is_the_programs_sentence(self):
        with self.assertRaisesRegex(kvcheck.Error, "^cannot open 'nowhere.txt'"):
            kvcheck.eval("dense", model=MODEL, text="nowhere.txt")


class Tables(unittest.TestCase):
    def test_uniformity_is_a_table_too(self):
        report = kvcheck.uniformity("reservoir:sinks=1,recent=1,budget=5", tokens=8, trials=200)
        self.assertEqual(report.table()["trials"].tolist(), [200])
        self.assertEqual(report.table()["uniform"].tolist(), [True])

    def test_no_records_are_an_empty_table(self):
        from kvcheck.tables import Records
        self.assertEqual(len(Records().table()), 0)

    def test_a_field_that_is_missing_in_some_records_is_nan_there(self):
        from kvcheck.tables import Records
        loss = Records([{"loss": 1}, {"policy": "fifo"}]).table()["loss"]
        self.assertEqual(loss[0], 1)
        self.assertTrue(numpy.isnan(loss[1]))


if __name__ == "__main__":
    unittest.main()
