#include "kvcheck/properties/laws/judging/judge.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kvcheck/properties/laws/judging/walk.h"

namespace kv::properties {
namespace {

// Most subjects report their rows in order.
Tokens sorted(Tokens tokens) {
  if (!std::ranges::is_sorted(tokens)) std::ranges::sort(tokens);
  return tokens;
}

void append_token(std::string& text, Token token) {
  if (!text.empty() && text.back() != '-') text += ' ';
  text += token.position < 0 ? "?" : std::to_string(token.position);
  if (token.variant != 0) text += "v" + std::to_string(token.variant);
}

}  // namespace

bool Step::fed() const {
  return event->call.kind == Call::Kind::feed && !event->refused && !event->fed.empty();
}

std::size_t Step::tokens_before() const {
  return event->branch.size() - std::min(event->fed.size(), event->branch.size());
}

std::span<const Row> Step::stored_before(std::size_t unit) const {
  if (before == nullptr || unit >= before->units.size()) return {};
  return before->units[unit].stored;
}

std::vector<Step> steps_of(const History& history) {
  std::vector<Step> steps;
  walk(history, [&](const Event& event, std::size_t index, const Lineage& line) {
    steps.push_back({.index = index,
                     .event = &event,
                     .before = line.before == nullptr ? nullptr : &line.before->facts,
                     .chunk = line.begins.empty() ? 0 : event.branch.size() - line.begins.back(),
                     .prompt = line.begins.size() > 1 ? line.begins[1] : event.branch.size(),
                     .was_full = line.was_full});
  });
  return steps;
}

Tokens tokens_of(std::span<const Row> rows) {
  Tokens tokens;
  tokens.reserve(rows.size());
  for (const Row& row : rows) tokens.push_back(row.value);
  return sorted(std::move(tokens));
}

// A mask of a wrong shape is the finding of size.mask-width; here it must only not be read past.
bool sees(const UnitFacts& unit, std::size_t query, std::size_t row) {
  const std::size_t entry = query * unit.mask_width + row;
  return row < unit.mask_width && row < unit.returned.size() && entry < unit.visible.size() &&
         unit.visible[entry] != 0;
}

Tokens visible_to(const UnitFacts& unit, std::size_t query) {
  Tokens tokens;
  tokens.reserve(unit.returned.size());
  for (std::size_t row = 0; row < unit.returned.size(); ++row) {
    if (sees(unit, query, row)) tokens.push_back(unit.returned[row].value);
  }
  return sorted(std::move(tokens));
}

Tokens chunk_up_to(const Step& step, std::size_t query) {
  const auto& fed = step.event->fed;
  return {fed.begin(), fed.begin() + static_cast<std::ptrdiff_t>(query) + 1};
}

std::vector<Row> seen_rows(const UnitFacts& unit, std::size_t queries) {
  std::vector<Row> rows;
  for (std::size_t row = 0; row < unit.returned.size(); ++row) {
    for (std::size_t query = 0; query < queries; ++query) {
      if (!sees(unit, query, row)) continue;
      rows.push_back(unit.returned[row]);
      break;
    }
  }
  return rows;
}

Tokens minus(const Tokens& from, const Tokens& what) {
  Tokens out;
  out.reserve(from.size());
  std::ranges::set_difference(from, what, std::back_inserter(out));
  return out;
}

Tokens common(const Tokens& a, const Tokens& b) {
  Tokens out;
  std::ranges::set_intersection(a, b, std::back_inserter(out));
  return out;
}

Tokens joined(const Tokens& a, const Tokens& b) {
  Tokens out;
  out.reserve(a.size() + b.size());
  std::ranges::set_union(a, b, std::back_inserter(out));
  return out;
}

bool includes(const Tokens& all, const Tokens& some) {
  return std::ranges::includes(all, some);
}

bool contains(const Tokens& all, Token token) {
  return std::ranges::binary_search(all, token);
}

Tokens between(std::span<const Token> tokens, std::int64_t begin, std::int64_t end) {
  const auto at = [&](std::int64_t position) {
    return std::ranges::partition_point(
        tokens, [position](const Token& token) { return token.position < position; });
  };
  const auto first = at(begin);
  return {first, std::max(first, at(end))};
}

std::string text_of(const Tokens& tokens) {
  std::string text;
  for (std::size_t i = 0; i < tokens.size();) {
    std::size_t end = i + 1;
    while (end < tokens.size() && tokens[end].variant == tokens[i].variant &&
           tokens[end].position == tokens[end - 1].position + 1) {
      ++end;
    }
    append_token(text, tokens[i]);
    // Two in a row are as short written out as they are with a hyphen.
    if (end - i >= 3) {
      text += '-';
      append_token(text, tokens[end - 1]);
    } else {
      for (std::size_t j = i + 1; j < end; ++j) append_token(text, tokens[j]);
    }
    i = end;
  }
  return text.empty() ? "nothing" : text;
}

std::string query_text(const Event& event, std::size_t query) {
  std::string text = "query " + text_of({event.fed[query]});
  if (event.fed.size() > 1) text += " of chunk " + text_of(event.fed);
  return text;
}

UnitContracts::UnitContracts(const Contract& contract) : all_(contract) {
  for (std::size_t unit = 0; unit < contract.budgets.size(); ++unit) {
    declared_.push_back(contract.of_unit(unit));
  }
  own_ = declared_;
  if (declared_.empty() && contract.compress != Compress::always) declared_.push_back(contract);
}

void UnitContracts::stand_at(const Fed& fed, bool is_prompt) {
  if (all_.compress == Compress::always) return;
  own_.clear();
  for (const Contract& declared : declared_) {
    own_.push_back(declared.at(fed));
    // The queries of the second call stand where the prompt ended, and the timing is theirs.
    if (!is_prompt && !declared.grows()) own_.back().timing = declared.timing;
  }
}

bool has_no_middle(const Contract& contract) {
  return contract.budget > 0 && !contract.uneven() &&
         std::uint64_t{contract.sinks} + contract.recent == contract.budget;
}

// Under causal trim-then-attend the chunk takes its room out of the window before any query
// attends; what is left of the window, and the chunk so far, is what a query is sure to see.
std::uint64_t latest_seen(const Contract& contract, std::uint64_t chunk, std::uint64_t query) {
  const std::uint64_t recent = contract.recent;
  if (contract.visibility == Visibility::causal && contract.timing == Timing::trim_then_attend) {
    return (recent > chunk ? recent - chunk : 0) + query + 1;
  }
  return std::max<std::uint64_t>(recent, 1);
}

Finding finding_at(const Step& step, std::size_t unit, std::string expected, std::string seen) {
  return {
      .expected = std::move(expected), .seen = std::move(seen), .event = step.index, .unit = unit};
}

std::string rows_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " row" : " rows");
}

WhyNot unless_bounded(const Contract& contract) {
  if (contract.budget > 0) return {};
  return "no budget is declared: nothing is ever evicted";
}

WhyNot unless_sinks(const Contract& contract) {
  if (contract.sinks > 0) return {};
  return "no sinks are declared";
}

WhyNot unless_prompt_decides(const Contract& contract) {
  if (contract.grows()) return "compress=prompt+grow: what is kept depends on the first chunk";
  if (contract.ratio > 0) return "a ratio is declared: what is kept depends on the first chunk";
  return {};
}

std::string UnitView::after_text() const {
  return " after " + std::to_string(branch().size()) + " tokens";
}

Finding QueryView::finding(const std::string& expected,
                           std::string seen,
                           std::optional<Tokens> should_see) const {
  Finding found = UnitView::finding(query_text(event(), query) + " " + expected, std::move(seen));
  found.query = query;
  found.should_see = std::move(should_see);
  return found;
}

}  // namespace kv::properties
