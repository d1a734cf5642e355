// Codes that lose more than half a step, and full precision that is none.
#include <cmath>

#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

struct CodesWrong : Wrong {
  static TaggedOptions options() {
    return {.precision = Precision::int4, .full_precision_recent = 3};
  }

  static constexpr std::size_t key_groups = (key_size + payload_group - 1) / payload_group;

  // Replaces every number of the key and the value by what `change` returns for it and its step.
  template <typename Change>
  static void each_number(StoredVectors& vectors, Change change) {
    for (std::size_t i = 0; i < key_size; ++i) {
      vectors.key[i] = change(vectors.key[i], i / payload_group);
    }
    for (std::size_t i = 0; i < value_size; ++i) {
      vectors.value[i] = change(vectors.value[i], key_groups + i / payload_group);
    }
  }
};

struct CutsCodesOff final : CodesWrong {
  void lower(StoredVectors& vectors) override {
    StoredVectors rounded = vectors;
    CodesWrong::lower(rounded);
    each_number(vectors, [&](float number, std::size_t unit) {
      const float step = rounded.steps[unit];
      return step > 0 ? std::trunc(number / step) * step : 0;
    });
    vectors.steps = rounded.steps;
    vectors.full_precision = false;
  }
};

struct TakesTheNextScale final : CodesWrong {
  void lower(StoredVectors& vectors) override {
    CodesWrong::lower(vectors);
    const auto steps = vectors.steps;
    each_number(vectors, [&](float number, std::size_t unit) {
      // Within keys, and within values.
      const std::size_t next = unit + 1 == key_groups || unit + 1 == steps.size() ? 0 : unit + 1;
      return steps[unit] > 0 ? number / steps[unit] * steps[next] : 0;
    });
  }
};

struct QuantisesAgain final : CodesWrong {
  // Every flush makes new codes of all that is old, with the flush's own scale for all of it.
  void lower_precision(CacheUnit& unit) override {
    float step = 0;
    for (const StoredRow& row : unit.rows) {
      if (!is_old(unit, row)) continue;
      for (const StoredVectors& vectors : row.vectors) {
        for (const float number : vectors.key) step = std::max(step, std::abs(number) / 7);
        for (const float number : vectors.value) step = std::max(step, std::abs(number) / 7);
      }
    }
    for (StoredRow& row : unit.rows) {
      if (!is_old(unit, row)) continue;
      for (StoredVectors& vectors : row.vectors) {
        each_number(vectors,
                    [&](float number, std::size_t) { return std::round(number / step) * step; });
        vectors.steps.fill(step);
        vectors.full_precision = false;
      }
    }
  }
};

struct ResidualOneShort final : CodesWrong {
  bool is_old(const CacheUnit& unit, const StoredRow& row) override {
    const auto age = unit.fed - static_cast<std::uint64_t>(row.token.position);
    return age >= options_.full_precision_recent;
  }
};

struct QuantisesTheSinks final : CodesWrong {
  static TaggedOptions options() {
    return {.precision = Precision::int4, .full_precision_recent = 3, .full_precision_sinks = true};
  }

  bool is_old(const CacheUnit& unit, const StoredRow& row) override {
    const auto age = unit.fed - static_cast<std::uint64_t>(row.token.position);
    return age > options_.full_precision_recent;
  }
};

struct FullIsHalf final : CodesWrong {
  StoredVectors make_vectors(Token token, std::size_t unit, double position) override {
    StoredVectors vectors = CodesWrong::make_vectors(token, unit, position);
    store_as(vectors.key, Precision::bf16);
    return vectors;
  }
};

}  // namespace

std::vector<Mutant> code_mutants() {
  return {
      {"codes-are-cut-off", "numbers are truncated to codes, not rounded", "made",
       of<CutsCodesOff>},
      {"scale-of-the-next-group", "codes are read with the scale of the group after theirs", "made",
       of<TakesTheNextScale>},
      {"quantised-at-every-flush",
       "what was quantised is quantised again, with the latest flush's scale",
       "transformers issue 48700", of<QuantisesAgain>},
      {"residual-is-one-short", "the last token that is declared exact is quantised", "made",
       of<ResidualOneShort>},
      {"sinks-are-quantised", "sinks that are declared exact are quantised with the rest",
       "KIVI has no sinks; made", of<QuantisesTheSinks>},
      {"residual-is-rounded", "what is declared to stay as it was fed is stored in bf16", "made",
       of<FullIsHalf>},
  };
}

}  // namespace kv::properties
