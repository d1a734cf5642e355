#include "kvcheck/properties/recorded/recorded_laws.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "kvcheck/properties/battery/attempt.h"
#include "kvcheck/properties/laws/relations/relations.h"

namespace kv::properties {
namespace {

// A relation only because the battery has to run its case: it judges one run.
constexpr std::string_view on_reference = "reference.model";

// Laws that compare with the logits of the stream.
constexpr std::array<std::string_view, 2> on_logits = {"attention.renormalised", "choice.bounds"};

// Laws that read what queries saw, by the beginnings of their ids.
constexpr std::array<std::string_view, 9> on_masks = {
    "visible.",     "choice.",         "attention.", "position.",
    "size.visible", "size.mask-width", "reference.", "row.returned-equals-stored",
    "chunking."};

bool is_one_of(const Law& law, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(
      beginnings, [&](std::string_view beginning) { return law.id.starts_with(beginning); });
}

}  // namespace

WhyNot not_judgeable(const Law& law, const RunHead& head, const RecordedPart& part) {
  if (!is_judge(law) && law.id != on_reference) {
    return "it needs further calls to the cache, which a recorded run cannot make";
  }
  if (!head.stream && is_one_of(law, on_logits)) {
    return "it compares with the logits of the stream, which a recorded run does not state";
  }
  if (!part.no_mask.empty() && is_one_of(law, on_masks)) return part.no_mask;
  return {};
}

Judgement judged(const Law& law, const RunHead& head, const RecordedPart& part) {
  const History& history = part.history;
  // Policies may give layers budgets by their number, and streams give them logits.
  const bool across = history.contract.shares_rows() && law.id == "isolation.sharing";
  const bool by_place = law.id == on_reference || is_one_of(law, on_logits) || across;
  if (!part.is_whole && by_place) {
    return NotTested{
        "it needs all layers and heads at once, and they do not fit into the memory; give it more "
        "--memory"};
  }
  if (const auto* judge = std::get_if<JudgeHistory>(&law.check)) {
    return (*judge)(history, history.contract);
  }
  const bool stated = head.stream.has_value();
  return keeps_to_reference(history, history.contract,
                            {.logits = stated, .inputs = stated, .draws = head.draws});
}

}  // namespace kv::properties
