// The tables of one kind of kernels that this machine runs: for AVX-512, for the targets of
// Highway, and scalar. Every kind has the same names, so that KV_KERNEL selects among all of them.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "kvcheck/base/check.h"

namespace kv {

// The targets of Highway, for which the *_highway.cpp sources are compiled: the first two on x86,
// where a target is a set of instructions that some machines lack, the last one on 64-bit ARM.
enum class Target { avx2, sse4, neon };

// Those that this machine runs, best first.
std::vector<Target> supported_targets();

// "avx2", "sse4" or "neon".
std::string_view target_name(Target target);

// Whether this machine has all instruction sets that the *_avx512.cpp sources are compiled for.
bool supports_avx512();

// The address of a table that only x86 has.
#ifdef __x86_64__
#define KV_TABLE_OF_X86(table) (&(table))
#else
#define KV_TABLE_OF_X86(table) nullptr
#endif

template <typename Table>
class KernelTables {
 public:
  // `put` replaces the entries for which there is a form for the target; the others stay scalar.
  KernelTables(const Table* avx512, void (*put)(Target, Table&), const Table& scalar) {
    for (const Target target : supported_targets()) {
      Table table = scalar;
      table.name = target_name(target);
      put(target, table);
      highway_.push_back(table);
    }
    if (supports_avx512()) all_.push_back(avx512);
    for (const Table& table : highway_) all_.push_back(&table);
    all_.push_back(&scalar);
  }

  KernelTables(const KernelTables&) = delete;
  KernelTables& operator=(const KernelTables&) = delete;
  ~KernelTables() = default;

  // All, best first; scalar is always last.
  [[nodiscard]] std::span<const Table* const> all() const { return all_; }

  // Requires a name of one that this machine runs.
  [[nodiscard]] const Table& named(std::string_view name) const {
    const auto found = std::ranges::find(all_, name, &Table::name);
    KV_CHECK(found != all_.end());
    return **found;
  }

 private:
  std::vector<Table> highway_;
  std::vector<const Table*> all_;
};

}  // namespace kv
