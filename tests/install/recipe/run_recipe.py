"""Runs the recipe for continuous integration, step by step, in bare roots of Debian.

    run_recipe.py [--roots DIR] [--source DIR] [--revision REV] [--cold]

The recipe is examples/ci/github-actions.yml. Its `run:` lines run as they are, each step in a shell of its
own as root. The actions that it uses are stood in for: `checkout` copies the user's cache, which is that of
examples/python under the name that the recipe expects; `cache` keeps a folder under DIR; and
`upload-artifact` demands the file and takes it out. kvcheck is cloned from DIR of --source at REV.

It runs twice, each time in a fresh root: cold, with no package of kvcheck, and warm, with the package that
the first run left. If a package is there already, only the warm run is made, unless --cold is given. It
prints the seconds of each step and of the whole, by the clock and of all processors. It exits with 1 if a
run does not end with the verdict that every law holds, or if the warm one takes two minutes or more.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

import bare_root
import workflow

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
RECIPE = "examples/ci/github-actions.yml"
WORKSPACE = "/workspace"
OUTPUT = "/github-output"
MOST_SECONDS_WARM = 120


class Run:
    """One run of a job in a root, with what its steps leave for each other."""

    def __init__(self, job, root, kept, log, **names):
        self.job, self.root, self.kept, self.log = job, root, kept, log
        self.context = {"steps": {}, "failed": False, **names}
        self.saved = []          # (folder in the root, its place under kept)
        self.artifact = None     # the bytes of the uploaded file

    def inside(self, path):
        return self.root + os.path.join(WORKSPACE, path)

    def checkout(self, _):
        shutil.copy(TREE + "/examples/python/sink_window.py", self.inside("my_cache.py"))

    def cache(self, inputs):
        kept = os.path.join(self.kept, inputs["key"])
        if os.path.isdir(kept):
            shutil.copytree(kept, self.inside(inputs["path"]))
            return {"cache-hit": "true"}
        self.saved.append((self.inside(inputs["path"]), kept))
        return {}

    def upload(self, inputs):
        with open(self.inside(inputs["path"]), "rb") as file:
            self.artifact = file.read()

    actions = {"actions/checkout": checkout, "actions/cache": cache,
               "actions/upload-artifact": upload}

    def act(self, step):
        inputs = {key: workflow.substituted(value, self.context)
                  for key, value in step.inputs.items()}
        return self.actions[step.action](self, inputs) or {}

    def script(self, step):
        environment = {"CI": "true", "GITHUB_OUTPUT": OUTPUT}
        for source in (self.job.environment, step.environment):
            environment.update({name: workflow.substituted(value, self.context)
                                for name, value in source.items()})
        with open(self.root + OUTPUT, "w"):
            pass
        words = ["bash", "-e", "-c", workflow.substituted(step.script, self.context)]
        status = bare_root.enter(self.root, words, environment, WORKSPACE, self.log)
        with open(self.root + OUTPUT) as file:
            return status, workflow.outputs(file.read())

    def step(self, step):
        """The exit status of a step."""
        status, outputs = (0, self.act(step)) if step.action else self.script(step)
        if step.identity:
            self.context["steps"][step.identity] = {"outputs": outputs}
        self.context["failed"] = self.context["failed"] or status != 0
        return status

    def all_steps(self):
        os.makedirs(self.root + WORKSPACE)
        for step in self.job.steps:
            begin, worked = time.monotonic(), cpu_seconds()
            if not workflow.runs(step, self.context):
                print("  %24s  %s" % ("skipped", step.name), flush=True)
                continue
            self.log.write("== %s\n" % step.name)
            self.log.flush()
            status = self.step(step)
            show(begin, worked, step.name + (": exit status %d" % status if status else ""))
        # The service keeps what its cache lacked if the job succeeded.
        if not self.context["failed"]:
            for folder, kept in self.saved:
                shutil.copytree(folder, kept)


def verdict(artifact):
    """What the uploaded JUnit file says, in words, and whether it is that laws were tried and hold."""
    if artifact is None:
        return "no results were uploaded", False
    suite = xml.etree.ElementTree.fromstring(artifact).find("testsuite")
    tests, failures, errors, skipped = (int(suite.get(name)) for name in (
        "tests", "failures", "errors", "skipped"))
    held, untried = tests - failures - errors - skipped, errors + skipped
    text = "%d laws hold, %d are broken, %d were not tried" % (held, failures, untried)
    return text, failures + errors == 0 and held > 0


def cpu_seconds():
    """What the commands that have ended took of the processors, which other work does not change."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def show(begin, worked, text):
    print("  %6.1f s, %6.1f s of CPU  %s" % (time.monotonic() - begin, cpu_seconds() - worked, text),
          flush=True)


def job_of(path, name):
    """The job of that name in a workflow of this tree."""
    with open(os.path.join(TREE, path)) as file:
        return workflow.read_job(file.read(), name)


def revision_of(source, revision):
    return subprocess.run(["git", "-C", source, "rev-parse", revision], check=True, capture_output=True,
                          text=True).stdout.strip()


def run_once(job, options, name, variables):
    root = options.roots + "/run"
    log_name = "%s/%s.log" % (options.roots, name)
    print("%s run; the log is %s" % (name, log_name), flush=True)
    bare_root.copy(options.roots + "/" + bare_root.SUITES[job.container], root)
    subprocess.run(["git", "clone", "--quiet", "--bare", options.source, root + "/kvcheck.git"],
                   check=True)
    with open(log_name, "w") as log:
        run = Run(job, root, options.roots + "/kept", log, vars=variables)
        begin, worked = time.monotonic(), cpu_seconds()
        run.all_steps()
        seconds = time.monotonic() - begin
    text, holds = verdict(run.artifact)
    show(begin, worked, "in all: " + text)
    bare_root.remove(root)
    return holds and not run.context["failed"], seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--roots", default=TREE + "/build/roots")
    parser.add_argument("--source", default=TREE)
    parser.add_argument("--revision", default="")
    parser.add_argument("--cold", action="store_true")
    options = parser.parse_args()
    options.roots = os.path.abspath(options.roots)
    job = job_of(RECIPE, "laws")
    os.makedirs(options.roots, exist_ok=True)
    suite = bare_root.SUITES[job.container]
    bare_root.make(suite, options.roots + "/" + suite)
    revision = revision_of(options.source, options.revision or "HEAD")
    variables = {"KVCHECK_REPOSITORY": "file:///kvcheck.git", "KVCHECK_VERSION": revision}
    kept = options.roots + "/kept"
    if options.cold:
        shutil.rmtree(kept, ignore_errors=True)
    succeeded = True
    if not os.path.isdir(kept) or not any(revision in name for name in os.listdir(kept)):
        succeeded, _ = run_once(job, options, "cold", variables)
    if succeeded:
        succeeded, seconds = run_once(job, options, "warm", variables)
        if seconds >= MOST_SECONDS_WARM:
            print("the warm run took %.0f s, expected less than %d s" % (seconds, MOST_SECONDS_WARM))
            succeeded = False
    return 0 if succeeded else 1


if __name__ == "__main__":
    sys.exit(main())
