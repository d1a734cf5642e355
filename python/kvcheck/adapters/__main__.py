"""python3 -m kvcheck.adapters SUBJECT [OPTIONS]: serves a cache to kvcheck check --exec."""

import sys

from . import Options, Subject, Wrong, is_subject


def main(words):
    subjects = [word for word in words if is_subject(word)]
    if len(subjects) != 1:
        raise Wrong("found %d subjects; expected one, such as transformers:DynamicCache" %
                    len(subjects))
    options = Options(word for word in words if word != subjects[0])
    if options.rest:
        raise Wrong("unknown option '%s'" % options.rest[0])
    Subject(subjects[0], options).serve()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (Wrong, ValueError) as wrong:
        sys.exit("kvcheck.adapters: %s" % wrong)
