"""Checks of caches in this folder, by the program that has the compiled module."""

import json
import os
import subprocess
import sys
import unittest

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
        laws = self.laws(subject, *words, "--time", "4s")
        broken = {law["law"]: law.get("seen") for law in laws if law["status"] == "broken"}
        self.assertEqual(broken, {})
        done = [law["law"] for law in laws
                if law["status"] in ("held", "not_run") and law["cases"] > 0]
        self.assertGreaterEqual(len(done), tried, done)

    def breaks(self, law, subject, *words):
        """The law is broken; so may be "survives", which is always tried."""
        laws = self.laws(subject, *words, "--filter", law, "--time", "2s")
        broken = {one["law"] for one in laws if one["status"] == "broken"}
        self.assertEqual(broken - {"survives"}, {law} - {"survives"})
        self.assertIn(law, broken)
