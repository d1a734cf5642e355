// The least system on which a static Linux program runs that computes and prints: no files, no
// time, no threads, no protection. What the program prints comes out of the first serial port. An
// exception is printed and ends everything.
//
// Memory: this system below 4 MiB, the program from 4 MiB on, its stack below 48 MiB, its heap from
// 64 MiB on, and what it maps from 128 MiB on. boot.S maps virtual addresses to themselves.
#include <cstddef>
#include <cstdint>

#include "kvcheck/tests/fp16/machine/serial_port.h"

namespace kv::fp16 {
namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t large_page_bytes = 512 * page_bytes;
constexpr std::uint64_t present_and_writable = 3;
constexpr std::uint64_t stack_end = 48U << 20;
constexpr std::uint64_t heap_begin = 64U << 20;
constexpr std::uint64_t heap_end = 128U << 20;
constexpr std::uint64_t mapped_begin = heap_end;
constexpr std::uint64_t mapped_end = 192U << 20;

// As Linux numbers them on this architecture.
enum Call : std::uint64_t {
  call_write = 1,
  call_mmap = 9,
  call_mprotect = 10,
  call_munmap = 11,
  call_brk = 12,
  call_writev = 20,
  call_exit = 60,
  call_arch_prctl = 158,
  call_exit_group = 231,
  call_tgkill = 234,
};

constexpr std::uint64_t not_served = static_cast<std::uint64_t>(-38);  // -ENOSYS
constexpr std::uint64_t no_memory = static_cast<std::uint64_t>(-12);   // -ENOMEM
constexpr std::uint64_t invalid = static_cast<std::uint64_t>(-22);     // -EINVAL

void set_register(std::uint32_t number, std::uint64_t value) {
  asm volatile("wrmsr"
               :
               : "c"(number), "a"(static_cast<std::uint32_t>(value)),
                 "d"(static_cast<std::uint32_t>(value >> 32)));
}

// An entry of the interrupt descriptor table.
struct Gate {
  std::uint16_t low = 0;
  std::uint16_t selector = 0x08;
  std::uint16_t flags = 0x8E01;  // an interrupt gate, present, with the first of the extra stacks
  std::uint16_t middle = 0;
  std::uint32_t high = 0;
  std::uint32_t unused = 0;
};

struct __attribute__((packed)) TablePointer {
  std::uint16_t last_byte;
  std::uint64_t address;
};

constexpr std::size_t vectors = 32;
Gate gates[vectors];

constexpr std::uint64_t mapped_tables = (mapped_end - mapped_begin) / large_page_bytes;
alignas(page_bytes) std::uint64_t page_tables[mapped_tables][512];
std::uint64_t heap_at = heap_begin;
std::uint64_t mapped_at = mapped_begin;

template <typename Object>
Object* object_at(std::uint64_t address) {
  return reinterpret_cast<Object*>(address);  // NOLINT(performance-no-int-to-ptr)
}

std::uint64_t address_of(const void* object) {
  return reinterpret_cast<std::uint64_t>(object);
}

}  // namespace

// Defined in boot.S.
extern "C" {
extern const std::uint64_t exception_entries[vectors];
extern std::uint64_t page_directory[512];
void system_call_entry();

// What image.py puts into the image.
extern const struct Program {
  std::uint64_t entry;
  std::uint64_t headers;
  std::uint64_t header_count;
  char arguments[104];  // each with a 0 at its end; an empty one after the last
} program;
}

