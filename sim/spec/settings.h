// The settings of a spec: the questions that have few answers, and their names.
//
// Apart from spec.h because most of what asks for a setting, as contracts and laws do, needs no
// policy and no parser.
#pragma once

#include <cstdint>
#include <string_view>

namespace kv {

// When the cache trims to its budget, relative to attention. For a chunk of c tokens:
enum class Timing {
  attend_then_trim,  // append c, attend, trim to the budget
  trim_then_attend,  // make room for c, append c, attend
  lazy,  // append c, attend, trim to the budget once more than budget + slack are stored
};

// What a query inside a chunk may attend to.
enum class Visibility {
  causal,  // everything stored up to itself
  window,  // exactly what it would see were the chunk fed token by token, making room: never more
           // than the budget, its own key included
  top_pages,  // of everything stored up to itself few pages, chosen anew by each query and head
};

// Of visibility=top-pages: how much a query attends to.
struct TopPages {
  std::uint32_t attended = 1024;   // tokens at most; a multiple of `page`, at least one page
  std::uint32_t page = 16;         // tokens that are attended to or not together
  std::uint32_t dense_layers = 2;  // the first so many layers attend to everything

  // How many pages a query attends to, its own among them.
  [[nodiscard]] std::uint32_t pages() const { return attended / page; }

  bool operator==(const TopPages&) const = default;
};

// At which rotary positions attention is computed.
enum class Positions {
  absolute,  // a token's index in the stream; gaps stay
  in_cache,  // a resident's rank among the visible; the query has the last rank
  shifted,   // the same ranks, held by rotating the stored keys whenever a gap closes: what
             // ring buffers do. Equal to in_cache but for rounding, which only a model shows
};

// Whether positions are ranks, so that they close the gaps that evictions leave.
constexpr bool are_ranks(Positions positions) {
  return positions != Positions::absolute;
}

// Which keys and values the residents have once others were evicted. A replay always shows the
// recorded ones; a model runs again over the residents where the spec says so.
enum class Vectors {
  kept,          // those of the pass that fed them; they still reflect what was evicted since
  re_evaluated,  // those of a fresh pass over the residents, made after every trim
};

// Which heads share one set of residents.
enum class Unit { head, kv_head, layer, model };

// What the words of a spec may leave open, given beside it (a sweep's --budget and --chunk). 0: not
// given.
struct SpecDefaults {
  std::uint32_t budget = 0;
  std::uint32_t chunk = 0;
};

std::string_view name_of(Timing timing);
std::string_view name_of(Visibility visibility);
std::string_view name_of(Positions positions);
std::string_view name_of(Unit unit);
std::string_view name_of(Vectors vectors);

}  // namespace kv
