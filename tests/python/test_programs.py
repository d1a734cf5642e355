"""The program's commands as functions: what they return, and what they refuse."""

import inspect
import json
import os
import re
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

    def test_a_program_is_checked(self):
        laws = kvcheck.check(exec="%s %s/examples/python/sink_window.py" % (sys.executable, SOURCE),
                             filter=["size.*"])
        self.assertTrue(laws["holds"])
        with self.assertRaisesRegex(kvcheck.Error, "^subject has None; expected a spec such as"):
            kvcheck.check()

    def test_signatures_and_documentation_list_options(self):
        left_out = {"explain", "help", "json", "list", "quiet"}
        for command in ("check", "judge", "uniformity", "eval"):
            function = getattr(kvcheck, command)
            lines = kvcheck.run(command, "--help").out.splitlines()
            options = {line.split("--")[1].split()[0] for line in lines if line.lstrip().startswith("--")
                       or line.lstrip()[:1] == "-" and line.lstrip()[2:5] == ", -"}
            expected = {"budgets" if (command, option) == ("eval", "budget") else option.replace("-", "_")
                        for option in options - left_out if (command, option) != ("eval", "policy")}
            parameters = inspect.signature(function).parameters.values()
            keywords = {one.name for one in parameters if one.kind == one.KEYWORD_ONLY}
            self.assertEqual(keywords, expected)
            self.assertGreater(len(keywords), 5)
            for keyword in keywords:
                self.assertRegex(function.__doc__, r"(?m)^  %s=\S" % keyword)
            self.assertFalse([line for line in function.__doc__.splitlines() if len(line) > 100])

    def test_wrong_options_are_the_programs_sentence(self):
        with self.assertRaisesRegex(kvcheck.Error, "^unknown option 'quiett'; did you mean 'quiet'\\? See "
                                                   "kvcheck check --help"):
            kvcheck.check("h2o", quiett=True)

    def test_sentences_name_options_as_arguments(self):
        with self.assertRaisesRegex(kvcheck.Error, "^strict and no_strict exclude each other"):
            kvcheck.check("h2o:budget=64", strict=True, no_strict=True)
        with self.assertRaisesRegex(kvcheck.Error, "(?<!-)policies 'h2o"):
            kvcheck.replay(TRACE, ["h2o", "h2o"], [12])

        with self.assertRaisesRegex(kvcheck.Error, "results file; expected output=FILE, too"):
            kvcheck.eval("dense", model=MODEL, text=MODEL + "/held-out.txt", resume=True)
        with self.assertRaisesRegex(kvcheck.Error, "for a time limit use time='30s'; see"):
            kvcheck.check("h2o", budget=64)

    def test_documentation_names_options_as_arguments(self):
        for function in (kvcheck.check, kvcheck.judge, kvcheck.uniformity, kvcheck.eval):
            without_commands = re.sub("`[^`]*`", "", function.__doc__)
            self.assertNotRegex(without_commands, r"(?<![-\w])--?[a-z]")
            self.assertNotIn("standard output", function.__doc__)

    def test_standard_streams_are_no_files(self):
        subject = "fifo:budget=9"
        calls = [lambda name=name: kvcheck.check(subject, filter="size.stored", **{name: "-"})
                 for name in ("record", "junit")]
        read = {"model": MODEL, "text": MODEL + "/held-out.txt", "tokens": 8}
        calls += [lambda name=name: kvcheck.eval("dense", **read, **{name: "-"})
                  for name in ("output", "csv", "markdown")]
        calls += [lambda: kvcheck.judge("-"), lambda: kvcheck.judge(Laws.run_of(2), junit="-"),
                  lambda: kvcheck.uniformity(subject, plot="-"),
                  lambda: kvcheck.replay(TRACE, "fifo", 9, output="-")]
        for call in calls:
            with self.assertRaisesRegex(kvcheck.Error, "^[a-z]+ is '-', which names a standard stream"):
                call()

    def test_options_are_what_their_values_are_called(self):
        for options, sentence in (
                ({"full": 1}, "^full is 1; expected True or False$"),
                ({"full": "yes"}, "^full is 'yes'; expected True or False$"),
                ({"seed": True}, "^seed is True; expected a number$"),
                ({"seed": [1, 2]}, r"^seed is \[1, 2\]; expected a number$"),
                ({"time": ["1s", "2s"]}, r"^time is \['1s', '2s'\]; expected one value, not several$"),
                ({"junit": True}, "^junit is True; expected a path$"),
                ({"json": "laws.json"}, "^json is no argument of check, which returns what"),
                ({"exec": "true"}, "^subject and exec are two subjects; expected one of them$"),
                ({"plugin": "./x.so"}, "^subject and plugin are two subjects; expected one of them$")):
            with self.assertRaisesRegex(kvcheck.Error, sentence):
                kvcheck.check("fifo:budget=9", **options)
        for options, sentence in (
                ({"exec": ["sh", "x"]}, r"^exec is \['sh', 'x'\]; expected a text, which is a command line"),
                ({"exec": 3}, "^exec is 3; expected a text"),
                ({"plugin": ["a", "b"]}, r"^plugin is \['a', 'b'\]; expected a path$")):
            for function in (kvcheck.check, kvcheck.uniformity):
                with self.assertRaisesRegex(kvcheck.Error, sentence):
                    function(**options)

    def test_sentences_keep_command_lines(self):
        with self.assertRaisesRegex(kvcheck.Error, "kvcheck check --list names all"):
            kvcheck.check("h2o:budget=64", filter=["entirely-unknown"])

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

    def test_what_is_wrong_with_a_loaded_file_is_a_sentence(self):
        policy = "import kvcheck\nclass Base(kvcheck.Policy):\n    sinks = 1\n"
        for text, sentence in (
                ("x = 1\n", "defines no subclass of kvcheck.Policy with evict()"),
                (policy, "defines no subclass of kvcheck.Policy with evict()"),
                ("\nimport nowhere\n", "throws an exception: ModuleNotFoundError: No module named "
                                       "'nowhere' (line 2)"),
                ("x = 1\nclass\n", "throws an exception: SyntaxError: invalid syntax (line 2)"),
                (None, "cannot open 'nowhere.py': No such file or directory"),
                ("import kvcheck\nkvcheck.register(type('Mine', (kvcheck.Policy,), "
                 "{'evict': lambda self, seen, draws: [0]}))\n", None),
                (policy + "class Mine(Base):\n    def evict(self, seen, draws): return [0]\n", None)):
            with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
                file.write(text or "")
                file.flush()
                done = subprocess.run(
                    [sys.executable, "-m", "kvcheck", "--load", file.name if text else "nowhere.py",
                     "policies", "mine"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 2 if sentence else 0, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1 if sentence else 0, done.stderr)
            self.assertIn(sentence or "", done.stderr)

    def test_a_star_import_leaves_eval_alone(self):
        names = {}
        exec("from kvcheck import *", names)
        self.assertNotIn("eval", names)
        self.assertIs(names["replay"], kvcheck.replay)
        self.assertIn("eval", dir(kvcheck))


class Modules(unittest.TestCase):
    def test_they_are_imported_when_they_are_used(self):
        words = [sys.executable, "-c", "import kvcheck\nfor name in ('tensors', 'record', 'adapters'):\n"
                 "    assert name in dir(kvcheck)\n    print(getattr(kvcheck, name).__name__)"]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.stdout.split(), ["kvcheck.tensors", "kvcheck.record", "kvcheck.adapters"])
        with self.assertRaisesRegex(AttributeError, "no attribute 'tensor'"):
            kvcheck.tensor


