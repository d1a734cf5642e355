"""Tests of run.py and image.py that need no Bochs: what a run must have printed, and what the disk holds."""

import contextlib
import io
import struct
import tempfile
import unittest

import image
import run

SELECTED = "kernels of this machine: avx512-fp16 avx512 scalar; selected: avx512-fp16\n"
ROW = ("shapes, tails and guards          737920 results, 0 differ, 0 bytes outside;"
       " exact integers: 0 of 0 differ; checksum %s\n")
END = "all comparisons agree\nthe program ended with status 00\n"
SUM, OTHER_SUM = "3ac4e3210f3f8717", "3ac4e3210f3f8718"
EXPECTED = {"shapes, tails and guards": SUM}

PLAIN = "kernels of this machine: avx512 scalar; selected: avx512\n"
RAISED = "exception %s, error 00000000, at %s, address 00000000, instruction %s\n"
INSTRUCTION = "62 f6 7e 48 d6 ca"
KERNEL = range(0x40C760, 0x40C880)


class Judgement(unittest.TestCase):
    def test_a_run_that_agrees_has_no_fault(self):
        self.assertEqual(run.checksums(ROW % SUM), EXPECTED)
        self.assertEqual(run.faults_of_the_run(SELECTED + ROW % SUM + END, EXPECTED), [])

    def test_each_fault_of_the_run_is_named(self):
        for text, expected in (
                (PLAIN + ROW % SUM + END, "kvcheck did not select the instruction"),
                (SELECTED + ROW % SUM + END.replace("00\n", "01\n"),
                 "the program did not end with agreement"),
                (SELECTED + ROW % SUM, "the program did not end with agreement"),
                (SELECTED + ROW % OTHER_SUM + END,
                 "shapes, tails and guards: the checksum is %s; expected %s, as on this machine"
                 % (OTHER_SUM, SUM)),
                (SELECTED + END, "shapes, tails and guards: the checksum is missing; expected %s, as on this"
                 " machine" % SUM)):
            self.assertEqual(run.faults_of_the_run(text, EXPECTED), [expected])
        self.assertEqual(run.faults_of_the_run(SELECTED + END, {}),
                         ["there is no checksum of this machine"])

    def test_without_the_instruction_an_exception_in_the_kernel_is_right(self):
        good = PLAIN + RAISED % ("06", "0040c7e9", INSTRUCTION)
        self.assertEqual(run.faults_without_the_instruction(good, KERNEL), [])

    def test_each_fault_without_the_instruction_is_named(self):
        for text, expected in (
                (SELECTED + RAISED % ("06", "0040c7e9", INSTRUCTION), "kvcheck did not select avx512"),
                (PLAIN + END, "the instruction raised no exception"),
                (PLAIN + RAISED % ("0e", "0040c7e9", INSTRUCTION), "expected an invalid opcode"),
                (PLAIN + RAISED % ("06", "0040c880", INSTRUCTION), "expected an invalid opcode"),
                (PLAIN + RAISED % ("06", "0040c7e9", "62 f6 7f 48 d6 ca"), "of another instruction")):
            faults = run.faults_without_the_instruction(text, KERNEL)
            self.assertEqual(len(faults), 1, text)
            self.assertIn(expected, faults[0])

    def test_what_is_missing_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                self.assertEqual(run.main([folder, folder]), 2)
            self.assertIn("there is no built program: looked for " + folder, said.getvalue())
            with self.assertRaisesRegex(run.Missing, "there is no program of Bochs: looked for .*/bochs and"):
                run.Bochs(folder, folder, 1)


def elf(segments, entry, kind=image.STATIC):
    """An ELF file of (address, bytes, size in memory); its headers belong to no segment."""
    data = bytearray(64 + 56 * len(segments))
    data[:5] = b"\x7fELF\x02"
    struct.pack_into("<H", data, 16, kind)
    struct.pack_into("<QQ", data, 24, entry, 64)
    struct.pack_into("<HH", data, 54, 56, len(segments))
    for i, (address, content, size) in enumerate(segments):
        struct.pack_into("<IIQQQQQQ", data, 64 + 56 * i, image.LOAD, 5, len(data), address, address,
                         len(content), size, 4096)
        data += content
    return bytes(data)


class Disk(unittest.TestCase):
    SYSTEM = elf([(0x7C00, b"s" * 1300, 1300), (0x100000, b"", 4096)], 0x7C00)
    PROGRAM = elf([(0x400000, b"code", 4), (0x401000, b"data", 512)], 0x400002)

    def test_the_program_follows_as_it_lies_in_memory(self):
        disk = image.disk(self.SYSTEM, self.PROGRAM, ["--any-cpu"])
        self.assertEqual(len(disk) % image.CYLINDER, 0)
        self.assertEqual(disk[:512], b"s" * 512)
        entry, headers, count, words, first, sectors, address = struct.unpack_from("<QQQ104sIII", disk, 512)
        self.assertEqual((entry, headers, count, address), (0x400002, 0x400040, 2, 0x400000))
        self.assertEqual(words.rstrip(b"\0"), b"kvcheck_fp16\0--any-cpu")
        self.assertEqual((first, sectors), (3, 9))
        program = disk[3 * 512:12 * 512]
        self.assertEqual(program[:4], b"code")
        self.assertEqual(program[4096:4100], b"data")
        self.assertEqual(set(program[4:4096] + program[4100:]), {0})

    def test_other_files_and_long_arguments_are_refused(self):
        with self.assertRaisesRegex(ValueError, "not a 64-bit ELF file"):
            image.disk(self.SYSTEM, b"#!/bin/sh", [])
        with self.assertRaisesRegex(ValueError, "an ELF file of type 3; expected one for fixed addresses"):
            image.disk(self.SYSTEM, elf([(0, b"code", 4)], 0, 3), [])
        with self.assertRaisesRegex(ValueError, "113 bytes of arguments; at most 103"):
            image.disk(self.SYSTEM, self.PROGRAM, ["x" * 99])


if __name__ == "__main__":
    unittest.main()
