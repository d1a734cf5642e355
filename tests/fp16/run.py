"""Runs the kernel of AVX512-FP16 on an emulated CPU that has the instruction, and on one without it.

    run.py BUILD BOCHS [--calls N] [--lists N] [--seconds N]

BUILD is a build tree of kvcheck with the targets kvcheck_fp16 and kvcheck_fp16_system. BOCHS is the folder
of Bochs 3.0 or later: of a tree in which it was built, or the one that it was installed under. The other
options are those of program/main.cpp, and the most seconds of one run.

1. This machine compares the emulation with itself, which gives checksums.
2. The emulated Sapphire Rapids runs all comparisons with the instruction. They must agree and give the same
   checksums.
3. The emulated Tiger Lake, which lacks the instruction, must not select it, and must raise an exception where
   it is called nevertheless.

Whatever fails is said in a sentence, and the exit status is then 1. Logs are left in BUILD/fp16.
"""

import argparse
import os
import re
import subprocess
import sys
import time

import image

CPU = "sapphire_rapids"
CPU_WITHOUT = "tigerlake"
KERNEL = "rotate_f16_by_avx512_fp16"
INVALID_OPCODE = 6

BIOS = "BIOS-bochs-latest"
VGA_BIOS = "VGABIOS-lgpl/VGABIOS-lgpl-latest.bin"

SETTINGS = """\
memory: guest=256, host=256
cpu: model=%(model)s, count=1, ips=50000000, reset_on_triple_fault=0
romimage: file="%(bios)s/BIOS-bochs-latest"
vgaromimage: file="%(bios)s/VGABIOS-lgpl/VGABIOS-lgpl-latest.bin"
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=disk, mode=flat, path=disk.img
boot: disk
com1: enabled=1, mode=file, dev=serial.log
display_library: nogui
log: bochs.log
panic: action=fatal
error: action=report
info: action=report
"""


class Missing(Exception):
    """Something that this script needs is not there."""


def first_that_exists(paths, what):
    for path in paths:
        if os.path.exists(path):
            return os.path.abspath(path)
    raise Missing("there is no %s: looked for %s" % (what, " and ".join(paths)))


