#include <boost/json/parse.hpp>
#include <functional>

#include "kvcheck/base/check.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/properties/remote/contract_json.h"
#include "kvcheck/properties/remote/facts_json.h"

namespace kv::fuzz {
namespace {

using namespace properties;

constexpr std::size_t queries = 2;  // of the call whose facts are read

// What `read` makes of the JSON, written by `write`; empty if it complains.
using Round = std::function<std::string(const JsonAt&)>;

bool try_round(const boost::json::value& json, const Round& round) {
  Complaints complaints;
  const std::string text = round(JsonAt(json, "value", complaints));
  if (!complaints.lines.empty()) {
    for (const std::string& line : complaints.lines) KV_CHECK(!line.empty());
    return false;
  }
  Complaints none{.strict = true, .lines = {}};
  boost::system::error_code failed;
  const boost::json::value again = boost::json::parse(text, failed);
  KV_CHECK(!failed);
  KV_CHECK(round(JsonAt(again, "value", none)) == text);
  KV_CHECK(none.lines.empty());
  return true;
}

}  // namespace

// Each reader takes the same JSON; at most one of them accepts an object with fields.
bool declarations(Input input) {
  boost::system::error_code failed;
  const boost::json::value json = boost::json::parse(text_of(input), failed);
  if (failed) return false;
  const Setup defaults{.layers = 3, .sinks = 1, .recent = 2, .budget = 6};
  const bool setup =
      try_round(json, [&](const JsonAt& at) { return setup_json(read_setup(at, defaults)); });
  const bool contract = try_round(json, [&](const JsonAt& at) {
    return contract_json(read_contract(at, defaults, "a cache"));
  });
  const bool facts =
      try_round(json, [&](const JsonAt& at) { return unit_json(read_unit(at, queries), queries); });
  return setup || contract || facts;
}

}  // namespace kv::fuzz
