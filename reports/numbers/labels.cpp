#include "kvcheck/reports/numbers/labels.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::reports {
namespace {

constexpr std::size_t longest_variant = 48;  // as wide as a legend
constexpr std::size_t longest_name = 60;
constexpr std::string_view generator_words = "kvcheck trace generate ";

// A label without the policy's name.
struct LabelPieces {
  std::vector<std::string> fields;
  std::vector<std::string> settings;
};

LabelPieces pieces_of(const Spec& spec) {
  const std::string label = spec.label();
  const std::vector<std::string_view> parts = split(label, ';');
  std::string_view fields = parts.front().substr(spec.policy->name.size());
  if (fields.starts_with(':')) fields.remove_prefix(1);
  LabelPieces pieces;
  for (const std::string_view field : split(fields, ',')) {
    if (!field.empty()) pieces.fields.emplace_back(field);
  }
  pieces.settings.assign(parts.begin() + 1, parts.end());
  return pieces;
}

// The piece without the name of its setting, if its value alone identifies the setting.
std::string plain(std::string_view piece) {
  for (const std::string_view name : {"timing=", "positions="}) {
    if (piece.starts_with(name)) piece.remove_prefix(name.size());
  }
  return std::string(piece);
}

// The variants of one policy, by Spec::label().
using Variants = std::map<std::string, LabelPieces>;

std::vector<std::string> texts_of(std::string_view policy, const Variants& variants) {
  std::map<std::string, std::size_t> uses;
  for (const auto& [label, pieces] : variants) {
    for (const std::string& field : pieces.fields) ++uses[field];
  }
  std::vector<std::string> texts;
  for (const auto& [label, pieces] : variants) {
    std::string text(policy);
    char mark = ':';
    for (const std::string& field : pieces.fields) {
      // A field that all variants share does not tell them apart.
      if (variants.size() > 1 && uses[field] == variants.size()) continue;
      text += mark + field;
      mark = ',';
    }
    for (const std::string& setting : pieces.settings) text += " " + plain(setting);
    texts.push_back(std::move(text));
  }
  return shortened_apart(texts, longest_variant);
}

}  // namespace

std::vector<std::string> labels_of(std::span<const Spec> specs) {
  std::map<std::string_view, Variants> policies;
  for (const Spec& spec : specs) policies[spec.policy->name].emplace(spec.label(), pieces_of(spec));
  std::map<std::string, std::string> short_of;
  for (const auto& [policy, variants] : policies) {
    const std::vector<std::string> texts = texts_of(policy, variants);
    std::size_t i = 0;
    for (const auto& [label, pieces] : variants) {
      short_of[label] = texts[i];
      ++i;
    }
  }
  std::vector<std::string> labels;
  for (const Spec& spec : specs) labels.push_back(short_of.at(spec.label()));
  return labels;
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
