"""Whether the tests for another kind of machine left out a file of tests that belongs to them.

    ran.py TREE REPORT.json...

The reports are those that GoogleTest writes (--gtest_output=json:FILE). Of each file below at least one test
must have run to its end and not be skipped. A sentence names each file of which this is not so, and the exit
status is then 1.
"""

import glob
import json
import os
import re
import sys

LAYERS = ("base", "traces", "policies", "sim")

# Tests of the model's kernels that need more of the model than these.
OTHERS = {"tests/model/onnx_test.cpp", "tests/model/onnx_rotary_test.cpp"}


def expected(tree):
    """The files of tests of the lower layers and of the model's kernels, as paths from the root."""
    files = {file for layer in LAYERS for file in glob.glob(tree + "/tests/%s/*_test.cpp" % layer)}
    for file in glob.glob(tree + "/tests/model/*_test.cpp"):
        with open(file) as source:
            if '#include "kvcheck/model/kernels/' in source.read():
                files.add(file)
    return {os.path.relpath(file, tree) for file in files} - OTHERS


def ran(report):
    """The files of which a test ran to its end, as paths from the root. A build may name them otherwise."""
    with open(report) as file:
        suites = json.load(file)["testsuites"]
    tests = [test for suite in suites for test in suite["testsuite"]]
    return {re.sub(r"^.*?(tests/[^/]+/[^/]+)$", r"\1", test["file"])
            for test in tests if test["result"] == "COMPLETED"}


def main(tree, *reports):
    files = expected(tree)
    left_out = sorted(files - set().union(*map(ran, reports)))
    for file in left_out:
        print("no test of %s ran; expected at least one" % file)
    if not left_out:
        print("tests of all %d files ran" % len(files))
    return 1 if left_out else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
