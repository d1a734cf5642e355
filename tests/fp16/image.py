"""A disk from which an emulated machine starts a static program: the system of machine/, then the program.

The disk begins with the system, whose second sector has a place for what it has to know of the program
(machine/boot.S). The program follows as it lies in memory, from its first segment to the end of its last.
"""

import struct

SECTOR = 512
CYLINDER = 16 * 63 * SECTOR   # heads, sectors: what Bochs takes for a disk of unknown form
LOAD = 1
STATIC = 2
ARGUMENTS = 104               # bytes for them


class Elf:
    """The loadable segments of a 64-bit ELF file that is linked for fixed addresses."""

    def __init__(self, data):
        if data[:5] != b"\x7fELF\x02":
            raise ValueError("not a 64-bit ELF file")
        self.kind, = struct.unpack_from("<H", data, 16)
        if self.kind != STATIC:
            raise ValueError("an ELF file of type %d; expected one for fixed addresses (%d)"
                             % (self.kind, STATIC))
        self.entry, headers = struct.unpack_from("<QQ", data, 24)
        size, self.header_count = struct.unpack_from("<HH", data, 54)
        self.segments = []        # (address, bytes in the file, size in memory)
        for i in range(self.header_count):
            kind, _, offset, address, _, in_file, in_memory, _ = struct.unpack_from(
                "<IIQQQQQQ", data, headers + i * size)
            if kind == LOAD:
                self.segments.append((address, data[offset:offset + in_file], in_memory))
        self.begin = self.segments[0][0]
        self.headers = self.begin + headers

    def code(self):
        """The bytes of the segment that begins with the entry."""
        return next(data for address, data, _ in self.segments if address == self.entry)

    def memory(self):
        """What lies in memory from self.begin on when the program starts."""
        end = max(address + size for address, _, size in self.segments)
        memory = bytearray(end - self.begin)
        for address, data, _ in self.segments:
            memory[address - self.begin:address - self.begin + len(data)] = data
        return bytes(memory)


def padded(data, unit):
    return data + bytes(-len(data) % unit)


def disk(system, program, arguments):
    """The bytes of the disk. `system` and `program` are ELF files, `arguments` words for the program."""
    system, program = Elf(system), Elf(program)
    words = b"".join(word.encode() + b"\0" for word in ["kvcheck_fp16"] + arguments)
    if len(words) >= ARGUMENTS:
        raise ValueError("%d bytes of arguments; at most %d" % (len(words), ARGUMENTS - 1))
    start = bytearray(padded(system.code(), SECTOR))
    memory = padded(program.memory(), SECTOR)
    struct.pack_into("<QQQ%dsIII" % ARGUMENTS, start, SECTOR, program.entry, program.headers,
                     program.header_count, words, len(start) // SECTOR, len(memory) // SECTOR,
                     program.begin)
    return padded(bytes(start) + memory, CYLINDER)
