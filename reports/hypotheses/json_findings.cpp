#include "kvcheck/reports/hypotheses/json_findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string_view>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/json_at.h"
#include "kvcheck/base/text/json_value.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/reports/compare/named_spec.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::reports {
namespace {

// Calls use(JsonAt) with the object of each line. Errors: no JSON, and what `use` complains of.
template <typename Use>
Result<void> for_each_line(const std::string& path, std::string_view of, const Use& use) {
  const auto file = MappedFile::open(path);
  if (!file) return file.error();
  const auto bytes = file->bytes();
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string expected = "a line of " + std::string(of);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const auto value = json_value(line, path, expected);
    if (!value) return value.error();
    Complaints complaints;
    use(JsonAt(*value, "line " + std::to_string(number), complaints));
    if (complaints.lines.empty()) continue;
    return malformed("'" + path + "': " + printable_line(complaints.lines.front()) + "; expected " +
                     expected);
  }
  return {};
}

// The largest share of cases like those that were tried which may break the law unseen: the exact
// upper limit of a binomial share of which none was seen.
std::string most_broken(std::uint64_t cases) {
  if (cases == 0) return "";
  const double share = 1 - std::pow(0.05, 1 / static_cast<double>(cases));
  std::array<char, 80> words{};
  std::snprintf(words.data(), words.size(), ", so at most %.2g %% of such cases break it (95 %%)",
                100 * share);
  return words.data();
}

bool is_of(const std::string& words, const std::string& subject) {
  if (words == subject) return true;
  const auto spec = parse_spec(subject);
  return spec && names_spec(words, *spec);
}

}  // namespace

Result<JsonFinding> law_finding(const std::string& path, const std::string& law) {
  JsonFinding finding{.verdict = Verdict::holds};
  std::size_t subjects = 0;
  const auto read_law = [&](const std::string& subject, const JsonAt& one) {
    const std::string status = one.need("status").text("a status");
    const auto cases = one.need("cases").unsigned64("a count");
    if (status == "not_applicable") return;
    if (status != "held" && status != "broken" && status != "not_run") {
      one.need("status").expected("held, broken, not_run or not_applicable");
    }
    ++subjects;
    if (status == "broken") finding.verdict = Verdict::fails;
    if (status == "not_run" && finding.verdict == Verdict::holds) {
      finding.verdict = Verdict::undecided;
    }
    finding.words += (finding.words.empty() ? "" : "; ") + subject + ": " +
                     (status == "not_run" ? "not run" : status) + " in " + std::to_string(cases) +
                     " cases" + (status == "held" ? most_broken(cases) : "");
  };
  const auto read = for_each_line(path, "kvcheck check --json", [&](const JsonAt& line) {
    const std::string subject = line.need("subject").text("a name");
    const JsonAt laws = line.need("laws");
    const std::size_t count = laws.size("a list of laws");
    for (std::size_t i = 0; i < count; ++i) {
      if (laws[i].need("law").text("an id") == law) read_law(subject, laws[i]);
    }
  });
  if (!read) return read.error();
  if (subjects > 0) return finding;
  return usage_error("'" + path + "' has no subject to which the law '" + law + "' applies");
}

Result<JsonFinding> uniformity_finding(const std::string& path, const std::string& subject) {
  JsonFinding finding;
  std::size_t found = 0;
  const auto read = for_each_line(path, "kvcheck uniformity --json", [&](const JsonAt& line) {
    const bool right = is_of(subject, line.need("spec").text("a spec"));
    const bool uniform = line.need("uniform").boolean("true or false");
    const std::string sentence = line.need("sentence").text("a sentence");
    if (!right) return;
    ++found;
    finding = {.verdict = uniform ? Verdict::holds : Verdict::fails, .words = sentence};
  });
  if (!read) return read.error();
  if (found == 1) return finding;
  return usage_error("'" + path + "' has " + (found == 0 ? "no line" : "several lines") + " of '" +
                     subject + "'; expected one");
}

}  // namespace kv::reports
