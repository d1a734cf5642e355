#include "cli/subject.h"

#include "properties/spec_subject.h"
#include "sim/spec.h"

namespace kv::cli {

std::string shell_quoted(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Result<NamedSubject> subject_of(const Words& words) {
  if (auto one = words.expect_operands("subject", 1, 1); !one) return one.error();
  const std::string& operand = words.operands()[0];
  const auto spec = parse_spec(operand);
  if (!spec) return spec.error();
  return NamedSubject{make_spec_family(*spec), shell_quoted(operand)};
}

}  // namespace kv::cli