namespace {

void serve_exceptions() {
  for (std::size_t i = 0; i < vectors; ++i) {
    const std::uint64_t entry = exception_entries[i];
    gates[i].low = static_cast<std::uint16_t>(entry);
    gates[i].middle = static_cast<std::uint16_t>(entry >> 16);
    gates[i].high = static_cast<std::uint32_t>(entry >> 32);
  }
  const TablePointer pointer = {sizeof gates - 1, address_of(gates)};
  asm volatile("lidt %0" : : "m"(pointer));
}

void serve_system_calls() {
  set_register(0xC0000081, 0x08ULL << 32);  // STAR: the code segment, and the next one for data
  set_register(0xC0000082, reinterpret_cast<std::uint64_t>(&system_call_entry));  // LSTAR
  set_register(0xC0000084, 0);                                                    // SFMASK
}

// x87, SSE, AVX and all of AVX-512, if the CPU has them.
void enable_vector_registers() {
  std::uint32_t low = 0xD;
  std::uint32_t index = 0;
  std::uint32_t b = 0;
  std::uint32_t d = 0;
  asm volatile("cpuid" : "+a"(low), "=b"(b), "+c"(index), "=d"(d));
  index = 0;
  low &= 0xE7;
  asm volatile("xsetbv" : : "a"(low), "c"(index), "d"(0));
}

// Small pages where the program may ask for a page that cannot be accessed.
void map_small_pages() {
  for (std::uint64_t i = 0; i < mapped_tables; ++i) {
    for (std::uint64_t k = 0; k < 512; ++k) {
      page_tables[i][k] =
          (mapped_begin + i * large_page_bytes + k * page_bytes) | present_and_writable;
    }
    page_directory[mapped_begin / large_page_bytes + i] =
        address_of(page_tables[i]) | present_and_writable;
  }
  asm volatile("mov %%cr3, %%rax; mov %%rax, %%cr3" : : : "rax", "memory");
}

std::uint64_t protect(std::uint64_t begin, std::uint64_t bytes, bool accessible) {
  for (std::uint64_t at = begin; at < begin + bytes; at += page_bytes) {
    if (at < mapped_begin || at >= mapped_end) continue;
    const std::uint64_t page = (at - mapped_begin) / page_bytes;
    page_tables[page / 512][page % 512] = at | (accessible ? present_and_writable : 0);
    asm volatile("invlpg (%0)" : : "r"(at) : "memory");
  }
  return 0;
}

// Memory is given out once and begins as 0, since nothing has used it.
std::uint64_t map(std::uint64_t bytes) {
  const std::uint64_t rounded = (bytes + page_bytes - 1) / page_bytes * page_bytes;
  if (rounded > mapped_end - mapped_at) return no_memory;
  mapped_at += rounded;
  return mapped_at - rounded;
}

std::uint64_t write(std::uint64_t text, std::uint64_t bytes) {
  const char* const letters = object_at<const char>(text);
  for (std::uint64_t i = 0; i < bytes; ++i) print(letters[i]);
  return bytes;
}

std::uint64_t write_all(std::uint64_t parts, std::uint64_t count) {
  const auto* part = object_at<const std::uint64_t>(parts);  // address, bytes, address, ...
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < count; ++i) bytes += write(part[2 * i], part[2 * i + 1]);
  return bytes;
}

std::uint64_t move_heap_end(std::uint64_t end) {
  if (end >= heap_begin && end <= heap_end) heap_at = end;
  return heap_at;
}

std::uint64_t set_thread_pointer(std::uint64_t code, std::uint64_t value) {
  constexpr std::uint64_t set_fs = 0x1002;
  if (code != set_fs) return invalid;
  set_register(0xC0000100, value);
  return 0;
}

}  // namespace

extern "C" {

std::uint64_t system_call(std::uint64_t call, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  switch (call) {
    case call_write:
      return write(b, c);
    case call_writev:
      return write_all(b, c);
    case call_mmap:
      return map(b);
    case call_mprotect:
      return protect(a, b, c != 0);
    case call_munmap:
      return 0;
    case call_brk:
      return move_heap_end(a);
    case call_arch_prctl:
      return set_thread_pointer(a, b);
    case call_exit:
    case call_exit_group:
      stop_with_status(a);
    case call_tgkill:
      stop_with_status(128 + c);  // it aborts
    default:
      return not_served;
  }
}

[[noreturn]] void exception_raised(std::uint64_t vector,
                                   std::uint64_t error,
                                   std::uint64_t where,
                                   std::uint64_t page_address) {
  print("exception ");
  print_hex(vector, 2);
  print(", error ");
  print_hex(error, 8);
  print(", at ");
  print_hex(where, 8);
  print(", address ");
  print_hex(page_address, 8);
  print(", instruction");
  for (std::uint64_t i = 0; i < 6; ++i) {
    print(" ");
    print_hex(object_at<const std::uint8_t>(where)[i], 2);
  }
  print("\n");
  stop();
}

// Returns the program's stack, with what Linux puts there: arguments, and facts about the program.
std::uint64_t start_system() {
  open_serial_port();
  serve_exceptions();
  serve_system_calls();
  enable_vector_registers();
  map_small_pages();

  enum Fact : std::uint64_t {
    headers = 3,
    header_bytes = 4,
    header_count = 5,
    page = 6,
    random = 25
  };

  auto* const stack = object_at<std::uint64_t>(stack_end - 1024);
  std::uint64_t at = 1;
  for (const char* word = program.arguments; *word != 0; ++word) {
    stack[at++] = address_of(word);
    while (*word != 0) ++word;
  }
  stack[0] = at - 1;
  stack[at++] = 0;
  stack[at++] = 0;  // no environment
  const std::uint64_t facts[] = {headers,      program.headers,      header_bytes, 56,
                                 header_count, program.header_count, page,         page_bytes,
                                 random,       program.entry};
  for (const std::uint64_t fact : facts) stack[at++] = fact;
  stack[at++] = 0;
  stack[at] = 0;
  return address_of(stack);
}

}  // extern "C"
}  // namespace kv::fp16
