// What libFuzzer calls. One program serves all targets: the name by which it is called, a link,
// says which one it tries.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "kvcheck/fuzz/target_table.h"

namespace {

const kv::fuzz::Target* tried = nullptr;

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): libFuzzer's names
extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** argv) {
  const std::string_view path = (*argv)[0];
  tried = kv::fuzz::find_target(path.substr(path.rfind('/') + 1));
  if (tried != nullptr) return 0;
  std::fputs("call this program by the name of a target; there are\n", stderr);
  for (const kv::fuzz::Target& target : kv::fuzz::targets()) {
    std::printf("%s %zu\n", target.name.data(), target.longest);
  }
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size <= tried->longest) {
    static_cast<void>(tried->run(std::as_bytes(std::span(data, size))));
  }
  return 0;
}

// NOLINTEND(readability-identifier-naming)
