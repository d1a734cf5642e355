// A text of filler sentences with planted ones among them. Private to model/tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/base/random/rng.h"
#include "kvcheck/model/tasks/task_generators.h"

namespace kv::model {

// Draws one after another for one item.
class TaskDraws {
 public:
  explicit TaskDraws(const TaskRequest& request)
      : rng_(seed_for(request.seed, "task " + request.kind), 0), item_(request.index) {}

  std::uint64_t below(std::uint64_t bound) { return rng_.below(bound, item_, index_++); }

  template <typename Value>
  const Value& one_of(std::span<const Value> values) {
    return values[below(values.size())];
  }

  // So many different numbers below the bound, in random order. Requires count <= bound.
  std::vector<std::size_t> different(std::size_t count, std::size_t bound);

 private:
  Rng rng_;
  Position item_;
  std::uint32_t index_ = 0;
};

// An item before it has a name, and the sentences that decide its answer.
struct PlantedTask {
  TaskItem item{};
  std::vector<std::string> planted{};
};

// A sentence and where it stands, as a share of the text.
struct Planted {
  std::string sentence;
  double depth = 0;
};

struct PlantedText {
  std::string opening{};                  // the first sentence; may be empty
  std::vector<Planted> planted{};         // by depth
  std::function<std::string()> filler{};  // the next sentence of filler
  std::string separator = " ";            // between sentences
};

// Sentences up to the request's length. The planted ones stand where the share of the length that
// is filled first reaches their depth. Errors: they alone are longer than the length.
Result<std::string> joined_text(const PlantedText& text,
                                const TaskRequest& request,
                                const SentenceLength& length_of);

}  // namespace kv::model