class Laws(unittest.TestCase):
    def test_the_laws_are_a_table(self):
        laws = kvcheck.check("reservoir-as-printed", filter=["size.*", "chance.exact"])
        self.assertFalse(laws["holds"])
        self.assertEqual([law["law"] for law in laws.broken], ["chance.exact"])
        table = laws.table()
        self.assertEqual(table["law"].tolist(), [law["law"] for law in laws["laws"]])
        self.assertIn("broken", table["status"])
        self.assertEqual(repr(laws), "<kvcheck.Laws of reservoir-as-printed: broken: chance.exact>")

    @staticmethod
    def run_of(budget):
        """A window of 2 over 4 tokens, of which one is left at most if it is what is declared."""
        lines = [{"kvcheck_history": 1, "name": "mine", "setup": {},
                  "contract": {"sinks": 0, "recent": budget, "budget": budget}}]
        for token in range(4):
            lines.append({"do": "feed", "tokens": 1, "units": [
                {"evicted": [numpy.int64(token - 2)] if token >= 2 else []}]})
        return lines

    def test_a_recorded_run_is_judged(self):
        self.assertNotIn("size.stored", [law["law"] for law in kvcheck.judge(self.run_of(2)).broken])
        broken, = kvcheck.judge(self.run_of(1), filter="size.stored").broken
        self.assertEqual((broken["law"], broken["recorded_at"]), ("size.stored", "history, line 3"))
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.writelines(json.dumps(line, default=int) + "\n" for line in self.run_of(1))
            file.flush()
            self.assertEqual(kvcheck.judge(file.name).table()["status"].tolist(),
                             kvcheck.judge(self.run_of(1)).table()["status"].tolist())

    def test_wrong_lines_of_a_run_are_named(self):
        for lines, sentence in (
                ([{"do": "feed"}], "^history, line 1: expected the head of a run"),
                ([*self.run_of(2), {"do": object()}], "^history, line 6: <object .*is no text")):
            with self.assertRaisesRegex(kvcheck.Error, sentence):
                kvcheck.judge(lines)


class Evaluations(unittest.TestCase):
    def test_lists_of_numbers_are_one_option(self):
        options = {"model": MODEL, "text": MODEL + "/held-out.txt", "tokens": 64}
        expected = kvcheck.eval("window", budget="16,32", **options)
        for budgets in ([16, 32], (16, 32), numpy.array([16, 32]), range(16, 33, 16)):
            self.assertEqual(kvcheck.eval("window", budget=budgets, **options), expected)
            self.assertEqual(kvcheck.eval("window", budgets=budgets, **options), expected)
        for wrong, sentence in (({"budget": []}, "^budget is empty"),
                                ({"budget": 16, "budgets": 32}, "^budget and budgets are the same")):
            with self.assertRaisesRegex(kvcheck.Error, sentence):
                kvcheck.eval("window", **wrong, **options)

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
