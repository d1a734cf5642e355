// Which queries of a trace are recorded, and how they were selected.
//
// A trace has the keys and values of all tokens, but it may have the queries of some only. What a
// replay then measures at these queries stands for all, if the design says how they were selected:
// the intervals of its numbers follow from that (sim/samples/query_weights.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/marks.h"
#include "kvcheck/base/position.h"

namespace kv {

// The parts of a stream that its marks separate.
enum class StreamPart { prompt, question, answer };

// A design as text is a list of parts, separated by commas:
//
//   64/1000      64 of every 1,000 queries, drawn at random in each such block of the stream; of a
//                block that is shorter, or lies partly in spans, proportionally many, rounded up
//   every:16     every 16th query; `every:16+3` begins with query 3
//   0-511, 7     these queries in any case
//   prompt       those of the prompt in any case; likewise `question` and `answer`
//
// Random and regular selection exclude each other; neither counts the queries of the spans.
struct QueryDesign {
  std::size_t drawn = 0;  // of every block; 0: none is drawn
  std::size_t block = 0;
  std::size_t every = 0;                // 0: none is selected regularly
  std::optional<std::size_t> offset{};  // below `every`; empty: not selected yet
  std::vector<Run> spans{};             // increasing, with queries between them
  std::vector<StreamPart> parts{};      // increasing; draw_queries makes spans of them

  bool operator==(const QueryDesign&) const = default;

  // Whether the recorded queries stand for the others.
  [[nodiscard]] bool samples() const { return drawn > 0 || every > 0; }
};

// Errors name the part. Spans that touch or overlap are joined.
Result<QueryDesign> parse_query_design(std::string_view text);

std::string text_of(const QueryDesign& design);

// Sorts the spans and joins those that touch or overlap.
void join_spans(QueryDesign& design);

// Whether a span has the query.
bool in_spans(const QueryDesign& design, Position query);

// Leaves out what spans have at and after `tokens`, for a stream that is cut there.
void cut_spans(QueryDesign& design, std::size_t tokens);

// How many of the positions from `first` to before `last` are in no span.
std::size_t outside_spans(const QueryDesign& design, std::size_t first, std::size_t last);

// The queries of a stream of `tokens` tokens with these marks that the design selects, increasing,
// and the design with the offset that was drawn and with spans instead of parts. The same seed
// gives the same queries. Errors: a span beyond the stream; a block or a step that is longer than
// it; a part that the marks do not tell, or that has no token; no query.
struct DrawnQueries {
  QueryDesign design;
  std::vector<Position> queries;
};

Result<DrawnQueries> draw_queries(const QueryDesign& design,
                                  std::size_t tokens,
                                  std::uint64_t seed,
                                  const Marks& marks = {});

// An error unless the queries increase, are at least one, are those of a stream of so many tokens,
// and agree with the design, if there is one: all of the spans, and of each block as many as the
// design says. The last block may have fewer, as in a trace that was cut. A design with parts is an
// error. Sentences begin with
// "tensor 'queries'" or "__metadata__".
Result<void> check_queries(std::span<const Position> queries,
                           const std::optional<QueryDesign>& design,
                           std::size_t tokens);

}  // namespace kv
