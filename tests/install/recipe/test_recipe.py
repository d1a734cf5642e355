"""The parts of the recipe's runner that need no root: reading a workflow, its expressions and conditions,
and the verdict."""

import subprocess
import unittest

import bare_root
import run_platforms
import run_recipe
import workflow

WORKFLOW = """
jobs:
  laws:
    runs-on: somewhere
    container: debian:12
    env: {WHERE: "${{ vars.WHERE || 'main' }}"}
    steps:
      - name: First
        id: first
        run: echo one
      - uses: actions/cache@v4
        with: {path: /here, key: "a-${{ steps.first.outputs.commit }}"}
      - if: steps.first.outputs.hit != 'true'
        run: echo two
      - if: always()
        uses: actions/upload-artifact@v4
"""


def context(failed=False, **names):
    return {"vars": {}, "steps": {}, "failed": failed, **names}


class Workflows(unittest.TestCase):
    def refused(self, words, call, *arguments):
        with self.assertRaises(workflow.Refused) as raised:
            call(*arguments)
        self.assertIn(words, str(raised.exception))

    def test_steps_are_read_with_their_names(self):
        job = workflow.read_job(WORKFLOW, "laws")
        self.assertEqual(job.container, "debian:12")
        self.assertEqual([step.name for step in job.steps], ["First", "step 2", "step 3", "step 4"])
        self.assertEqual(job.steps[0].script, "echo one")
        self.assertEqual(job.steps[1].action, "actions/cache")
        self.assertEqual(job.steps[2].condition, "steps.first.outputs.hit != 'true'")

    def test_what_is_not_known_is_refused(self):
        self.refused("there is no job 'other', only laws", workflow.read_job, WORKFLOW, "other")
        for old, new, words in (
                ("runs-on: somewhere", "needs: other", "the job 'laws' has 'needs'"),
                ("run: echo two", "shell: sh", "step 3 has 'shell'"),
                ("runs-on: somewhere", "strategy: {matrix: {os: [a, b]}}", "the matrix has 'os'"),
                ("        run: echo one\n", "", "step 1: expected either 'run' or 'uses'"),
                ("run: echo one", "{run: a, uses: b}", None)):
            changed = WORKFLOW.replace(old, new)
            self.assertNotEqual(changed, WORKFLOW)
            if words:
                self.refused(words, workflow.read_job, changed, "laws")

    def value(self, text, **names):
        return workflow.Expression(text, context(**names)).value()

    def test_expressions_give_one_of_their_operands(self):
        self.assertEqual(self.value("vars.A || 'b'"), "b")
        self.assertEqual(self.value("vars.A || 'b'", vars={"A": "a"}), "a")
        self.assertEqual(self.value("vars.A && 'b'", vars={"A": "a"}), "b")
        self.assertEqual(self.value("vars.A && 'b' || 'it''s c'"), "it's c")
        self.assertEqual(self.value("steps.s.outputs.x", steps={"s": {"outputs": {"x": "1"}}}), "1")
        self.assertIs(self.value("'a' == 'b' || !('a' != 'b')"), False)
        self.assertIs(self.value("failure()", failed=True), True)

    def test_wrong_expressions_are_refused(self):
        for text, words in (("vars.A ||", "a value is missing"), ("'a' 'b'", "'b'' is left over"),
                            ("('a'", "')' is missing"), ("a + b", "cannot read ' + b'"),
                            ("hashFiles()", "the function 'hashFiles' is not known")):
            self.refused(words.replace("'b''", "''b''"), self.value, text)

    def test_text_is_substituted(self):
        names = context(vars={"A": "1"})
        self.assertEqual(workflow.substituted("x-${{ vars.A }}-${{vars.B || 2}}".replace("2", "'2'"),
                                              names), "x-1-2")

    def test_a_step_runs_if_nothing_failed_or_it_asks_to(self):
        steps = workflow.read_job(WORKFLOW, "laws").steps
        hit = {"first": {"outputs": {"hit": "true"}}}
        self.assertEqual([workflow.runs(step, context()) for step in steps], [True] * 4)
        self.assertEqual([workflow.runs(step, context(steps=hit)) for step in steps],
                         [True, True, False, True])
        self.assertEqual([workflow.runs(step, context(failed=True)) for step in steps],
                         [False, False, False, True])

    def test_outputs_are_lines_of_name_and_value(self):
        self.assertEqual(workflow.outputs("a=1\nb=x=y\n"), {"a": "1", "b": "x=y"})
        self.refused("not 'a'", workflow.outputs, "a\n")


