#include "kvcheck/traces/query_sample.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/text.h"

namespace kv {
namespace {

// How many queries are drawn of those of a block that are in no span.
std::size_t drawn_of(const QueryDesign& design, std::size_t outside) {
  return (outside * design.drawn + design.block - 1) / design.block;
}

// Selection sampling: each query is taken with the probability that the rest of the draw leaves it,
// so that all subsets of that size are equally likely. Source: Knuth, The Art of Computer
// Programming, volume 2, section 3.4.2, algorithm S.
void draw_block(const QueryDesign& design,
                std::size_t first,
                std::size_t last,
                const Rng& rng,
                std::vector<Position>& queries) {
  std::size_t left = outside_spans(design, first, last);
  std::size_t needed = drawn_of(design, left);
  for (std::size_t at = first; at < last; ++at) {
    const auto query = static_cast<Position>(at);
    if (in_spans(design, query)) continue;
    if (rng.below(left, query) < needed) {
      queries.push_back(query);
      --needed;
    }
    --left;
  }
}

Result<void> check_fit(const QueryDesign& design, std::size_t tokens) {
  const auto longer = [&](const std::string& what, std::size_t size) {
    return usage_error(what + " of the queries is " + std::to_string(size) + ", and the text has " +
                       std::to_string(tokens) + " tokens; expected at most as many");
  };
  if (design.block > tokens) return longer("the block", design.block);
  if (design.every > tokens) return longer("the step", design.every);
  if (design.spans.empty() || design.spans.back().last <= tokens) return {};
  return usage_error("the queries go up to " + std::to_string(design.spans.back().last - 1) +
                     ", and the text has " + std::to_string(tokens) +
                     " tokens; expected queries from 0 to " + std::to_string(tokens - 1));
}

// Puts spans in place of the parts.
Result<void> place_parts(QueryDesign& design, std::size_t tokens, const Marks& marks) {
  for (const StreamPart part : design.parts) {
    const std::string named = "the queries of the " + text_of({.parts = {part}}) + " are named, ";
    if (!marks.known()) {
      return usage_error(named +
                         "and it is not marked where the prompt ends; expected a marked prompt");
    }
    const std::array<std::size_t, 4> ends = {0, marks.prompt, marks.prompt + marks.question,
                                             tokens};
    const auto index = static_cast<std::size_t>(part);
    const std::size_t first = ends.at(index);
    const std::size_t last = std::min(ends.at(index + 1), tokens);
    if (first >= last) {
      return usage_error(named + "and it has no token; the prompt has " +
                         std::to_string(marks.prompt) + " tokens, the question " +
                         std::to_string(marks.question) + ", and the text " +
                         std::to_string(tokens));
    }
    design.spans.push_back({static_cast<Position>(first), static_cast<Position>(last)});
  }
  design.parts.clear();
  join_spans(design);
  return {};
}

Error wrong_queries(const std::string& what) {
  return malformed("tensor 'queries' " + what);
}

Result<void> check_order(std::span<const Position> queries, std::size_t tokens) {
  if (queries.empty()) return wrong_queries("is empty; expected at least one query");
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (queries[i] >= tokens) {
      // Files have signed numbers.
      const auto found = static_cast<std::int32_t>(queries[i]);
      return wrong_queries("has " + std::to_string(found) + " at " + std::to_string(i) +
                           "; expected 0 to " + std::to_string(tokens - 1));
    }
    if (i > 0 && queries[i] <= queries[i - 1]) {
      return wrong_queries("has " + std::to_string(queries[i]) + " at " + std::to_string(i) +
                           " after " + std::to_string(queries[i - 1]) +
                           "; expected each once, increasing");
    }
  }
  return {};
}

// How many of the queries in [first, last) are in no span.
std::size_t count_outside(std::span<const Position> queries,
                          const QueryDesign& design,
                          std::size_t first,
                          std::size_t last) {
  const auto begin = std::ranges::lower_bound(queries, first);
  const auto end = std::ranges::lower_bound(queries, last);
  return static_cast<std::size_t>(
      std::count_if(begin, end, [&](Position query) { return !in_spans(design, query); }));
}

Result<void> check_blocks(std::span<const Position> queries,
                          const QueryDesign& design,
                          std::size_t tokens) {
  for (std::size_t first = 0; first < tokens; first += design.block) {
    const std::size_t last = std::min(tokens, first + design.block);
    const std::size_t found = count_outside(queries, design, first, last);
    const std::size_t most = drawn_of(design, outside_spans(design, first, last));
    if (found == most || (last == tokens && found <= drawn_of(design, design.block))) continue;
    return wrong_queries("has " + std::to_string(found) + " queries from " + std::to_string(first) +
                         " to " + std::to_string(last - 1) + "; expected " + std::to_string(most) +
                         ", by query_design " + shown(text_of(design)));
  }
  return {};
}

// Regular queries leave nothing to chance, so that each is known.
Result<void> check_regular(std::span<const Position> queries, const QueryDesign& design) {
  const std::size_t offset = design.offset.value_or(0);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (in_spans(design, queries[i])) continue;
    if (design.every > 0 && queries[i] % design.every == offset) continue;
    return wrong_queries("has " + std::to_string(queries[i]) + " at " + std::to_string(i) +
                         ", which query_design " + shown(text_of(design)) +
                         " does not select; expected no such query");
  }
  return {};
}

}  // namespace

