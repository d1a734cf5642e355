// The numbers of an attention dump in memory, from one array or from the steps of a generation
// (dump_steps.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/number.h"
#include "kvcheck/traces/files/archive.h"
#include "kvcheck/traces/files/npy.h"

namespace kv {

using DumpBytes = std::vector<std::byte>;

// The array's numbers as f16 or f32, and what keeps them alive.
struct DumpNumbers {
  Number number = Number::f32;
  const std::byte* data = nullptr;
  std::shared_ptr<const void> owner;
};

// The numbers of a mapped array, whose bytes are `data`: as they are, or rounded to f32 in memory.
Result<DumpNumbers> mapped_numbers(const NpyHeader& header,
                                   std::span<const std::byte> data,
                                   std::shared_ptr<const void> file);

// A member of an archive as far as its header: the array's shape and the first bytes, header
// included.
struct DumpMember {
  ArchiveMember member;
  NpyHeader header;
  DumpBytes first;
};

// Reads the header of a member. Errors: it is not an array, or another length follows than the
// header says.
Result<DumpMember> begin_member(ArchiveMember member);

// Reads the rest of the member. Memory grows as numbers arrive, so that a small archive that claims
// to be large uses little.
Result<DumpNumbers> inflate(DumpMember& begun);

// An array with its header; `header.shape` is that of `numbers`.
struct DumpArray {
  NpyHeader header;
  DumpNumbers numbers;
};

// Reads the members step_0, step_1, ... of an archive as one square array [layers, heads, n, n].
// Each is of shape [layers, heads, queries, keys]; its queries follow those of the steps before it,
// and its keys are all positions so far. Nothing if the archive has no member step_0. Errors: a
// shape or type that does not continue that of step_0, or a result above archive_member_limit.
// Memory: twice the result, until the steps have been put in their places.
Result<std::optional<DumpArray>> read_npz_steps(std::span<const std::byte> bytes);

}  // namespace kv
