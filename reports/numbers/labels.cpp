#include "kvcheck/reports/numbers/labels.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/numbers/row_names.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::reports {
namespace {

constexpr std::size_t longest_label = 48;  // as wide as a legend
constexpr std::size_t longest_name = 60;
constexpr std::string_view generator_words = "kvcheck trace generate ";

}  // namespace

std::vector<std::string> labels_of(std::span<const Spec> specs) {
  return shortened_apart(names_of(specs), longest_label);
}

std::vector<std::string> shortened_apart(std::span<const std::string> texts, std::size_t width) {
  std::map<std::string, std::string> selected;
  std::set<std::string> used;
  std::vector<std::string> out;
  for (const std::string& text : texts) {
    auto at = selected.find(text);
    if (at == selected.end()) {
      std::string cut = shortened(text, width);
      for (std::size_t n = 2; used.contains(cut); ++n) {
        // Marks are tried until the text is unused. A width too small for a mark leaves equal
        // texts.
        const std::string mark = "#" + std::to_string(n);
        if (mark.size() >= width) break;
        cut = shortened(text, width - mark.size()) + mark;
      }
      used.insert(cut);
      at = selected.emplace(text, std::move(cut)).first;
    }
    out.push_back(at->second);
  }
  return out;
}

bool generated(const TraceInfo& trace) {
  return trace.source.starts_with(generator_words);
}

std::string short_name(const TraceInfo& trace) {
  if (!generated(trace) || trace.source != std::string(generator_words) + trace.name) {
    return shortened(trace.name, longest_name);
  }
  return shortened(trace.name.substr(0, trace.name.find(':')), longest_name) + ", " +
         with_commas(trace.tokens) + (trace.tokens == 1 ? " token" : " tokens");
}

std::string marks_text(const Marks& marks) {
  if (!marks.known()) return "";
  std::string text = "; the first " + with_commas(marks.prompt) + " tokens are the prompt";
  if (marks.question > 0) text += ", the next " + with_commas(marks.question) + " its question";
  return text;
}

std::string stored_as(const Spec& spec, const std::string& of_run) {
  if (!spec.storage) return of_run;
  const std::size_t keys = of_run.find(", keys ");
  return spec.storage->text() + (keys == std::string::npos ? "" : of_run.substr(keys));
}

std::string with_commas(std::size_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

}  // namespace kv::reports
