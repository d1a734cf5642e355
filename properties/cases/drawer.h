// Draws for the case generator, from RapidCheck's splittable source. Included in .cpp files only.
#pragma once

#include <rapidcheck/Gen.h>
#include <rapidcheck/Random.h>
#include <rapidcheck/gen/Numeric.h>

#include <cstdint>
#include <span>
#include <vector>

namespace kv::properties {

class Drawer {
 public:
  explicit Drawer(const rc::Random& random) : random_(random) {}

  // Uniform on {0, ..., bound - 1}. At the nominal size: below it, inRange draws small numbers.
  // Requires bound > 0.
  std::uint32_t below(std::uint32_t bound) {
    return rc::gen::inRange<std::uint32_t>(0, bound)(random_.split(), rc::kNominalSize).value();
  }

  bool chance(std::uint32_t share, std::uint32_t of) { return below(of) < share; }

  template <typename T>
  T pick(const std::vector<T>& from) {
    return from[below(static_cast<std::uint32_t>(from.size()))];
  }

 private:
  rc::Random random_;
};

}  // namespace kv::properties
