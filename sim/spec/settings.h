// The settings of a spec, which have few possible values, and the names of these values.
//
// They are apart from spec.h because most users of a setting, such as contracts and laws, need
// neither a policy nor a parser.
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
  causal,     // everything stored up to itself
  window,     // exactly what it would see if the chunk were fed token by token with
              // trim_then_attend: never more than the budget, its own key included
  top_pages,  // a few pages of everything stored up to itself; each query and head selects its own
};

// How much a query attends to under visibility=top-pages.
struct TopPages {
  std::uint32_t attended = 1024;   // tokens at most; a multiple of `page`, at least one page
  std::uint32_t page = 16;         // tokens that are selected together
  std::uint32_t dense_layers = 2;  // this many first layers attend to everything

  // How many pages a query attends to, its own among them.
  [[nodiscard]] std::uint32_t pages() const { return attended / page; }

  bool operator==(const TopPages&) const = default;
};

// At which rotary positions attention is computed.
enum class Positions {
  absolute,  // a token's index in the stream; gaps remain
  in_cache,  // a resident's rank among the visible; the query has the last rank
  shifted,   // the same ranks, maintained by rotating the stored keys whenever a gap closes, as
             // ring buffers do. Differs from in_cache by rounding, which only a model shows
};

// Whether positions are ranks, which close the gaps that evictions leave.
constexpr bool are_ranks(Positions positions) {
  return positions != Positions::absolute;
}

// Which keys and values the residents have after others were evicted. A replay always uses the
// recorded ones. A model runs again over the residents if the spec says so.
enum class Vectors {
  kept,          // those of the pass that fed them, which still reflect tokens evicted since
  re_evaluated,  // those of a fresh pass over the residents, made after every trim
};

// Which heads share one set of residents.
enum class Unit { head, kv_head, layer, model };

// Values given beside a spec for fields that it leaves open (a sweep's --budget and --chunk). 0
// means not given.
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
