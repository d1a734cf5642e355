#include "kvcheck/model/tasks/planted_text.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kv::model {

std::vector<std::size_t> TaskDraws::different(std::size_t count, std::size_t bound) {
  std::vector<std::size_t> all(bound);
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (std::size_t i = 0; i < count; ++i) std::swap(all[i], all[i + below(bound - i)]);
  all.resize(count);
  return all;
}

Result<std::string> joined_text(const PlantedText& text,
                                const TaskRequest& request,
                                const SentenceLength& length_of) {
  std::vector<std::size_t> lengths;  // of the planted sentences
  std::size_t left = 0;              // of those that are not yet placed
  for (const Planted& planted : text.planted) {
    const auto length = length_of(planted.sentence);
    if (!length) return length.error();
    lengths.push_back(*length);
    left += *length;
  }
  const Result<std::size_t> opening =
      text.opening.empty() ? Result<std::size_t>(0) : length_of(text.opening);
  if (!opening) return opening.error();
  if (left + *opening > request.length) {
    return usage_error("a context of " + std::to_string(request.length) + " is too short for " +
                       request.kind + "; expected at least " + std::to_string(left + *opening));
  }
  const double filler = static_cast<double>(request.length - left - *opening);
  std::string out = text.opening;
  std::size_t filled = 0;
  std::size_t next = 0;
  const auto add = [&](const std::string& sentence) {
    if (!out.empty()) out += text.separator;
    out += sentence;
  };
  while (true) {
    const double share = filler == 0 ? 1 : static_cast<double>(filled) / filler;
    while (next < text.planted.size() && share >= text.planted[next].depth) {
      add(text.planted[next++].sentence);
    }
    if (static_cast<double>(filled) >= filler) break;
    const std::string sentence = text.filler();
    const auto length = length_of(sentence);
    if (!length) return length.error();
    add(sentence);
    filled += std::max<std::size_t>(*length, 1);
  }
  // Depth 1 is behind all filler, whose last sentence may be longer than what is left.
  while (next < text.planted.size()) add(text.planted[next++].sentence);
  return out;
}

}  // namespace kv::model
