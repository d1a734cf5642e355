// --memory: what a command may use, and whether what it plans to hold fits.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/options/options.h"

namespace kv::cli {

inline constexpr Option memory_option = {
    .name = "memory",
    .value = "SIZE",
    .help = "refuse what may need more memory than this, as 500M or 4G [what is free]"};

// A part of what a command plans to hold in memory at one time.
struct MemoryNeed {
  std::string what;  // "residents of 4096 cells": after "for"
  std::uint64_t bytes = 0;
};

// "1.5 GiB", "200 MiB": three digits at most and a unit of 1024 bytes, KiB, MiB, GiB or TiB.
std::string size_text(std::uint64_t bytes);

// What --memory says, in bytes; `otherwise` if it is not given. An error if it is no size.
Result<std::uint64_t> memory_given(const Arguments& arguments, std::uint64_t otherwise);

// An error unless the needs fit together in --memory, or without it in what the machine, its
// containers and the process's limits leave (machine_memory). It names the total, the limit and the
// largest need. Also an error: a size that is none. Requires `memory_option` in the table.
Result<void> check_memory(const Arguments& arguments, std::span<const MemoryNeed> needs);

}  // namespace kv::cli
