#include "kvcheck/cli/check/subject.h"

#include <algorithm>

#include "kvcheck/properties/conformance/conformance.h"
#include "kvcheck/properties/remote/plugin_family.h"
#include "kvcheck/properties/remote/process_family.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::cli {
namespace {

Result<NamedSubject> named(Result<std::unique_ptr<properties::Family>> family,
                           const std::string& option,
                           const std::string& word) {
  if (!family) return family.error();
  return NamedSubject{*std::move(family), "kvcheck check " + option + shell_quoted(word)};
}

}  // namespace

std::string& registering_program() {
  static std::string name;
  return name;
}

std::string shell_quoted(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Result<NamedSubject> subject_of(const Arguments& arguments, double seconds) {
  properties::RemoteOptions remote;
  if (seconds > 0) {
    remote.start_seconds = std::min(remote.start_seconds, seconds);
    remote.seconds = std::min(remote.seconds, seconds);
  }
  const bool plugin = arguments.given("plugin");
  const bool program = arguments.given("exec");
  if (plugin && program) return usage_error("--plugin and --exec are two subjects; expected one");
  const std::size_t operands = plugin || program ? 0 : 1;
  if (auto one = arguments.expect_operands("subject", operands, operands); !one) {
    return one.error();
  }
  if (plugin) {
    return named(properties::make_plugin_family(arguments.value("plugin"), remote), "--plugin ",
                 arguments.value("plugin"));
  }
  if (program) {
    return named(properties::make_process_family(arguments.value("exec"), remote), "--exec ",
                 arguments.value("exec"));
  }
  const std::string& operand = arguments.operands()[0];
  for (const properties::RegisteredSubject& subject : properties::registered_subjects()) {
    if (subject.name != operand) continue;
    return NamedSubject{subject.make(),
                        shell_quoted(registering_program()) + " " + shell_quoted(operand)};
  }
  const auto spec = parse_spec(operand);
  if (!spec) return spec.error();
  NamedSubject subject{properties::make_spec_family(*spec),
                       "kvcheck check " + shell_quoted(operand)};
  if (spec->storage) {
    subject.unseen = "storage=" + spec->storage->text() +
                     ", which no law looks at: laws watch tokens, and storage keeps them all";
  }
  return subject;
}

}  // namespace kv::cli
