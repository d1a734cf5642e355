#include <fcntl.h>
#include <unistd.h>

#include <boost/json/parse.hpp>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/properties/remote/serve.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::fuzz {
namespace {

// Whether a request asks for more than a target should compute: a host may ask for any sizes.
bool is_large(std::string_view line) {
  std::size_t digits = 0;
  for (const char c : line) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 2) return true;
  }
  return false;
}

}  // namespace

// The lines that a host sends to the program that serves a cache. Each request gets one line of
// JSON, and so does each draw that a cache asks for.
bool requests(Input input) {
  std::size_t asked = 0;
  std::string lines;
  for (const std::string_view line : split(text_of(input), '\n')) {
    if (is_large(line) || asked == 32) continue;
    lines.append(line).append("\n");
    ++asked;
  }
  const int in = ::open(scratch_file("requests", lines).c_str(), O_RDONLY | O_CLOEXEC);
  const std::string path = scratch_file("answers", "");
  const int out = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  KV_CHECK(in >= 0 && out >= 0);
  const auto make = [] {
    return Result<std::unique_ptr<properties::Family>>(
        properties::make_spec_family(parse_spec("random:sinks=1,recent=2,budget=6").value()));
  };
  properties::serve_family(make, in, out);
  ::close(in);
  ::close(out);
  bool served = false;
  std::string answers = bytes_of(path);
  KV_CHECK(answers.empty() == lines.empty() && (lines.empty() || answers.ends_with('\n')));
  if (!answers.empty()) answers.pop_back();
  for (const std::string_view line : split(answers, '\n')) {
    if (answers.empty()) break;
    boost::system::error_code failed;
    const boost::json::value answer = boost::json::parse(line, failed);
    KV_CHECK(!failed && answer.is_object());
    served |= !answer.as_object().contains("error");
  }
  return served;
}

}  // namespace kv::fuzz
