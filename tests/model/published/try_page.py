"""Runs the commands of docs/models.md on models of the shapes that it names, with random weights.

Arguments: the path of kvcheck, a folder that is made, perhaps --exact, and perhaps names of models.
Without --exact the models are narrow and their texts short. Prints the time, the processor's
time and the memory of each command; exits with 1 if one fails.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(os.path.dirname(here)))


def commands_of(page):
    """The model's name, the directory in its commands, to the commands, in the page's order."""
    found = {}
    for section in re.split(r"^## ", page, flags=re.M)[1:]:
        blocks = re.findall(r"^```sh\n(.*?)^```$", section, flags=re.M | re.S)
        lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
        names = {name for line in lines for name in re.findall(r"--model (\S+)", line)}
        if len(names) == 1:
            found[names.pop()] = [re.sub(" +", " ", line) for line in lines if line]
    return found


def shortened(command):
    # Queries are drawn from every 1,000.
    longest = 1200 if "--queries" in command else 600
    return re.sub(r"--tokens (\d+)",
                  lambda found: f"--tokens {min(int(found[1]), longest)}", command)


def run(kvcheck, folder, command):
    """Whether it succeeds, with a row of what it took."""
    program, words = command.split(" ", 1)
    assert program == "kvcheck", command
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(["bash", "-c", f"exec '{kvcheck}' {words}"], cwd=folder,
                                 stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(child.pid, 0)
        output.seek(0)
        said = output.read()
    print(f"{time.monotonic() - begin:8.1f} s {used.ru_utime + used.ru_stime:8.1f} CPU-s "
          f"{used.ru_maxrss / 1024:8.0f} MiB  {command}", flush=True)
    if status != 0:
        print(said.decode(errors="replace"))
    return status == 0


def main(kvcheck, folder, words):
    exact = "--exact" in words
    with open(root + "/docs/models.md") as file:
        pages = commands_of(file.read())
    names = [word for word in words if word != "--exact"] or list(pages)
    os.makedirs(folder)
    with open(root + "/model/data/held-out.txt") as file:
        text = file.read()
    with open(folder + "/book.txt", "w") as file:
        file.write(text * 5)
    failed = False
    for name in names:
        writer = [sys.executable, here + "/write_model.py", name, f"{folder}/{name}"]
        subprocess.run(writer + ([] if exact else ["--narrow"]), check=True)
        for command in pages[name]:
            failed |= not run(kvcheck, folder, command if exact else shortened(command))
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]))
