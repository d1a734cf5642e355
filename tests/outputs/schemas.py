"""Documents against their JSON Schemas in docs/schemas, in both directions: a document holds nothing
that its schema does not say, and a schema says nothing that no tried document holds."""

import json
import os

import jsonschema

# What a schema may use of draft 2020-12: enough for these documents, and all of it is followed below.
KEYWORDS = {"$schema", "$id", "title", "description", "$defs", "$ref", "oneOf", "type", "enum", "const",
            "properties", "required", "additionalProperties", "items", "minItems", "maxItems",
            "minimum", "maximum", "pattern"}


def strict_json(text):
    """The value of a JSON text without NaN and without a name that occurs twice in one object."""
    def constant(word):
        raise ValueError("%s is no number of JSON" % word)

    def unique(pairs):
        names = [name for name, _ in pairs]
        if len(set(names)) != len(names):
            raise ValueError("a name occurs twice among %s" % ", ".join(names))
        return dict(pairs)

    return json.loads(text, parse_constant=constant, object_pairs_hook=unique)


def kind_of(value):
    for kind, types in (("boolean", bool), ("number", (int, float)), ("string", str),
                        ("array", list), ("object", dict)):
        if isinstance(value, types):
            return kind
    return "null"


class Schema:
    def __init__(self, path):
        self.name = os.path.basename(path)[:-len(".schema.json")]
        with open(path) as file:
            self.root = strict_json(file.read())
        self.identity = self.root.pop("$id")
        self.validator = jsonschema.Draft202012Validator(self.root)
        self.validators = {}
        self.counts = {}    # how often each part was met, by its place
        self.present = {}   # how often each property was there, by place and name
        self.values = {}    # which types and words were met, by place

    def part(self, place):
        """The part of the schema at a place such as $defs/cell/properties/spec."""
        part = self.root
        for name in place.split("/") if place else []:
            part = part[int(name) if isinstance(part, list) else name]
        return part

    def errors(self, value):
        return ["%s: %s" % ("/".join(str(step) for step in error.absolute_path), error.message)
                for error in self.validator.iter_errors(value)]

    def validator_of(self, place):
        if place not in self.validators:
            part = {**self.part(place), "$defs": self.root.get("$defs", {})}
            self.validators[place] = jsonschema.Draft202012Validator(part)
        return self.validators[place]

    def note(self, value, place=""):
        """Remembers which parts of the schema a valid value uses."""
        part = self.part(place)
        if "$ref" in part:
            return self.note(value, part["$ref"][len("#/"):])
        at = place + "/" if place else ""
        self.counts[place] = self.counts.get(place, 0) + 1
        if "oneOf" in part:
            for i in range(len(part["oneOf"])):
                branch = "%soneOf/%d" % (at, i)
                if self.validator_of(branch).is_valid(value):
                    self.note(value, branch)
            return None
        seen = self.values.setdefault(place, set())
        if "enum" in part:
            seen.add(value)
        elif isinstance(part.get("type"), list):
            seen.add(kind_of(value))
        if isinstance(value, dict):
            for name, inner in value.items():
                self.present[place, name] = self.present.get((place, name), 0) + 1
                self.note(inner, "%sproperties/%s" % (at, name))
        if isinstance(value, list):
            for inner in value:
                self.note(inner, at + "items")
        return None

    def parts(self, place=""):
        """All parts with their places, those of $defs too."""
        part = self.part(place)
        at = place + "/" if place else ""
        yield place, part
        for name in ("properties", "$defs"):
            for inner in part.get(name, {}):
                yield from self.parts("%s%s/%s" % (at, name, inner))
        for i in range(len(part.get("oneOf", []))):
            yield from self.parts("%soneOf/%d" % (at, i))
        if "items" in part:
            yield from self.parts(at + "items")

    def faults(self):
        """What is wrong with the schema itself, a sentence each."""
        for place, part in self.parts():
            where = "%s: %s" % (self.name, place or "the document")
            for word in set(part) - KEYWORDS:
                yield "%s uses %s, which the tests do not follow" % (where, word)
            if part.get("type") == "object" and part.get("additionalProperties") is not False:
                yield where + " allows properties that it does not name"
            target = self.part(part["$ref"][len("#/"):]) if "$ref" in part else part
            if place.rpartition("/")[0].endswith("properties") and "description" not in {**target, **part}:
                yield where + " has no description"
            for name in part.get("required", []):
                if name not in part["properties"]:
                    yield "%s requires %s, which it does not describe" % (where, name)

    def unused(self):
        """What the schema says that no noted document holds, a sentence each."""
        for place, part in self.parts():
            where = "%s: %s" % (self.name, place or "the document")
            if "$ref" in part:
                continue
            if place not in self.counts:
                yield where + " was never written"
                continue
            allowed = part.get("enum", part["type"] if isinstance(part.get("type"), list) else [])
            missing = {"number" if word == "integer" else word for word in allowed} - self.values.get(place, set())
            if missing:
                yield "%s was never %s" % (where, ", ".join(sorted(missing)))
            for name in part.get("properties", {}):
                met = self.present.get((place, name), 0)
                if met == self.counts[place] and name not in part["required"]:
                    yield "%s always had %s, which is not required" % (where, name)
