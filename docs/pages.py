"""Makes a page of docs/ whose numbers kvcheck measures: python3 docs/pages.py KVCHECK docs/comparison.md

A page holds the commands that it is made of. The block of code below the line <!-- made by --> is run first.
Then what lies between <!-- kvcheck ... --> and <!-- end --> is replaced by what this command prints. The
commands run in the root of the repository. Nothing is computed here.
"""
import os
import re
import subprocess
import sys

MADE_BY = re.compile(r"<!-- made by -->\n+```sh\n(.*?)```", re.DOTALL)
MADE = re.compile(r"(<!-- (kvcheck .*?) -->\n).*?(<!-- end -->)", re.DOTALL)


def main():
    program, page = sys.argv[1:]
    folder = os.path.dirname(os.path.abspath(program))
    environment = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"])

    def run(command, capture):
        return subprocess.run(["bash", "-euc", command], env=environment, check=True, text=True,
                              stdout=subprocess.PIPE if capture else sys.stderr).stdout

    with open(page, encoding="utf-8") as file:
        text = file.read()
    run(MADE_BY.search(text).group(1), False)
    text = MADE.sub(lambda part: f"{part[1]}\n{run(part[2], True).strip()}\n\n{part[3]}", text)
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
