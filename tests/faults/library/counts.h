// The calls that the library can let fail, and the table in which it counts them.
//
// A driver writes a file of zeros of sizeof(Counts), names it in KV_FAULT_COUNTS, and reads it when
// the program has ended. The table is mapped shared, so that it survives any end of the program and
// counts the calls of its child processes, too.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kv::faults {

enum class Call : std::size_t {
  open,            // open, openat, fopen, mkostemp
  read,            // read, fread
  pread,           // pread
  write,           // write, writev; never on standard error, which has to report the fault
  pwrite,          // pwrite
  fsync,           // fsync
  fdatasync,       // fdatasync
  rename,          // rename
  unlink,          // unlink, unlinkat, remove, rmdir
  mmap,            // mmap
  ftruncate,       // ftruncate
  linkat,          // linkat
  mkdir,           // mkdir, mkdtemp
  pthread_create,  // pthread_create
  fork,            // fork
  malloc,          // malloc, calloc, realloc, aligned_alloc
};

// In the order of Call.
constexpr std::array<std::string_view, 16> call_names = {
    "open",   "read", "pread",     "write",  "pwrite", "fsync",          "fdatasync", "rename",
    "unlink", "mmap", "ftruncate", "linkat", "mkdir",  "pthread_create", "fork",      "malloc"};

struct Counts {
  std::array<std::atomic<std::uint64_t>, call_names.size()> calls;
  std::atomic<std::uint64_t> failed;  // how many calls failed because of the library
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "child processes share the table");

}  // namespace kv::faults
