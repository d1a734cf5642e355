#include "kvcheck/cli/check/laws_text.h"

#include <algorithm>

#include "kvcheck/cli/options/wrap.h"
#include "kvcheck/properties/law.h"
#include "kvcheck/properties/laws/law_filter.h"

namespace kv::cli {
namespace {

std::string kind_of(const properties::Law& law) {
  if (std::holds_alternative<properties::JudgeHistory>(law.check))
    return "judges every case that is run";
  if (std::holds_alternative<properties::JudgeRelation>(law.check))
    return "relates several runs of each case";
  return "is statistical: states its error rate, and its cases are never shrunk";
}

std::string needs_of(const properties::Law& law) {
  std::string text;
  const auto add = [&](bool needed, std::string_view what) {
    if (needed) text += (text.empty() ? "" : ", ") + std::string(what);
  };
  add(law.must_see.eviction, "an eviction");
  add(law.must_see.wide_chunk, "a chunk wider than the window");
  add(law.must_see.wrap, "a full budget of tokens after the budget was full");
  return text.empty() ? "nothing in particular" : text;
}

}  // namespace

std::string law_list() {
  std::size_t width = 0;
  for (const properties::Law& law : properties::laws()) width = std::max(width, law.id.size());
  std::string text;
  for (const properties::Law& law : properties::laws()) {
    text += definition(law.id, law.sentence, {.indent = 0, .column = width + 2});
  }
  return text;
}

Result<std::string> law_explained(std::string_view id) {
  const properties::Law* const law = properties::find_law(id);
  if (law == nullptr) return usage_error(properties::unknown_law(id));
  std::string text(law->id);
  text += "\n";
  text += definition("law", law->sentence);
  text += definition("why", law->why);
  text += definition("seen in", law->seen_in);
  text += definition("kind", kind_of(*law));
  text += definition("must see", needs_of(*law));
  return text;
}

}  // namespace kv::cli
