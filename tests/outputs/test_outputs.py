"""Everything that a command writes for other programs, against its documented schema.

    test_outputs.py PROGRAM

PROGRAM is kvcheck. Each test is an assertion about the files of runs.py, which run once."""

import copy
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(1, SOURCE + "/tests/faults")

import csv_files  # noqa: E402
import given  # noqa: E402
import results_files  # noqa: E402
import runs  # noqa: E402
import schemas  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))
SCHEMAS = SOURCE + "/docs/schemas"
XSD = "{http://www.w3.org/2001/XMLSchema}"

# Lines of recorded runs are long, and alike: of those above so many bytes, so many of a file are tried.
LONG_LINE, MOST_LONG_LINES = 2000, 6


def read(path):
    with open(path, newline="") as file:
        return file.read()


def run_all(folder):
    """Runs the commands, and gives the documents: (kind, name of the file, its path)."""
    given.make(PROGRAM, SOURCE, folder)
    # The stand-in for gnuplot of tests/faults, which takes no time.
    environment = {**os.environ, "PATH": folder + "/in/bin:" + os.environ["PATH"]}
    environment.pop("CI", None)
    written = []
    for number, run in enumerate(runs.RUNS):
        before = set(os.listdir(folder))
        done = subprocess.run([PROGRAM, *run.words.replace("SOURCE", SOURCE).split()], cwd=folder,
                              env=environment, capture_output=True, text=True)
        if done.returncode != run.status:
            raise AssertionError("%s: exit status %d\n%s" % (run.words, done.returncode, done.stderr))
        if "-" in run.files:
            with open("%s/stdout-%d" % (folder, number), "w") as file:
                file.write(done.stdout)
        unexpected = set(os.listdir(folder)) - before - set(run.files) - {"stdout-%d" % number}
        if unexpected:
            raise AssertionError("%s also wrote %s" % (run.words, ", ".join(unexpected)))
        for name, kind in run.files.items():
            written += documents_of(kind, folder, "stdout-%d" % number if name == "-" else name)
    return written


def documents_of(kind, folder, name):
    """The documents of a file, or of all files in a folder."""
    path = folder + "/" + name
    if kind not in ("report", "plots"):
        return [(kind, name, path)]
    found = []
    for place, _, names in os.walk(path):
        for inner in names:
            below = os.path.relpath(os.path.join(place, inner), path)
            found.append((kind_in_report(below), name + "/" + below, os.path.join(place, inner)))
    return found


def kind_in_report(path):
    """The document that a file of a report is, by its path in it."""
    name = re.sub("-[0-9]+/", "-N/", path)
    name = re.sub("/groups-[a-z0-9_]+", "/groups-SCORE", name)
    name = re.sub("^texts/[a-z0-9_]+(-windows-[0-9]+)?", "texts/MEASURE", name)
    if name.endswith(".csv"):
        # A plot of the kill matrix has the files of the report's section without its folder.
        return "csv " + (name if "/" in name or name.startswith("uniformity")
                         else "laws/" + name)
    if name.endswith(".jsonl"):
        return "lines " + {"trace-N/cells.jsonl": "replay", "evaluation-N/cells.jsonl": "evaluation",
                           "tasks-N/answers.jsonl": "answers"}[name]
    if name.endswith((".html", ".svg", ".png", ".md", ".gp")):
        return "for people"
    raise AssertionError("nothing says what the file %s of a report is" % path)