class Bochs:
    def __init__(self, folder, logs, seconds):
        self.program = first_that_exists([folder + "/bochs", folder + "/bin/bochs"], "program of Bochs")
        self.bios = os.path.dirname(first_that_exists(
            [folder + "/bios/" + BIOS, folder + "/share/bochs/" + BIOS], "BIOS of Bochs"))
        first_that_exists([self.bios + "/" + VGA_BIOS], "BIOS for the screen of Bochs")
        self.logs, self.seconds = os.path.abspath(logs), seconds
        models = self.output("--help", "cpu").split()
        if CPU not in models:
            raise Missing("%s has no CPU model %s; expected Bochs 3.0 or later, built with AVX-512 (EVEX)"
                          % (self.program, CPU))

    def output(self, *words):
        return subprocess.run([self.program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace").stdout

    def version(self):
        found = re.search(r"Bochs x86 Emulator (\S+)\s*\n\s*(.*)", self.output("--help"))
        return "%s (%s)" % (found[1], found[2].strip()) if found else "of unknown version"

    def run(self, model, disk):
        """What the program printed on the emulated CPU of this model."""
        folder = os.path.join(self.logs, model)
        os.makedirs(folder, exist_ok=True)
        log = folder + "/serial.log"
        for old in (log, folder + "/disk.img.lock"):
            if os.path.exists(old):
                os.remove(old)
        with open(folder + "/disk.img", "wb") as file:
            file.write(disk)
        with open(folder + "/bochsrc", "w") as file:
            file.write(SETTINGS % {"model": model, "bios": self.bios})
        begin = time.time()
        with open(folder + "/output", "w") as output:
            try:
                # Its status is 1 even if the program ended as it should.
                subprocess.run([self.program, "-q", "-f", "bochsrc"], cwd=folder,
                               stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                               timeout=self.seconds, env={**os.environ, "BXSHARE": self.bios})
            except subprocess.TimeoutExpired:
                print("%s: not done after %d s" % (model, self.seconds))
        print("== %s, %.0f s" % (model, time.time() - begin), flush=True)
        if not os.path.exists(log):
            return ""
        with open(log, errors="replace") as file:
            return file.read()


def checksums(text):
    """The checksums of a run's comparisons by name."""
    return {row[1].rstrip(): row[2]
            for row in re.finditer(r"^(\S.*?)  +\d+ results, .*checksum ([0-9a-f]{16})$", text, re.M)}


def faults_of_the_run(text, expected):
    """What is wrong with what a run with the instruction printed; `expected` are checksums."""
    faults = []
    if not re.search(r"; selected: avx512-fp16$", text, re.M):
        faults.append("kvcheck did not select the instruction")
    if "all comparisons agree\n" not in text or "the program ended with status 00\n" not in text:
        faults.append("the program did not end with agreement")
    found = checksums(text)
    for name in expected:
        if found.get(name) != expected[name]:
            faults.append("%s: the checksum is %s; expected %s, as on this machine"
                          % (name, found.get(name, "missing"), expected[name]))
    if not expected:
        faults.append("there is no checksum of this machine")
    return faults


def is_complex_multiplication(code):
    """Whether the bytes are those of vfmulcph: EVEX, the map and prefix of FP16, opcode D6."""
    return code[0] == 0x62 and code[1] & 7 == 6 and code[2] & 3 == 2 and code[4] == 0xD6


def faults_without_the_instruction(text, kernel):
    """What is wrong with a run on the CPU without it; `kernel` are the addresses of its code."""
    faults = []
    if not re.search(r"; selected: avx512$", text, re.M):
        faults.append("kvcheck did not select avx512, which is the best that this CPU has")
    raised = re.search(r"^exception ([0-9a-f]{2}), .* at ([0-9a-f]{8}), .* instruction((?: [0-9a-f]{2})+)$",
                       text, re.M)
    if not raised:
        faults.append("the instruction raised no exception")
    elif int(raised[1], 16) != INVALID_OPCODE or int(raised[2], 16) not in kernel:
        faults.append("expected an invalid opcode (06) at %x to %x, not '%s'"
                      % (kernel.start, kernel.stop, raised[0]))
    elif not is_complex_multiplication(bytes.fromhex(raised[3])):
        faults.append("the exception is of another instruction: '%s'" % raised[0])
    return faults


def kernel_addresses(program):
    """Where the kernel's code lies in the program."""
    lines = subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True).stdout
    begin, size = next(re.finditer(r"^(\w+) (\w+) T \w+%s\w+$" % KERNEL, lines, re.M)).groups()
    return range(int(begin, 16), int(begin, 16) + int(size, 16))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def main(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("bochs")
    parser.add_argument("--calls", default="2000")
    parser.add_argument("--lists", default="32")
    parser.add_argument("--seconds", type=int, default=3000)
    given = parser.parse_args(words)
    sizes = ["--calls", given.calls, "--lists", given.lists]
    try:
        program = first_that_exists([given.build + "/tests/fp16/kvcheck_fp16"], "built program")
        system = first_that_exists([given.build + "/tests/fp16/kvcheck_fp16_system"], "built system")
        bochs = Bochs(given.bochs, given.build + "/fp16", given.seconds)
    except Missing as missing:
        print("run.py: %s" % missing, file=sys.stderr)
        return 2
    print("Bochs %s" % bochs.version())

    here = subprocess.run([program, "--emulation", *sizes], capture_output=True, text=True).stdout
    print("== the emulation on this machine\n" + here, flush=True)
    disk = image.disk(read(system), read(program), sizes)
    with_it = bochs.run(CPU, disk)
    print(with_it)
    disk = image.disk(read(system), read(program), ["--any-cpu"])
    without = bochs.run(CPU_WITHOUT, disk)
    print(without)

    faults = faults_of_the_run(with_it, checksums(here))
    faults += faults_without_the_instruction(without, kernel_addresses(program))
    for fault in faults:
        print("FAILED: " + fault)
    if not faults:
        print("the instruction, its emulation and exact integers agree; without it nothing selects it")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