class Recipes(unittest.TestCase):
    def setUp(self):
        self.job = run_recipe.job_of(run_recipe.RECIPE, "laws")

    def test_all_of_the_recipe_is_known(self):
        self.assertIn(self.job.container, bare_root.SUITES)
        for step in self.job.steps:
            if step.action:
                self.assertIn(step.action, run_recipe.Run.actions)
            workflow.runs(step, context())
            for text in (step.script, *step.inputs.values(), *step.environment.values()):
                workflow.substituted(text, context())

    def test_the_version_is_a_commit_of_the_past(self):
        named = workflow.substituted(self.job.environment["KVCHECK_VERSION"], context())
        self.assertRegex(named, "^[0-9a-f]{40}$")
        git = ["git", "-C", run_recipe.TREE]
        shallow = subprocess.run([*git, "rev-parse", "--is-shallow-repository"],
                                 capture_output=True, text=True)
        if shallow.stdout.strip() != "false":
            self.skipTest("this tree has no history that could be looked at")
        self.assertEqual(
            subprocess.run([*git, "merge-base", "--is-ancestor", named, "HEAD"]).returncode, 0)

    def test_only_a_cold_run_builds(self):
        built = {"built": {"outputs": {"cache-hit": "true"}}}
        cold = [step for step in self.job.steps if workflow.runs(step, context())]
        warm = [step for step in self.job.steps if workflow.runs(step, context(steps=built))]
        builds = [step for step in cold if step not in warm]
        self.assertEqual([("cmake --build" in step.script) for step in builds], [True])
        self.assertFalse(any("g++" in step.script for step in warm))

    def test_a_verdict_is_that_laws_were_tried_and_hold(self):
        def junit(tests, failures, skipped, errors=0):
            return (b'<testsuites><testsuite tests="%d" failures="%d" errors="%d" skipped="%d"/>'
                    b'</testsuites>' % (tests, failures, errors, skipped))
        self.assertEqual(run_recipe.verdict(junit(9, 0, 4)),
                         ("5 laws hold, 0 are broken, 4 were not tried", True))
        self.assertFalse(run_recipe.verdict(junit(9, 1, 4))[1])
        self.assertFalse(run_recipe.verdict(junit(9, 0, 9))[1])
        self.assertFalse(run_recipe.verdict(junit(9, 0, 4, errors=1))[1])
        self.assertFalse(run_recipe.verdict(None)[1])


class Platforms(unittest.TestCase):
    def setUp(self):
        self.job = run_recipe.job_of(run_platforms.WORKFLOW, "tests")

    def test_all_of_the_workflow_is_known(self):
        for platform in self.job.matrix:
            names = context(matrix=platform)
            for step in self.job.steps:
                if step.action:
                    self.assertIn(step.action, run_platforms.Run.actions)
                self.assertTrue(workflow.runs(step, names))
                self.assertNotIn("${{", workflow.substituted(step.script, names))
            self.assertTrue(workflow.substituted(self.job.container, names))

    def test_jobs_of_debian_on_this_processor_run_here(self):
        platforms = [platform for platform in self.job.matrix if run_platforms.runs_here(platform)]
        self.assertEqual({platform["image"] for platform in platforms}, set(bare_root.SUITES))
        left_out = [platform for platform in self.job.matrix if platform not in platforms]
        self.assertTrue(all(platform["image"].startswith("ubuntu") or
                            platform["runner"].endswith("arm") for platform in left_out))

    def test_a_name_is_of_one_platform(self):
        names = [run_platforms.name_of(platform) for platform in self.job.matrix
                 if run_platforms.runs_here(platform)]
        self.assertEqual(len(set(names)), len(names))
        self.assertIn("bookworm-g++-12", names)


if __name__ == "__main__":
    unittest.main()
