// The words of a query design.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/traces/query_sample.h"

namespace kv {
namespace {

constexpr std::uint64_t most_tokens = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view every_word = "every:";
constexpr std::array<std::string_view, 3> part_words = {"prompt", "question", "answer"};

std::string_view word_of(StreamPart part) {
  return part_words.at(static_cast<std::size_t>(part));
}

Error wrong_part(std::string_view part) {
  return usage_error("the part " + shown(part) +
                     " of the queries is not understood; expected K/N (K of every N at random), "
                     "every:N, positions such as 0-511, or prompt, question or answer");
}

Error two_selections(std::string_view part) {
  return usage_error("the part " + shown(part) +
                     " of the queries is a second selection; expected one K/N or every:N, and "
                     "positions");
}

Result<void> read_drawn(std::string_view part, std::size_t slash, QueryDesign& design) {
  if (design.samples()) return two_selections(part);
  const auto block =
      parse_count(part.substr(slash + 1), "the block of the queries", 1, most_tokens);
  if (!block) return block.error();
  const auto drawn =
      parse_count(part.substr(0, slash), "the number of queries drawn of every block", 1, *block);
  if (!drawn) return drawn.error();
  design.drawn = static_cast<std::size_t>(*drawn);
  design.block = static_cast<std::size_t>(*block);
  return {};
}

Result<void> read_every(std::string_view part, QueryDesign& design) {
  if (design.samples()) return two_selections(part);
  const std::string_view numbers = part.substr(every_word.size());
  const std::size_t plus = numbers.find('+');
  const auto every =
      parse_count(numbers.substr(0, plus), "the step of the queries", 1, most_tokens);
  if (!every) return every.error();
  design.every = static_cast<std::size_t>(*every);
  if (plus == std::string_view::npos) return {};
  const auto offset =
      parse_count(numbers.substr(plus + 1), "the first of the regular queries", 0, *every - 1);
  if (!offset) return offset.error();
  design.offset = static_cast<std::size_t>(*offset);
  return {};
}

Result<void> read_span(std::string_view part, QueryDesign& design) {
  const std::size_t dash = part.find('-');
  const bool digits = !part.empty() && part.find_first_not_of("0123456789-") == part.npos;
  if (!digits || part.front() == '-' || part.back() == '-') return wrong_part(part);
  const auto first = parse_count(part.substr(0, dash), "a query", 0, most_tokens - 1);
  if (!first) return first.error();
  const std::string_view end = dash == std::string_view::npos ? part : part.substr(dash + 1);
  const auto last = parse_count(end, "the last query of a span", *first, most_tokens - 1);
  if (!last) return last.error();
  design.spans.push_back({static_cast<Position>(*first), static_cast<Position>(*last + 1)});
  return {};
}

// Whether the word is that of a part, which the design then has.
bool read_part(std::string_view word, QueryDesign& design) {
  const auto found = std::ranges::find(part_words, word);
  if (found == part_words.end()) return false;
  const auto part = static_cast<StreamPart>(found - part_words.begin());
  const auto at = std::ranges::lower_bound(design.parts, part);
  if (at == design.parts.end() || *at != part) design.parts.insert(at, part);
  return true;
}

}  // namespace

void join_spans(QueryDesign& design) {
  std::vector<Run>& spans = design.spans;
  std::ranges::sort(spans, {}, &Run::first);
  std::vector<Run> joined;
  for (const Run& span : spans) {
    if (joined.empty() || span.first > joined.back().last) {
      joined.push_back(span);
    } else {
      joined.back().last = std::max(joined.back().last, span.last);
    }
  }
  spans = std::move(joined);
}

Result<QueryDesign> parse_query_design(std::string_view text) {
  QueryDesign design;
  for (const std::string_view part : split(text, ',')) {
    if (read_part(part, design)) continue;
    const std::size_t slash = part.find('/');
    const Result<void> read = slash != std::string_view::npos ? read_drawn(part, slash, design)
                              : part.starts_with(every_word)  ? read_every(part, design)
                                                              : read_span(part, design);
    if (!read) return read.error();
  }
  join_spans(design);
  return design;
}

std::string text_of(const QueryDesign& design) {
  std::vector<std::string> parts;
  if (design.drawn > 0) {
    parts.push_back(std::to_string(design.drawn) + "/" + std::to_string(design.block));
  }
  if (design.every > 0) {
    parts.push_back(std::string(every_word) + std::to_string(design.every) +
                    (design.offset ? "+" + std::to_string(*design.offset) : ""));
  }
  for (const Run& span : design.spans) {
    parts.push_back(std::to_string(span.first) +
                    (span.size() == 1 ? "" : "-" + std::to_string(span.last - 1)));
  }
  for (const StreamPart part : design.parts) parts.emplace_back(word_of(part));
  return join(parts, ",");
}

}  // namespace kv
