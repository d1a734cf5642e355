"""Runs kvcheck's own tests on the platforms of a workflow, in bare roots of Debian.

    run_platforms.py [NAME...] [--roots DIR] [--source DIR] [--revision REV]

The workflow is .github/workflows/platforms.yml. Its jobs of Debian on x86 run, each in a fresh root that
debootstrap made; the others are named and left out. The steps run as they are, each in a shell of its own
as root; `checkout` clones the repository of --source at REV. NAME is a job such as bookworm-g++-12 or
trixie-clang++-19 [all]. It prints the seconds of each step, by the clock and of all processors, and exits
with 1 if a step of any job fails.
"""

import argparse
import os
import subprocess
import sys

import bare_root
import run_recipe

WORKFLOW = ".github/workflows/platforms.yml"


def runs_here(platform):
    return platform["image"] in bare_root.SUITES and not platform["runner"].endswith("arm")


def name_of(platform):
    return "%s-%s" % (bare_root.SUITES[platform["image"]], platform["compiler"])


class Run(run_recipe.Run):
    def checkout(self, _):
        subprocess.run(["git", "clone", "--quiet", self.context["source"], self.inside("")], check=True)
        subprocess.run(["git", "-C", self.inside(""), "checkout", "--quiet", "--detach",
                        self.context["revision"]], check=True)

    actions = {"actions/checkout": checkout}


def run_one(job, platform, options):
    """Whether all steps of the job of that platform succeed."""
    suite, name = bare_root.SUITES[platform["image"]], name_of(platform)
    bare, root = options.roots + "/" + suite, options.roots + "/run-" + name
    log_name = "%s/%s.log" % (options.roots, name)
    print("%s; the log is %s" % (name, log_name), flush=True)
    bare_root.make(suite, bare)
    bare_root.copy(bare, root)
    with open(log_name, "w") as log:
        run = Run(job, root, options.roots + "/kept", log, matrix=platform, source=options.source,
                  revision=options.revision)
        run.all_steps()
    failed = run.context["failed"]
    if not failed:
        bare_root.remove(root)
    return not failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--roots", default=run_recipe.TREE + "/build/roots")
    parser.add_argument("--source", default=run_recipe.TREE)
    parser.add_argument("--revision", default="HEAD")
    options = parser.parse_args()
    options.roots = os.path.abspath(options.roots)
    os.makedirs(options.roots, exist_ok=True)
    options.revision = run_recipe.revision_of(options.source, options.revision)
    job = run_recipe.job_of(WORKFLOW, "tests")
    here = {name_of(platform): platform for platform in job.matrix if runs_here(platform)}
    for name in options.names:
        if name not in here:
            parser.error("there is no job '%s'; expected one of %s" % (name, ", ".join(here)))
    for platform in job.matrix:
        if not runs_here(platform):
            print("not run here: %(image)s with %(compiler)s on %(runner)s" % platform, flush=True)
    failed = [name for name in options.names or here if not run_one(job, here[name], options)]
    print("failed: %s" % ", ".join(failed) if failed else "all succeeded")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
