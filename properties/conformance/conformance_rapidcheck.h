// RapidCheck's generators of setups, streams and cases, for properties of your own beside the laws:
//
//   rc::check("the newest token is seen", [&](const kv::properties::Case& what) {
//     const auto history = kv::properties::run_case(family, what);
//     ...
//   });
//
// A case feeds chunks of 1 to 11 tokens, of a setup with one layer, head and sequence whose budget
// has room for its sinks and recent tokens. It shrinks to fewer and shorter chunks, smaller sizes
// and the first kind of stream. RapidCheck prints it as `kvcheck check --reproduce` reads it.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <ostream>
#include <tuple>
#include <vector>

#include "kvcheck/properties/case.h"

namespace kv::properties {

inline void showValue(const Case& what, std::ostream& out) {
  out << what.text();
}

}  // namespace kv::properties

namespace rc {

template <>
struct Arbitrary<kv::properties::Setup> {
  static Gen<kv::properties::Setup> arbitrary() {
    const auto setup = [](std::uint32_t sinks, std::uint32_t recent, std::uint32_t middle) {
      return kv::properties::Setup{
          .sinks = sinks, .recent = recent, .budget = sinks + recent + middle};
    };
    return gen::map(gen::tuple(gen::inRange<std::uint32_t>(0, 4), gen::inRange<std::uint32_t>(1, 6),
                               gen::inRange<std::uint32_t>(0, 9)),
                    [setup](const auto& sizes) { return std::apply(setup, sizes); });
  }
};

template <>
struct Arbitrary<kv::properties::Stream> {
  static Gen<kv::properties::Stream> arbitrary() {
    using kv::properties::StreamKind;
    const auto kinds = kv::properties::stream_kinds();
    const auto stream = [](StreamKind kind, std::uint32_t seed, std::uint32_t planted) {
      const bool plants =
          kind == StreamKind::hitter || kind == StreamKind::unscored || kind == StreamKind::behind;
      return kv::properties::Stream{.kind = kind, .seed = seed, .planted = plants ? planted : 0};
    };
    return gen::map(
        gen::tuple(gen::elementOf(std::vector<StreamKind>(kinds.begin(), kinds.end())),
                   gen::inRange<std::uint32_t>(0, 1000), gen::inRange<std::uint32_t>(0, 16)),
        [stream](const auto& parts) { return std::apply(stream, parts); });
  }
};

template <>
struct Arbitrary<kv::properties::Case> {
  static Gen<kv::properties::Case> arbitrary() {
    const auto chunks =
        gen::container<std::vector<std::uint32_t>>(gen::inRange<std::uint32_t>(1, 12));
    return gen::map(gen::tuple(gen::arbitrary<kv::properties::Setup>(),
                               gen::arbitrary<kv::properties::Stream>(), chunks),
                    [](const auto& parts) { return std::apply(kv::properties::feeding, parts); });
  }
};

}  // namespace rc
