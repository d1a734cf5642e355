// Compares the kernel of AVX512-FP16 with its emulation and with exact integers, on this machine.
//
//   kvcheck_fp16 [--emulation | --any-cpu] [--calls N] [--lists N]
//
// A static program that needs little of a system, so that it also runs on an emulated CPU without
// one (tests/fp16/machine/system.cpp). Without an option it takes the kernel that kvcheck itself
// would select, and is an error where that is not the instruction. --any-cpu calls the instruction
// nevertheless: without it, the CPU raises an exception. --emulation compares the emulation with
// itself, whose checksums a run elsewhere must repeat. --calls N is for random numbers, 8,192
// results each (2000), --lists N for every finite number, 126,976 results each (32).
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/model/rotation/rotate_kernels_detail.h"
#include "kvcheck/tests/fp16/comparisons.h"
#include "kvcheck/tests/fp16/drift.h"

namespace kv::fp16 {
namespace {

struct Options {
  bool emulation = false;
  bool any_cpu = false;
  std::size_t calls = 2000;
  std::size_t lists = 32;
};

std::optional<Options> options_of(std::span<const char* const> words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool number = (word == "--calls" || word == "--lists") && i + 1 < words.size();
    if (word == "--emulation") {
      options.emulation = true;
    } else if (word == "--any-cpu") {
      options.any_cpu = true;
    } else if (number) {
      (word == "--calls" ? options.calls : options.lists) = std::strtoull(words[++i], nullptr, 10);
    } else {
      return std::nullopt;
    }
  }
  return options;
}

// Empty if kvcheck would not select the instruction here.
Rotate rotation(const Options& options) {
  std::printf("kernels of this machine:");
  for (const model::RotateKernels* kernels : model::supported_rotate_kernels()) {
    std::printf(" %s", std::string(kernels->name).c_str());
  }
  const model::RotateKernels& selected = model::rotate_kernels();
  std::printf("; selected: %s\n", std::string(selected.name).c_str());
  std::fflush(stdout);  // before an exception
  if (options.emulation) return emulation();
  if (options.any_cpu) return model::rotate_f16_by_avx512_fp16;
  if (selected.complex_instruction) return selected.rotate_f16;
  return {};
}

// Returns whether they agree.
bool print(const Comparison& comparison) {
  std::printf("%-28s %11" PRIu64 " results, %" PRIu64 " differ, %" PRIu64 " bytes outside; ",
              comparison.name.c_str(), comparison.results, comparison.different,
              comparison.outside);
  std::printf("exact integers: %" PRIu64 " of %" PRIu64 " differ; checksum %016" PRIx64 "\n",
              comparison.exact_differ, comparison.exact, comparison.checksum);
  if (!comparison.first.empty()) std::printf("  %s\n", comparison.first.c_str());
  std::fflush(stdout);
  return comparison.agrees();
}

bool print(const DocumentedDrift& documented, const Drift& drift) {
  std::printf("drift, base %-16.0f %11" PRIu64 " results, %" PRIu64
              " differ; after 16 to 2,044 steps",
              documented.base, drift.results, drift.different);
  for (const double error : drift.error) std::printf(" %.5f", error);
  const bool same = is_as_documented(drift, documented);
  std::printf(", length %.5f: %s\n", drift.length, same ? "as documented" : "NOT as documented");
  std::fflush(stdout);
  return same;
}

// A comparison that finds no fault in a wrong rotation would find none in the kernel either.
bool finds(const WrongRotation& wrong) {
  const Comparison shapes = compare_shapes(wrong.rotate, 20);
  const Comparison random = compare_random(wrong.rotate, 2, 1);
  std::printf("%-36s found by shapes in %" PRIu64 " bytes, in random numbers %" PRIu64
              " of %" PRIu64 " differ\n",
              wrong.name.c_str(), shapes.different + shapes.outside, random.different,
              random.results);
  std::fflush(stdout);
  return !shapes.agrees();
}

int run(const Options& options) {
  const Rotate tried = rotation(options);
  if (tried == nullptr) {
    std::printf("this CPU has no AVX512-FP16; --any-cpu would call the instruction nevertheless\n");
    return 2;
  }
  bool right = print(compare_shapes(tried, 81));
  right = print(compare_beside_unmapped_pages(tried)) && right;
  for (const DocumentedDrift& documented : documented_drift) {
    right = print(documented, drift_of(tried, documented.base)) && right;
  }
  right = print(compare_every_number(tried, options.lists)) && right;
  right = print(compare_random(tried, options.calls, 4)) && right;
  for (const WrongRotation& wrong : wrong_rotations(tried)) {
    if (finds(wrong)) continue;
    std::printf("  a wrong rotation was not found\n");
    right = false;
  }
  std::printf(right ? "all comparisons agree\n" : "SOME COMPARISON FAILED\n");
  return right ? 0 : 1;
}

}  // namespace
}  // namespace kv::fp16

int main(int count, char** words) {
  const std::vector<const char*> given(words + 1, words + count);
  const auto options = kv::fp16::options_of(given);
  if (options) return kv::fp16::run(*options);
  std::printf("usage: kvcheck_fp16 [--emulation | --any-cpu] [--calls N] [--lists N]\n");
  return 2;
}
