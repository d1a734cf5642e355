#include <array>

#include "kvcheck/properties/laws/judging/law_groups.h"

namespace kv::properties {
namespace {

Judgement survives(const History& history, const Contract& /*contract*/) {
  if (history.failure.empty()) return {};
  return Finding{.expected = "an answer to every call, be it a refusal",
                 .seen = history.failure,
                 .event = history.events.size()};  // the call that has no event
}

constexpr auto table = std::to_array<Law>({
    {.id = "survives",
     .sentence = "every call is answered: no crash, no hang, no facts that cannot be read",
     .why = "Sizes at their edges (no sinks, no recent window, a first call without tokens, a "
            "chunk longer than the cache, lengths that are negative or beyond the end) are where "
            "index arithmetic breaks. Whatever a cache cannot do it may refuse, but it must "
            "answer, and facts must have one entry per unit and one mask entry per query and row.",
     .seen_in =
         "neural-speed's truncation with a sign error (n_ctx + 2 n_keep); openvino.genai PR#3804, "
         "a port's name that failed at the first real run; mlx-lm PR#1868, trim(-5)",
     .must_see = {.eviction = false},
     .check = survives},
});

}  // namespace

constinit const Laws survival_laws = table;

}  // namespace kv::properties
