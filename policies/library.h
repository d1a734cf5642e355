// Policies in a shared library: a user's own, under the same names everywhere.
//
//   // mine.cpp, linked with kvcheck::policies into libmine.so
//   #include "kvcheck/policies/library.h"
//   KVCHECK_POLICIES(mine_policy(), other_policy())
//
//   kvcheck --load ./libmine.so replay TRACE --policy mine:budget=64
//
// The library must be compiled with the same compiler and against the same headers. kvcheck
// compares policy_interface before it reads anything else from the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "kvcheck/policies/entry.h"
#include "kvcheck/policies/policy.h"

namespace kv {

// A fingerprint of the headers that a policy is compiled against: a number that we increase when
// virtual functions change, mixed with the sizes of the types that cross the interface.
inline constexpr std::uint64_t policy_interface = [] {
  std::uint64_t mixed = 4;
  for (const std::size_t size :
       {sizeof(PolicyEntry), sizeof(Parameter), sizeof(Options), sizeof(Observation),
        sizeof(Candidates), sizeof(PooledCandidates), sizeof(Draws)}) {
    mixed = mixed * 1099511628211U + size;
  }
  return mixed;
}();

}  // namespace kv

// Exports the entries. Use it once in a library, outside of any namespace.
#define KVCHECK_POLICIES(...)                                                \
  extern "C" std::uint64_t kvcheck_policy_interface() {                      \
    return ::kv::policy_interface;                                           \
  }                                                                          \
  extern "C" const ::kv::PolicyEntry* kvcheck_policies(std::size_t* count) { \
    static const ::kv::PolicyEntry entries[] = {__VA_ARGS__};                \
    *count = std::size(entries);                                             \
    return entries;                                                          \
  }