class Outputs(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.written = run_all(cls.folder)
        cls.page = read(SOURCE + "/reports/SCHEMA.md")
        cls.schemas = {}
        for name in os.listdir(SCHEMAS):
            if name.endswith(".schema.json"):
                schema = schemas.Schema(SCHEMAS + "/" + name)
                cls.schemas[schema.name] = schema
        cls.samples = {}   # some documents of each schema

    @classmethod
    def of_kind(cls, *kinds):
        return [(kind, name, path) for kind, name, path in cls.written if kind.split()[0] in kinds]

    def texts(self, kind, path):
        """The JSON texts of a file."""
        if not kind.startswith("lines "):
            return [read(path)]
        lines = read(path).splitlines()
        long = [line for line in lines if len(line) > LONG_LINE]
        dropped = set(long[MOST_LONG_LINES:])
        return [line for line in lines if line not in dropped]

    def test_1_json_is_what_its_schema_says(self):
        for kind, name, path in self.written:
            schema = self.schemas.get(kind.split()[-1])
            if schema is None or kind.startswith("csv"):
                continue
            for text in self.texts(kind, path):
                value = schemas.strict_json(text)
                self.assertEqual(schema.errors(value), [], name)
                schema.note(value)
                self.samples.setdefault(schema.name, []).append(value)

    def test_2_schemas_say_nothing_that_is_never_written(self):
        for schema in self.schemas.values():
            self.assertEqual(list(schema.faults()), [])
            unused = [line for line in schema.unused()
                      if not any(re.search(rare, line) for rare, _ in runs.NOT_TRIED)]
            self.assertEqual(unused, [])

    def test_3_a_field_that_is_missing_or_renamed_is_noticed(self):
        for schema in self.schemas.values():
            tried = set()
            for value in self.samples[schema.name]:
                self.try_changes(schema, value, value, "", tried)
            self.assertGreater(len(tried), 3, schema.name)

    def try_changes(self, schema, root, value, at, tried):
        """Renames each property that no other value had at its place, one after the other."""
        if isinstance(value, list):
            for inner in value[:1]:
                self.try_changes(schema, root, inner, at + "[]", tried)
        if not isinstance(value, dict):
            return
        for name in list(value):
            if (at, name) not in tried:
                tried.add((at, name))
                before = copy.copy(value)
                value[name + "_"] = value.pop(name)
                self.assertNotEqual(schema.errors(root), [], "%s: %s renamed" % (schema.name, name))
                value.clear()
                value.update(before)
            self.try_changes(schema, root, value[name], "%s/%s" % (at, name), tried)

    def headers(self):
        """The pattern of the header of each kind of CSV file."""
        found = csv_files.documented(self.page)
        cell = list(self.schemas["replay"].root["$defs"]["cell"]["properties"])
        first = cell[:cell.index("queries")]
        for name, columns in (("cells", first), ("cells-and-heads", [*first, "layer", "head"]),
                              ("sampled-cells-and-heads", [*cell, "layer", "head"])):
            found[name] = csv_files.pattern_of(columns)
        found["trace-N/cells.csv"] = found["cells"]
        files = self.schemas["comparison"].root["$defs"]["file_comparison"]["properties"]
        found["comparison-of-files"] = csv_files.pattern_of(
            [name for name in files if name not in ("type", "margin", "level", "tests")],
            csv_files.SOMETIMES_COMPARED)
        return found

    def test_4_csv_files_have_the_documented_columns_and_types(self):
        headers, types = self.headers(), csv_files.types(self.page)
        seen, kinds = set(), set()
        for kind, name, path in self.of_kind("csv"):
            text = read(path)
            self.assertTrue(text.endswith("\n") and "\r" not in text, name)
            header, *lines = csv_files.strict_lines(text)
            kinds.add(kind)
            self.assertRegex(",".join(header) + ",", headers[kind.split()[1]], name)
            self.assertTrue(lines, name)
            for column, values in zip(header, zip(*lines)):
                matching = [(known, of) for pattern, known, of in types if pattern.fullmatch(column)]
                self.assertEqual(len(matching), 1, "%s: the column %s" % (name, column))
                known, (type_name, may_be_empty) = matching[0]
                seen.add(known)
                for value in values:
                    fits = (value == "" and may_be_empty) or (
                        value != "" and csv_files.TYPES[type_name].fullmatch(value))
                    self.assertTrue(fits, "%s: %s is %r, not %s" % (name, column, value, type_name))
        self.assertEqual({known for _, known, _ in types} - seen, set())
        self.assertEqual({"csv " + name for name in headers} - kinds, set())

    def test_5_results_files_are_as_documented(self):
        paths = {path for _, _, path in self.of_kind("results")}
        self.assertGreater(len(paths), 5)
        for path in paths:
            self.assertEqual(list(results_files.faults(path, self.page)), [], path)

    def xmllint(self, path):
        return subprocess.run(["xmllint", "--noout", "--schema", SCHEMAS + "/junit.xsd", path],
                              capture_output=True, text=True)

    def test_6_junit_files_are_what_their_schema_says(self):
        if shutil.which("xmllint") is None:
            self.skipTest("there is no xmllint (Debian: libxml2-utils)")
        met = set()
        for _, name, path in self.of_kind("junit"):
            done = self.xmllint(path)
            self.assertEqual(done.returncode, 0, done.stderr)
            for element in xml.etree.ElementTree.parse(path).iter():
                met |= {element.tag} | {(element.tag, attribute) for attribute in element.keys()}
        self.assertEqual(met, self.names_of_schema())
        text = read(path)
        for old, new in ((' tests="', ' cases="'), (' time="', ' seconds="'), ("<testcase", "<case"),
                         (' time="', ' time="about '), (' name="', ' title="')):
            self.assertIn(old, text)
            with open(self.folder + "/changed.xml", "w") as file:
                file.write(text.replace(old, new))
            self.assertNotEqual(self.xmllint(self.folder + "/changed.xml").returncode, 0, old)

    def names_of_schema(self):
        """The elements of junit.xsd, and pairs of each with its attributes."""
        root = xml.etree.ElementTree.parse(SCHEMAS + "/junit.xsd").getroot()
        types = {part.get("name"): part for part in root.findall(XSD + "complexType")}
        found = set()

        def walk(part, owner):
            for inner in part:
                if inner.tag == XSD + "element":
                    found.add(inner.get("name"))
                    walk(inner, inner.get("name"))
                    walk(types.get(inner.get("type"), ()), inner.get("name"))
                elif inner.tag == XSD + "attribute":
                    found.add((owner, inner.get("name")))
                elif inner.tag != XSD + "complexType" or not inner.get("name"):
                    walk(inner, owner)

        walk(root, None)
        return found

    def test_7_every_option_that_names_a_file_is_known(self):
        options = {}
        for verb in verbs():
            text = subprocess.run([PROGRAM, *verb.split(), "--help"], capture_output=True, text=True,
                                  check=True, env={**os.environ, "COLUMNS": "200"}).stdout
            for name, value in re.findall(r"^ {2,6}(?:-[a-zA-Z], )?--([a-z-]+)(?: ([A-Z][A-Z./a-z]*))?",
                                          text, re.MULTILINE):
                if value.partition(".")[0] in ("FILE", "DIR") or name in ("json", "csv", "junit"):
                    options[verb, name] = value
        self.assertGreater(len(options), 30)
        known = {(verb, name) for verb, names in runs.WRITES.items() for name in names}
        known |= {(verb, name) for verb, names in runs.READS.items() for name in names.split()}
        self.assertEqual(set(options), known)
        for verb, names in runs.WRITES.items():
            for name, kind in names.items():
                if kind in ("trace", "for people"):
                    continue
                given_by = {"--" + name} | ({"-o"} if name == "output" else set())
                tried = [run for run in runs.RUNS if run.words.startswith(verb + " ")
                         and given_by & set(run.words.split())]
                self.assertTrue(tried, "no run tries kvcheck %s --%s" % (verb, name))

    def test_8_documents_with_parts_of_one_name_agree(self):
        for name in ("statistic",):
            parts = [schema.root["$defs"][name] for schema in self.schemas.values()
                     if name in schema.root.get("$defs", {})]
            self.assertEqual(len(parts), 2)
            self.assertEqual(parts[0], parts[1])

    def test_9_the_page_lists_every_schema_with_its_version(self):
        page = read(SOURCE + "/docs/files.md")
        listed = re.findall(r"\(schemas/([a-z-]+)\.schema\.json\) \| ([0-9]+) \|", page)
        expected = []
        for schema in self.schemas.values():
            name, version = re.fullmatch(r"urn:kvcheck:([a-z-]+):([0-9]+)", schema.identity).groups()
            self.assertEqual(name, schema.name)
            expected.append((name, version))
        self.assertEqual(sorted(listed), sorted(expected))


def verbs():
    """Every command and verb of which the program has a manual page."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([PROGRAM, "man", "-o", folder], check=True)
        return [name[len("kvcheck-"):-len(".1")].replace("-", " ")
                for name in os.listdir(folder) if name != "kvcheck.1"]


if __name__ == "__main__":
    unittest.main()
