// Queries that choose pages: the part of properties/subjects/spec_caches.h for
// visibility=top-pages. Keys and queries are those that tokens bring, as they are: rotation is not
// what is tried here.
#include "kvcheck/properties/cases/token_inputs.h"
#include "kvcheck/properties/subjects/spec_caches.h"

namespace kv::properties {

// Reads the keys of the tokens fed since the last call; after a restore, of all tokens. Each cache
// has one unit here: a query head.
void SpecCaches::meet_keys(std::size_t index, const Feed& feed) {
  PageChoice& pages = *caches_[index].pages;
  const Place own = heads_.place_of(index);
  for (std::size_t position = pages.tokens(); position < tokens_.size(); ++position) {
    Place place = own;
    if (!origins_.empty()) place.sequence = origins_[own.sequence][position];
    const InputUnit unit = input_unit(place, spec_.unit, setup_);
    pages.add(token_inputs(feed.stream, {&unit, 1}, tokens_[position]).keys.data());
  }
}

// What that query of the chunk attends to, and the bounds that it chose by.
Visible SpecCaches::select(std::size_t index,
                           const Feed& feed,
                           std::size_t query,
                           SharedFacts& facts) {
  PageChoice& pages = *caches_[index].pages;
  const std::uint32_t page = spec_.top_pages.page;
  const InputUnit unit = input_unit(heads_.place_of(index), spec_.unit, setup_);
  const TokenInputs own = token_inputs(feed.stream, {&unit, 1}, feed.tokens[query]);
  const auto position = static_cast<Position>(feed.tokens[query].position);
  facts.page_width = (tokens_.size() - 1) / page;
  for (std::size_t i = 0; i < facts.page_width; ++i) {
    facts.page_bounds.push_back(i < position / page
                                    ? static_cast<double>(pages.bound(i, own.queries.data()))
                                    : not_reported);
  }
  return pages.select(own.queries.data(), position);
}

}  // namespace kv::properties
