// Ways to cut one stream into calls, for the laws on chunks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kvcheck/properties/laws/judging/judge.h"

namespace kv::properties {

// The tokens of a case cut in two ways; no chunk is longer than the contract allows.
struct Partitions {
  Setup setup;
  Stream stream;
  std::uint64_t tokens = 0;
  std::vector<std::uint32_t> given;  // as the case cuts them
  std::vector<std::uint32_t> whole;  // as few chunks as can be
};

Partitions partitions_of(const Case& what, const Contract& contract);

// "3+1+7".
std::string chunks_text(const std::vector<std::uint32_t>& chunks);

// Whether no call was refused.
bool all_done(const History& history);

}  // namespace kv::properties
