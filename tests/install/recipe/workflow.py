"""A workflow of GitHub Actions as far as those of this tree go: steps, a matrix that lists its jobs, and the
expressions between ${{ and }}. Whatever else a workflow says is refused, because a step that is left out
silently would make every run of it a success."""

import dataclasses
import re

import yaml

EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
TOKEN = re.compile(r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<sign>\|\||&&|==|!=|!|\(\)|\(|\))"
                   r"|(?P<name>[A-Za-z_][\w.-]*))")

STEP_KEYS = {"name", "id", "if", "run", "uses", "with", "env"}
JOB_KEYS = {"runs-on", "container", "env", "steps", "strategy"}


class Refused(Exception):
    """The workflow uses what is not known here. The message says what."""


@dataclasses.dataclass(frozen=True)
class Step:
    name: str
    identity: str = ""      # `id`: the name under which expressions find its outputs
    condition: str = ""     # `if`, an expression; empty: if no earlier step failed
    script: str = ""        # `run`
    action: str = ""        # `uses` without the version
    inputs: dict = dataclasses.field(default_factory=dict)       # `with`
    environment: dict = dataclasses.field(default_factory=dict)  # `env`


@dataclasses.dataclass(frozen=True)
class Job:
    container: str
    environment: dict
    steps: list
    matrix: list            # the values of ${{ matrix.NAME }} for each job that is made of it


def only(found, known, where):
    for key in found:
        if key not in known:
            raise Refused("%s has '%s', expected one of %s" % (where, key, ", ".join(sorted(known))))


def read_step(step, number):
    where = "step %d" % number
    only(step, STEP_KEYS, where)
    if ("run" in step) == ("uses" in step):
        raise Refused("%s: expected either 'run' or 'uses'" % where)
    return Step(name=step.get("name", where), identity=step.get("id", ""),
                condition=str(step.get("if", "")), script=step.get("run", ""),
                action=step.get("uses", "").partition("@")[0], inputs=step.get("with", {}),
                environment=step.get("env", {}))


def read_matrix(strategy):
    only(strategy, {"fail-fast", "matrix"}, "the strategy")
    only(strategy["matrix"], {"include"}, "the matrix")
    return strategy["matrix"]["include"]


def read_job(text, name):
    """The job of that name in the text of a workflow."""
    document = yaml.safe_load(text)
    jobs = document.get("jobs", {})
    if name not in jobs:
        raise Refused("there is no job '%s', only %s" % (name, ", ".join(jobs)))
    job = jobs[name]
    only(job, JOB_KEYS, "the job '%s'" % name)
    return Job(container=job.get("container", ""), environment=job.get("env", {}),
               steps=[read_step(step, number) for number, step in enumerate(job["steps"], 1)],
               matrix=read_matrix(job["strategy"]) if "strategy" in job else [{}])


class Expression:
    """One expression, read from left to right: ! binds before == and !=, then &&, then ||."""

    def __init__(self, text, context):
        self.text, self.context, self.tokens, at = text, context, [], 0
        text = text.rstrip()
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise Refused("cannot read '%s' in the expression '%s'" % (text[at:], self.text))
            self.tokens.append((match.lastgroup, match.group(match.lastgroup)))
            at = match.end()

    def next_is(self, sign):
        if self.tokens[:1] != [("sign", sign)]:
            return False
        del self.tokens[0]
        return True

    def value(self):
        result = self.either()
        if self.tokens:
            raise Refused("'%s' is left over in the expression '%s'" % (self.tokens[0][1], self.text))
        return result

    # Both operators give one of their operands, as in JavaScript.
    def either(self):
        result = self.both()
        while self.next_is("||"):
            other = self.both()
            result = result or other
        return result

    def both(self):
        result = self.compared()
        while self.next_is("&&"):
            other = self.compared()
            result = result and other
        return result

    def compared(self):
        result = self.single()
        if self.next_is("=="):
            return result == self.single()
        if self.next_is("!="):
            return result != self.single()
        return result

    def single(self):
        if self.next_is("!"):
            return not self.single()
        if self.next_is("("):
            result = self.either()
            if not self.next_is(")"):
                raise Refused("')' is missing in the expression '%s'" % self.text)
            return result
        kind, word = self.tokens.pop(0) if self.tokens else ("end", "")
        if kind == "text":
            return word[1:-1].replace("''", "'")
        if kind == "name":
            return self.call(word) if self.next_is("()") else self.look_up(word)
        raise Refused("a value is missing in the expression '%s'" % self.text)

    def call(self, name):
        values = {"always": True, "success": not self.context["failed"],
                  "failure": self.context["failed"]}
        if name not in values:
            raise Refused("the function '%s' is not known" % name)
        return values[name]

    def look_up(self, name):
        """A name with dots; empty if there is none, as the service has it."""
        found = self.context
        for part in name.split("."):
            found = found.get(part, "") if isinstance(found, dict) else ""
        return found


def substituted(text, context):
    """The text with the value of each expression in its place."""
    return EXPRESSION.sub(lambda match: str(Expression(match.group(1), context).value()), str(text))


def runs(step, context):
    """Whether the step runs: if nothing failed, unless its condition asks for that itself."""
    condition = EXPRESSION.sub(r"\1", step.condition)
    if not condition:
        return not context["failed"]
    holds = bool(Expression(condition, context).value())
    asks = re.search(r"\b(always|success|failure)\(\)", condition)
    return holds and (bool(asks) or not context["failed"])


def outputs(text):
    """What a step wrote to $GITHUB_OUTPUT: lines of NAME=VALUE."""
    found = {}
    for line in text.splitlines():
        name, sign, value = line.partition("=")
        if not sign:
            raise Refused("expected NAME=VALUE in the outputs of a step, not '%s'" % line)
        found[name] = value
    return found