bool in_spans(const QueryDesign& design, Position query) {
  const auto after = std::ranges::upper_bound(design.spans, query, {}, &Run::first);
  return after != design.spans.begin() && query < std::prev(after)->last;
}

void cut_spans(QueryDesign& design, std::size_t tokens) {
  std::erase_if(design.spans, [&](const Run& span) { return span.first >= tokens; });
  if (design.spans.empty()) return;
  Run& last = design.spans.back();
  last.last = static_cast<Position>(std::min<std::size_t>(last.last, tokens));
}

std::size_t outside_spans(const QueryDesign& design, std::size_t first, std::size_t last) {
  std::size_t inside = 0;
  // From the first span that ends behind `first`: a design may have as many spans as blocks, and
  // each block asks.
  auto span = std::ranges::upper_bound(design.spans, first, {}, &Run::last);
  for (; span != design.spans.end() && span->first < last; ++span) {
    const std::size_t begin = std::max<std::size_t>(first, span->first);
    inside += std::min<std::size_t>(last, span->last) - begin;
  }
  return last - first - inside;
}

Result<DrawnQueries> draw_queries(const QueryDesign& given,
                                  std::size_t tokens,
                                  std::uint64_t seed,
                                  const Marks& marks) {
  if (Result<void> fits = check_fit(given, tokens); !fits) return fits.error();
  DrawnQueries drawn{.design = given, .queries = {}};
  const QueryDesign& design = drawn.design;
  if (Result<void> placed = place_parts(drawn.design, tokens, marks); !placed) {
    return placed.error();
  }
  const Rng rng(seed_for(seed, "queries"));
  std::vector<Position>& queries = drawn.queries;
  for (const Run& span : design.spans) {
    for (Position query = span.first; query < span.last; ++query) queries.push_back(query);
  }
  for (std::size_t first = 0; design.drawn > 0 && first < tokens; first += design.block) {
    draw_block(design, first, std::min(tokens, first + design.block), rng, queries);
  }
  if (design.every > 0 && !design.offset) {
    drawn.design.offset = static_cast<std::size_t>(rng.below(design.every, 0));
  }
  if (design.every > 0) {
    for (std::size_t at = *drawn.design.offset; at < tokens; at += design.every) {
      const auto query = static_cast<Position>(at);
      if (!in_spans(design, query)) queries.push_back(query);
    }
  }
  std::ranges::sort(queries);
  if (queries.empty()) return usage_error("no query is selected; expected at least one");
  return drawn;
}

Result<void> check_queries(std::span<const Position> queries,
                           const std::optional<QueryDesign>& design,
                           std::size_t tokens) {
  if (Result<void> ordered = check_order(queries, tokens); !ordered) return ordered;
  if (!design) return {};
  if (!design->parts.empty()) {
    return malformed("__metadata__ query_design is " + shown(text_of(*design)) +
                     "; expected positions in place of '" +
                     text_of({.parts = {design->parts.front()}}) + "'");
  }
  for (const Run& span : design->spans) {
    const auto begin = std::ranges::lower_bound(queries, span.first);
    const auto end = std::ranges::lower_bound(queries, span.last);
    const auto found = static_cast<std::size_t>(end - begin);
    if (found == span.size()) continue;
    return wrong_queries("has " + std::to_string(found) + " of the queries from " +
                         std::to_string(span.first) + " to " + std::to_string(span.last - 1) +
                         "; expected all, by query_design " + shown(text_of(*design)));
  }
  if (design->drawn > 0) return check_blocks(queries, *design, tokens);
  if (Result<void> regular = check_regular(queries, *design); !regular) return regular;
  if (design->every == 0) return {};
  const std::size_t offset = design->offset.value_or(0);
  std::size_t expected = 0;
  for (std::size_t at = offset; at < tokens; at += design->every) {
    expected += in_spans(*design, static_cast<Position>(at)) ? 0U : 1U;
  }
  const std::size_t found = count_outside(queries, *design, 0, tokens);
  if (found == expected) return {};
  return wrong_queries("has " + std::to_string(found) + " queries outside spans; expected " +
                       std::to_string(expected) + ", by query_design " + shown(text_of(*design)));
}

}  // namespace kv
