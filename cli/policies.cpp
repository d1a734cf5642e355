#include "cli/policies.h"

#include <array>
#include <ostream>
#include <vector>

#include "base/words.h"
#include "cli/policies_text.h"

namespace kv::cli {
namespace {

constexpr std::string_view help_text =
    R"(Lists policies and presets with their fields, defaults, claims and sources.

Usage:  kvcheck policies [NAME | @PRESET]... [--json]

A spec chooses a policy and how the cache runs it:  NAME[:FIELD=VALUE,...][;SETTING=VALUE]...
A preset is a published system as a spec, and may be changed by what follows it, as in
@h2o:budget=64. Without names all of them are listed in short.

  NAME              tell all about this policy and the cache's settings
  @PRESET           tell all about this preset; --show @PRESET says the same
      --json        one JSON object per line, a policy or a preset each
  -h, --help        this text

Examples:
  kvcheck policies
  kvcheck policies reservoir h2o
  kvcheck policies --show @streaming-llm
  kvcheck policies --json
)";

// What was asked for; all of it when no names were given.
struct Request {
  bool json = false;
  std::vector<const PolicyEntry*> policies;
  std::vector<const Preset*> presets;

  [[nodiscard]] bool everything() const { return policies.empty() && presets.empty(); }
};

Result<void> add_name(const std::string& word, Request& request) {
  const bool is_preset = word.starts_with('@');
  if (is_preset) {
    if (const Preset* preset = find_preset(word.substr(1))) {
      request.presets.push_back(preset);
      return {};
    }
  } else if (const PolicyEntry* policy = find_policy(word)) {
    request.policies.push_back(policy);
    return {};
  }
  std::vector<std::string_view> names;
  for (const PolicyEntry& policy : policy_registry()) {
    if (!is_preset) names.push_back(policy.name);
  }
  for (const Preset& preset : presets()) {
    if (is_preset) names.push_back(preset.name);
  }
  return usage_error(unknown_word(is_preset ? "preset" : "policy",
                                  is_preset ? std::string_view(word).substr(1) : word, names));
}

Result<Request> read_words(std::span<const std::string> words) {
  constexpr std::array<std::string_view, 3> options = {"--json", "--show", "--help"};
  Request request;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--json") {
      request.json = true;
      continue;
    }
    const bool show = words[i] == "--show";
    if (show && ++i == words.size()) {
      return usage_error("--show needs the name of a preset, as in --show @streaming-llm");
    }
    if (!show && words[i].starts_with('-')) {
      return usage_error(unknown_word("option", words[i], options));
    }
    if (auto done = add_name(words[i], request); !done) return done.error();
  }
  return request;
}

void print_everything(bool json, std::ostream& out) {
  if (!json) {
    out << "Policies, chosen by NAME[:FIELD=VALUE,...][;SETTING=VALUE]...; settings: see kvcheck "
           "policies "
           "NAME\n\n";
  }
  for (const PolicyEntry& policy : policy_registry()) {
    out << (json ? policy_json(policy) : policy_text(policy)) << "\n";
  }
  if (!json) out << "Presets, chosen by @NAME and changed by fields and settings after it\n\n";
  for (const Preset& preset : presets()) {
    out << (json ? preset_json(preset) : preset_text(preset)) << "\n";
  }
}

Result<void> run(std::span<const std::string> words, Streams& streams) {
  const auto read = read_words(words);
  if (!read) return read.error();
  const Request& request = read.value();
  if (request.everything()) {
    print_everything(request.json, streams.out);
    return {};
  }
  for (const PolicyEntry* policy : request.policies) {
    streams.out << (request.json ? policy_json(*policy) : policy_details(*policy)) << "\n";
  }
  for (const Preset* preset : request.presets) {
    streams.out << (request.json ? preset_json(*preset) : preset_details(*preset)) << "\n";
  }
  return {};
}

}  // namespace

const Command policies_command = {
    "policies", "list policies and presets: fields, defaults, claims, source", help_text, run};

}  // namespace kv::cli
