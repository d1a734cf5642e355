#include "kvcheck/model/decoder/repeat_passes.h"

#include <algorithm>

#include "kvcheck/base/check.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::model {
namespace {

// So many tokens before a part tell the model where in the prompt it begins, as in the source.
constexpr std::size_t lead = 8;

}  // namespace

std::vector<RepeatPass> repeat_passes(std::span<const TokenId> prompt,
                                      std::size_t sinks,
                                      std::size_t length,
                                      std::span<const TokenId> request) {
  KV_CHECK(length >= 1);
  std::vector<RepeatPass> passes;
  const std::size_t begin = std::min(sinks, prompt.size());
  for (std::size_t first = begin; first < prompt.size(); first += length) {
    const std::size_t last = std::min(first + length, prompt.size());
    // The first part begins where the prompt does, so nothing has to say where.
    const std::size_t from = first - std::min(first == begin ? 0 : lead, first - begin);
    RepeatPass pass{.rows = {.sinks = begin, .first = first, .last = last, .stored = prompt.size()},
                    .tokens = {request.begin(), request.end()}};
    const std::span<const TokenId> part = prompt.subspan(from, last - from);
    pass.tokens.insert(pass.tokens.end(), part.begin(), part.end());
    passes.push_back(std::move(pass));
  }
  return passes;
}

Result<void> check_repeats(const Spec& spec) {
  if (needs_of(spec).reconstruction == 0) return {};
  if (spec.phases.marked() && spec.phases.then == Phases::Then::grow) return {};
  return usage_error(
      "it decides once, while the model repeats its prompt, and compress=" + spec.phases.text() +
      " decides at other times; expected compress=prompt or compress=question");
}

}  // namespace kv::model
