#include "kvcheck/cli/model/repeated_prompts.h"

#include <algorithm>

#include "kvcheck/base/text/text.h"
#include "kvcheck/model/decoder/repeat_passes.h"
#include "kvcheck/model/decoder/repeat_request.h"
#include "kvcheck/policies/policy.h"
#include "kvcheck/policies/registry/registry.h"

namespace kv::cli {
namespace {

bool repeats(const Cell& cell) {
  return needs_of(cell.spec).reconstruction > 0;
}

}  // namespace

bool is_without_prompt(const PlannedCell& planned) {
  return planned.from_all && !model::check_repeats(planned.cell.spec);
}

std::vector<model::TokenId> repeat_request_for(const OpenedModel& opened,
                                               std::span<const Cell> cells) {
  if (std::ranges::none_of(cells, repeats)) return {};
  return model::repeat_request(*opened.tokenizer);
}

std::vector<std::string> repeat_notes(const Arguments& arguments,
                                      std::span<const Cell> cells,
                                      std::span<const model::TokenId> request) {
  std::vector<std::string> notes;
  if (std::ranges::count(arguments.values("policy"), "all") > 0) {
    std::vector<std::string> names;
    for (const PolicyEntry& entry : policy_registry()) {
      const auto policy = entry.make(Options(entry.parameters));
      if (policy->needs().reconstruction > 0) names.emplace_back(entry.name);
    }
    notes.push_back("--policy all is without " + join(names, ", ") +
                    ", which needs compress=prompt");
  }
  if (request.empty() && std::ranges::any_of(cells, repeats)) {
    notes.push_back(
        "the tokenizer has no words to ask for a repetition of the prompt; the model reads the "
        "prompt again without being asked");
  }
  return notes;
}

Result<void> check_open_loop(bool open_loop, std::span<const Cell> cells) {
  const auto found = std::ranges::find_if(cells, repeats);
  if (!open_loop || found == cells.end()) return {};
  return usage_error("--open-loop replays every spec, and '" + found->spec.label() +
                     "' scores a prompt while the model repeats it, which no trace records; "
                     "expected a run without it");
}

}  // namespace kv::cli
