"""Tests of ran.py: a file of tests that is left out, or skipped, is named."""

import contextlib
import io
import json
import os
import tempfile
import unittest

import ran

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Ran(unittest.TestCase):
    def outcome(self, results):
        """What ran.py says of a run in which tests of these files had these results."""
        suites = [{"testsuite": [{"file": "../../" + file, "result": result}]}
                  for file, result in results.items()]
        with tempfile.TemporaryDirectory() as folder:
            reports = []
            for half in (0, 1):
                reports.append(os.path.join(folder, "%d.json" % half))
                with open(reports[-1], "w") as file:
                    json.dump({"testsuites": suites[half::2]}, file)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                status = ran.main(TREE, *reports)
        return status, printed.getvalue()

    def test_the_files_are_those_of_policies_and_kernels(self):
        files = ran.expected(TREE)
        policies = {"tests/policies/" + name for name in os.listdir(TREE + "/tests/policies")
                    if name.endswith("_test.cpp")}
        self.assertGreater(len(policies), 20)
        self.assertLessEqual(policies, files)
        for name in ("base/kernels", "base/kernel_tables", "model/attend_kernels", "model/quantised",
                     "sim/unit_cache", "traces/checksum"):
            self.assertIn("tests/%s_test.cpp" % name, files)
        self.assertFalse(files & ran.OTHERS)
        for file in ran.OTHERS:
            self.assertTrue(os.path.exists(os.path.join(TREE, file)), file)

    def test_all_files_are_enough(self):
        files = ran.expected(TREE)
        self.assertEqual(self.outcome(dict.fromkeys(files, "COMPLETED")),
                         (0, "tests of all %d files ran\n" % len(files)))

    def test_a_file_that_is_left_out_is_named(self):
        results = dict.fromkeys(ran.expected(TREE), "COMPLETED")
        del results["tests/policies/h2o_test.cpp"]
        results["tests/model/kernels_test.cpp"] = "SKIPPED"
        status, said = self.outcome(results)
        self.assertEqual(status, 1)
        self.assertEqual(said, "no test of tests/model/kernels_test.cpp ran; expected at least one\n"
                               "no test of tests/policies/h2o_test.cpp ran; expected at least one\n")


if __name__ == "__main__":
    unittest.main()
