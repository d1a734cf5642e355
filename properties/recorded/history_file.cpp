#include "kvcheck/properties/recorded/history_file.h"

#include <algorithm>
#include <boost/json/parse.hpp>

#include "kvcheck/base/text/json_at.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/properties/battery/contradiction.h"
#include "kvcheck/properties/family.h"
#include "kvcheck/properties/heads.h"
#include "kvcheck/properties/recorded/history_lines.h"
#include "kvcheck/properties/remote/contract_json.h"
#include "kvcheck/properties/stop.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

constexpr std::string_view mark = "kvcheck_history";
constexpr std::size_t most_units = std::size_t{1} << 16U;

bool is_head(const boost::json::value& line) {
  return line.is_object() && line.get_object().contains(mark);
}

Stream read_stream(const JsonAt& at) {
  at.only_ever({"kind", "seed", "planted"});
  Stream stream;
  const JsonAt word = at.need("kind");
  const auto kind = stream_kind_of(word.text("a kind of stream"));
  if (kind) {
    stream.kind = *kind;
  } else if (word.is_string()) {
    word.complain(kind.error().message);
  }
  const auto number = [&](std::string_view name) {
    const auto field = at.find(name);
    return field ? static_cast<std::uint32_t>(field->integer("a whole number", 0, 0xffffffff)) : 0;
  };
  stream.seed = number("seed");
  stream.planted = number("planted");
  return stream;
}

HeadGrid grid_of(const Setup& setup) {
  return {setup.layers, setup.kv_heads, setup.group};
}

// Complains of sizes whose products could overflow, or of which a file could not state a call.
void check_units(const JsonAt& at, const Setup& setup) {
  constexpr std::uint32_t most = most_units;
  if (std::max({setup.layers, setup.kv_heads, setup.group, setup.sequences}) > most) {
    return at.complain("no size may be above " + std::to_string(most));
  }
  // Below 2^16 each, two products of two sizes cannot overflow.
  const std::uint64_t layers = std::uint64_t{setup.layers} * setup.sequences;
  const std::uint64_t heads = std::uint64_t{setup.kv_heads} * setup.group;
  if (layers > most || heads > most || layers * heads > most) {
    at.complain("the setup has more than " + std::to_string(most) + " units");
  }
}

// Complains of what `check` refuses too; claims that no law knows are complained of already.
void check_contract(const JsonAt& at, const RunHead& head) {
  const std::string wrong = contradiction_in(head.contract);
  if (!wrong.empty()) at.complain("the contract " + wrong);
  if (head.contract.reference.empty()) return;
  // What is no spec for these sizes is compared with nothing, and the law says so.
  const auto spec = parse_spec(head.contract.reference);
  if (!spec) return;
  if (const auto fits = check_grid(*spec, grid_of(head.setup)); !fits) {
    at.complain("reference: " + fits.error().message);
  }
}

// Sizes that only the contract states are those of the setup too, from which laws count.
void take_sizes(const JsonAt& setup, RunHead& head) {
  if (!setup.find("sinks")) head.setup.sinks = head.contract.sinks;
  if (!setup.find("recent")) head.setup.recent = head.contract.recent;
  if (!setup.find("budget")) head.setup.budget = head.contract.budget;
}

// What a word of the command line says: JSON if it is some, else itself.
boost::json::value value_of(const std::string& word) {
  boost::system::error_code failed;
  boost::json::value value = boost::json::parse(word, failed);
  return failed ? boost::json::value(word) : value;
}

}  // namespace

Error HistoryFile::wrong(const std::string& sentence) const {
  return malformed(name_ + ", line " + std::to_string(at_.line) + ": " + printable_line(sentence));
}

Result<std::optional<boost::json::value>> HistoryFile::next_line() {
  while (at_.offset < text_.size()) {
    stop_if_asked();
    before_ = at_;
    const std::size_t end = std::min(text_.find('\n', at_.offset), text_.size());
    const std::string_view line = text_.substr(at_.offset, end - at_.offset);
    at_ = {std::min(end + 1, text_.size()), at_.line + 1};
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (line.size() > longest_history_line) {
      return wrong("the line has " + std::to_string(line.size()) + " bytes; expected at most " +
                   std::to_string(longest_history_line) +
                   ": state what was evicted instead of what was stored, or record fewer units");
    }
    boost::system::error_code failed;
    boost::json::value value = boost::json::parse(line, failed);
    if (failed) return wrong("this is not a line of JSON: " + failed.message());
    if (!value.is_object()) return wrong("expected a JSON object, found another value");
    return std::optional(std::move(value));
  }
  return std::optional<boost::json::value>();
}

Result<std::optional<RunHead>> HistoryFile::next_run() {
  for (;;) {
    auto line = next_line();
    if (!line) return line.error();
    if (!*line) return std::optional<RunHead>();
    if (!is_head(**line)) {
      // Lines of a run that was not read to its end.
      if (run_.line > 0) continue;
      return wrong("expected the head of a run, an object with the field \"" + std::string(mark) +
                   "\"");
    }
    auto head = read_head(**line);
    if (!head) return head.error();
    run_ = at_;
    return std::optional(*std::move(head));
  }
}

boost::json::value HistoryFile::declared_in(const boost::json::value& line,
                                            const Setup& setup) const {
  boost::json::value declared = boost::json::object();
  if (redeclared_.spec) {
    Contract contract = contract_of(*redeclared_.spec, grid_of(setup));
    declared = value_of(contract_json(contract));
  } else if (const auto* own = line.get_object().if_contains("contract")) {
    declared = *own;
  }
  if (!declared.is_object()) return declared;
  for (const auto& [field, word] : redeclared_.fields) {
    declared.get_object()[field] = value_of(word);
  }
  return declared;
}

Result<RunHead> HistoryFile::read_head(const boost::json::value& line) const {
  Complaints complaints{.strict = true, .lines = {}};
  const JsonAt at(line, "head", complaints);
  at.only_ever({mark, "name", "setup", "contract", "stream", "draws"});
  static_cast<void>(
      at.need(mark).integer("the version, which is " + std::to_string(history_version),
                            history_version, history_version));
  const auto name = at.find("name");
  RunHead head;
  head.line = at_.line;
  head.setup = read_setup(at.need("setup"), {});
  if (const auto stream = at.find("stream")) head.stream = read_stream(*stream);
  if (const auto draws = at.find("draws")) head.draws = draws->boolean("a flag");
  check_units(at, head.setup);
  // Of other sizes not even a contract can be read.
  if (!complaints.lines.empty()) return wrong(complaints.lines.front());
  const boost::json::value declared = declared_in(line, head.setup);
  head.contract = read_contract(JsonAt(declared, "contract", complaints), head.setup,
                                name ? name->text("a name") : "a recorded cache");
  take_sizes(at.need("setup"), head);
  check_contract(at, head);
  if (!complaints.lines.empty()) return wrong(complaints.lines.front());
  return head;
}

}  // namespace kv::properties
