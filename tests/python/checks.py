"""Checks of caches in this folder, by the program that has the compiled module."""

import json
import os
import subprocess
import sys
import unittest

# Where a check's usual time is too short for the cases that tell.
A_SLOW_MACHINE = "60s"

HERE = os.path.dirname(os.path.abspath(__file__))


def run(*words):
    return subprocess.run([sys.executable, "-m", "kvcheck", "check", *words], cwd=HERE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Checks(unittest.TestCase):
    def laws(self, subject, *words):
        """The laws tried on FRAMEWORK:..., or on "python FILE ..." of this folder, by status."""
        if subject.startswith("python "):
            subject = ("--exec", subject.replace("python", sys.executable, 1))
        else:
            subject = (subject,)
        done = run(*subject, *words, "--no-strict", "--quiet", "--json", "-")
        self.assertTrue(done.stdout, done.stderr)
        return json.loads(done.stdout)["laws"]

    def holds(self, subject, *words, tried):
        """No law is broken, and at least so many were tried."""
        for time in ("4s", A_SLOW_MACHINE):
            laws = self.laws(subject, *words, "--time", time)
            broken = {law["law"]: law.get("seen") for law in laws if law["status"] == "broken"}
            self.assertEqual(broken, {})
            done = [law["law"] for law in laws
                    if law["status"] in ("held", "not_run") and law["cases"] > 0]
            if len(done) >= tried:
                return
        self.fail("expected %d laws that were tried, found only %s" % (tried, done))

    def breaks(self, law, subject, *words):
        """The law is broken; so may be "survives", which is always tried."""
        for time in ("2s", A_SLOW_MACHINE):
            laws = self.laws(subject, *words, "--filter", law, "--time", time)
            broken = {one["law"] for one in laws if one["status"] == "broken"}
            self.assertLessEqual(broken, {law, "survives"})
            if law in broken:
                return
        self.fail("%s is not broken" % law)
