// Made-up answers to twenty items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::testing {

// Twenty items in two groups. The second cell answers all but every fourth, the third none.
inline TaskResult answers() {
  TaskResult result{.model = "folder/model",
                    .architecture = "gpt_neox",
                    .weight_bytes = 5,
                    .context = 256,
                    .file = "folder/items.jsonl",
                    .checksum = 7,
                    .storage = "f16"};
  for (std::size_t i = 0; i < 20; ++i) {
    result.items.push_back({.id = "i" + std::to_string(i),
                            .group = i < 12 ? "near" : "far",
                            .context = 90 + i,
                            .question = 6,
                            .answer = 1,
                            .choices = i < 12 ? std::size_t{3} : 0});
  }
  std::size_t wrong = 0;
  for (const std::string spec : {"dense", "h2o:ratio=0.5;compress=prompt", "window:budget=8"}) {
    TaskCell& cell = result.cells.emplace_back();
    cell.cell = {.spec = parse_spec(spec).value(), .seed = ~std::uint64_t{0}};
    cell.kv_bytes = 1025;
    for (std::size_t i = 0; i < 20; ++i) {
      const bool right = wrong == 0 || (wrong == 1 && i % 4 != 0);
      const double loss = static_cast<double>(wrong) + 0.125 * static_cast<double>(i % 3);
      const std::size_t rank = i >= 12 ? 0 : right ? 1 : 2;
      cell.answers.push_back({.text = right ? "red\n\xc3\xa9" : "",
                              .exact = right,
                              .contains = right,
                              .f1 = right ? 1 : 0.25,
                              .loss = loss,
                              .rank = rank});
    }
    ++wrong;
  }
  return result;
}

}  // namespace kv::testing
