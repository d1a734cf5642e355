#include "kvcheck/cli/policies/policies.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "kvcheck/base/text/text_stream.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/options/terminal.h"
#include "kvcheck/cli/policies/policies_text.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/sim/spec/spec_names.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 4> table = {{
    {.name = "show", .value = "NAME", .help = "the same as NAME alone", .list = true},
    {.name = "brief", .help = "one line per policy or preset; a terminal folds it"},
    {.name = "json", .help = "one JSON object per line, a policy or a preset each"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Lists policies and presets: fields, defaults, claims, source.\n"
    "\n"
    "Usage:  kvcheck policies [NAME...] [OPTIONS]\n"
    "\n"
    "NAME is a policy, such as h2o, or a preset, such as @h2o. It is described in full, with the\n"
    "settings of the cache. If fields or settings follow the name, as in @h2o:budget=64, their\n"
    "effects are described too. Without names all policies and presets are listed briefly.\n"
    "\n"
    "A spec selects a policy and the settings of the cache:\n"
    "  NAME[:FIELD=VALUE,...][;SETTING=VALUE]...\n"
    "A preset is a published system as a spec. Fields and settings after its name change it, as\n"
    "in @h2o:budget=64.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck policies\n"
    "  kvcheck policies --brief\n"
    "  kvcheck policies reservoir h2o\n"
    "  kvcheck policies @streaming-llm\n"
    "  kvcheck policies '@h2o:budget=64'\n"
    "  kvcheck policies --json\n";

// The requested policies and presets; all of them if no names were given.
struct Request {
  bool json = false;
  bool brief = false;
  std::vector<const PolicyEntry*> policies;
  std::vector<const Preset*> presets;
  std::vector<std::string> specs;  // the names that were given with fields or settings

  [[nodiscard]] bool everything() const {
    return policies.empty() && presets.empty() && specs.empty();
  }
};

Result<void> add_name(std::string_view word, Request& request) {
  if (word.find_first_of(":;") != std::string_view::npos) {
    const auto spec = parse_spec(word);
    if (!spec) return spec.error();
    request.specs.emplace_back(word);
    return {};
  }
  if (word.starts_with('@')) {
    const auto preset = preset_named(word.substr(1));
    if (!preset) return preset.error();
    request.presets.push_back(*preset);
    return {};
  }
  const auto policy = policy_named(word);
  if (!policy) return policy.error();
  request.policies.push_back(*policy);
  return {};
}

Result<Request> read_words(std::span<const std::string> given) {
  const auto arguments = Arguments::parse(table, given);
  if (!arguments) return arguments.error();
  Request request;
  request.json = arguments->given("json");
  request.brief = arguments->given("brief");
  if (request.json && request.brief) {
    return usage_error("--brief and --json are both given; expected one of them");
  }
  std::vector<std::string> names(arguments->operands().begin(), arguments->operands().end());
  for (const std::string& name : arguments->values("show")) names.push_back(name);
  for (const std::string& name : names) {
    if (auto done = add_name(name, request); !done) return done.error();
  }
  return request;
}

// A line for each policy, then for each preset.
void print_lines(const Request& request, std::ostream& out) {
  for (const PolicyEntry& policy : policy_registry()) {
    const auto& named = request.policies;
    if (request.everything() || std::ranges::find(named, &policy) != named.end()) {
      out << brief_line(policy.name, policy.summary) << "\n";
    }
  }
  for (const Preset& preset : presets()) {
    const auto& named = request.presets;
    if (request.everything() || std::ranges::find(named, &preset) != named.end()) {
      out << brief_line("@" + std::string(preset.name), preset.spec) << "\n";
    }
  }
  for (const std::string& spec : request.specs) {
    out << brief_line(spec, parse_spec(spec)->canonical()) << "\n";
  }
}

void print_everything(bool json, std::ostream& out) {
  if (!json) {
    out << "Policies, selected by NAME[:FIELD=VALUE,...][;SETTING=VALUE]...; settings: see kvcheck "
           "policies NAME\n\n";
  }
  for (const PolicyEntry& policy : policy_registry()) {
    out << (json ? policy_json(policy) : policy_text(policy)) << "\n";
  }
  if (!json) out << "Presets, selected by @NAME and changed by fields and settings after it\n\n";
  for (const Preset& preset : presets()) {
    out << (json ? preset_json(preset) : preset_text(preset)) << "\n";
  }
}

void print_named(const Request& request, std::ostream& out) {
  for (const PolicyEntry* policy : request.policies) {
    out << (request.json ? policy_json(*policy) : policy_details(*policy)) << "\n";
  }
  for (const Preset* preset : request.presets) {
    out << (request.json ? preset_json(*preset) : preset_details(*preset)) << "\n";
  }
  for (const std::string& spec : request.specs) {
    out << (request.json ? spec_json(spec) : spec_details(spec)) << "\n";
  }
}

Result<void> run(std::span<const std::string> arguments, Streams& streams) {
  const auto read = read_words(arguments);
  if (!read) return read.error();
  const Request& request = read.value();
  TextStream out;
  if (request.brief) {
    print_lines(request, out);
  } else if (request.everything()) {
    print_everything(request.json, out);
  } else {
    print_named(request, out);
  }
  // Programs read JSON, and --brief through a pipe, where nothing is folded.
  streams.out << folded(out.str(), request.json ? 0 : streams.columns);
  return {};
}

}  // namespace

constinit const Command policies_command = {
    .name = "policies",
    .summary = "list policies and presets: fields, defaults, claims, source",
    .help = help,
    .run = done_unless_error<run>,
    .options = table,
};

}  // namespace kv::cli
