#include "kvcheck/properties/subjects/spec_caches.h"

#include <algorithm>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/properties/cases/token_inputs.h"

namespace kv::properties {
namespace {

// Of a key and a value, as the simulator counts them: nothing is stored here, so as for a head of
// 128 numbers of 16 bits.
constexpr std::uint64_t bytes_per_row = std::uint64_t{2} * 2 * 128;

// The positions that a query sees, as indices into `returned`, which is increasing and holds them.
std::vector<std::size_t> rows_seen(const Visible& visible, const std::vector<Position>& returned) {
  std::vector<std::size_t> rows;
  rows.reserve(visible.size());
  std::size_t row = 0;
  const auto add = [&](Position position) {
    while (returned[row] != position) ++row;
    rows.push_back(row++);
  };
  for_each_position(visible, add);
  return rows;
}

// The spec resolved for a stream whose prompt has so many tokens, and which goes on after it.
Spec with_prompt(const Spec& spec, std::uint64_t prompt) {
  Spec own = spec;
  if (prompt * spec.phases.ratio / 1000 < spec.budget) own.phases.ratio = 0;  // the least budget
  return resolved(own, {.prompt = prompt}, prompt + 1, "the stream").value();
}

}  // namespace

Spec spec_at(const Spec& spec, Unit unit, const Setup& setup, const Place& place) {
  const std::uint32_t group = unit == Unit::head ? setup.group : 1;
  return unit_spec(spec, {setup.layers, setup.kv_heads, setup.group},
                   {place.layer, place.head / group});
}

SpecCaches::SpecCaches(const Spec& spec, const Setup& setup, DrawsOf draws)
    : spec_(spec), setup_(setup), heads_{setup, spec.unit}, draws_(std::move(draws)) {
  clear();
}

void SpecCaches::clear() {
  make_caches(1);
  tokens_.clear();
  origins_.clear();
}

void SpecCaches::make_caches(std::uint64_t prompt) {
  prompt_ = prompt;
  caches_.clear();
  const Spec spec = with_prompt(spec_, prompt);
  const std::size_t count = heads_.count() / heads_.sharing();
  caches_.reserve(count);
  for (std::size_t index = 0; index < count; ++index) caches_.push_back(fresh(spec, index));
}

SpecCaches::SharedCache SpecCaches::fresh(const Spec& spec, std::size_t index) const {
  const auto unit = index * heads_.sharing();
  const Spec own = spec_at(spec, spec_.unit, setup_, heads_.place_of(unit));
  SharedCache made{UnitCache(own, draws_(static_cast<std::uint32_t>(unit))), {}, {}, {}};
  made.cache.rotate_by(&input_rotation());
  if (own.selects()) made.pages.emplace(own.top_pages, input_dim);
  return made;
}

Facts SpecCaches::feed(const Feed& feed) {
  if (tokens_.empty() && spec_.phases.marked()) make_caches(feed.tokens.size());
  tokens_.insert(tokens_.end(), feed.tokens.begin(), feed.tokens.end());
  for (std::size_t sequence = 0; sequence < origins_.size(); ++sequence) {
    origins_[sequence].resize(tokens_.size(), static_cast<std::uint32_t>(sequence));
  }
  Facts facts;
  facts.units.resize(heads_.count());
  const std::size_t together = units_in_pool(spec_, heads_.in_layer());
  for (std::size_t first = 0; first < caches_.size(); first += together) {
    BudgetPool pool;
    for (std::size_t i = 0; i < together; ++i) pool.add(caches_[first + i].cache);
    pool.begin_chunk(feed.tokens.size());
    std::vector<SharedFacts> reported(together);
    for (std::size_t i = 0; i < together; ++i) begin_cache(first + i, feed, reported[i]);
    for (std::size_t query = 0; query < feed.tokens.size(); ++query) {
      pool.before_query();
      for (std::size_t i = 0; i < together; ++i) feed_cache(first + i, feed, query, reported[i]);
    }
    pool.end_chunk();
    for (std::size_t i = 0; i < together; ++i) report_to(first + i, std::move(reported[i]), facts);
  }
  return facts;
}

// Reports what the chunk did with a cache to all units that share it.
void SpecCaches::report_to(std::size_t index, SharedFacts reported, Facts& facts) {
  const std::string& broken = caches_[index].cache.broken_promise();
  if (!broken.empty()) throw SubjectFailed(broken);
  note_evictions(caches_[index]);
  for (std::size_t i = 0; i < heads_.sharing(); ++i) {
    const std::size_t unit = index * heads_.sharing() + i;
    UnitFacts& out = facts.units[unit];
    out.returned.reserve(reported.returned.size());
    for (const Position position : reported.returned)
      out.returned.push_back(row_of(position, unit));
    out.mask_width = reported.returned.size();
    out.visible = reported.visible;
    out.query_positions = reported.query_positions;
    out.key_positions = reported.key_positions;
    out.page_bounds = reported.page_bounds;
    out.page_width = reported.page_width;
    if (!reported.weights.empty()) out.weights = std::move(reported.weights[i]);
    report_state(unit, out);
  }
}

void SpecCaches::begin_cache(std::size_t index, const Feed& feed, SharedFacts& facts) {
  SharedCache& shared = caches_[index];
  const std::size_t chunk = feed.tokens.size();
  note_evictions(shared);
  facts.returned = stored_in(shared);
  const std::size_t width = facts.returned.size();
  facts.visible.resize(chunk * width);
  if (shared.pages) meet_keys(index, feed);
  if (are_ranks(spec_.positions)) facts.key_positions.resize(chunk * width, not_reported);
  const bool weighs = feed.report_weights || shared.cache.wants_rows();
  if (weighs) facts.weights.resize(heads_.sharing());
  for (std::vector<float>& weights : facts.weights) weights.resize(chunk * width);
}

void SpecCaches::feed_cache(std::size_t index,
                            const Feed& feed,
                            std::size_t query,
                            SharedFacts& facts) {
  SharedCache& shared = caches_[index];
  const std::size_t width = facts.returned.size();
  const bool in_cache = are_ranks(spec_.positions);
  const Visible& all = shared.cache.next_query();
  const auto rows =
      rows_seen(shared.pages ? select(index, feed, query, facts) : all, facts.returned);
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    const std::size_t at = query * width + rows[rank];
    facts.visible[at] = 1;
    if (in_cache) facts.key_positions[at] = static_cast<double>(rank);
  }
  const Token token = feed.tokens[query];
  facts.query_positions.push_back(in_cache ? static_cast<double>(rows.size() - 1)
                                           : static_cast<double>(token.position));
  if (!facts.weights.empty()) weigh(index, feed, query, rows, facts);
  if (shared.cache.needs().any()) show(index, feed, query);
}

// Reports to each unit the mean over its query heads; a policy that asks for it gets the mean over
// all units that share the cache.
void SpecCaches::weigh(std::size_t index,
                       const Feed& feed,
                       std::size_t query,
                       const std::vector<std::size_t>& rows,
                       SharedFacts& facts) {
  const std::size_t width = facts.returned.size();
  keys_.clear();
  for (const std::size_t row : rows) keys_.push_back(tokens_[facts.returned[row]]);
  mass_.resize(keys_.size());
  sum_.assign(keys_.size(), 0.0F);
  const std::uint32_t heads = heads_.group();
  for (std::size_t i = 0; i < facts.weights.size(); ++i) {
    const Place place = heads_.place_of(index * facts.weights.size() + i);
    float* const out = facts.weights[i].data() + query * width;
    for (std::uint32_t head = 0; head < heads; ++head) {
      visible_mass(feed.stream, {place.sequence, place.layer, place.head * heads + head},
                   feed.tokens[query], keys_, mass_);
      for (std::size_t k = 0; k < keys_.size(); ++k) {
        out[rows[k]] += mass_[k] / static_cast<float>(heads);
        sum_[k] += mass_[k];
      }
    }
  }
  const auto voters = static_cast<float>(facts.weights.size() * heads);
  for (float& mass : sum_) mass /= voters;
}

// Shows the cache's policy what it asks for of that query of the chunk, whose weights were just
// taken.
void SpecCaches::show(std::size_t index, const Feed& feed, std::size_t query) {
  UnitCache& cache = caches_[index].cache;
  const Needs& needs = cache.needs();
  Observation shown;
  if (needs.attention) shown.mass = sum_;
  TokenInputs own;
  if (needs.vectors() || needs.token_classes) {
    std::vector<InputUnit> units;
    for (std::size_t i = 0; i < heads_.sharing(); ++i) {
      units.push_back(
          input_unit(heads_.place_of(index * heads_.sharing() + i), spec_.unit, setup_));
    }
    own = token_inputs(feed.stream, units, feed.tokens[query]);
    if (needs.keys) shown.keys = {own.keys, input_dim};
    if (needs.values) shown.values = {own.values, input_dim};
    if (needs.queries) shown.queries = {own.queries, input_dim};
    shown.token_class = own.token_class;
  }
  cache.observe(shown);
}

// Rows are freed all at once or not at all, so those that are not free yet are the last evicted.
void SpecCaches::note_evictions(SharedCache& shared) {
  const std::span<const Position> evicted = shared.cache.evicted();
  const std::size_t unfreed = shared.cache.slots().unfreed();
  if (!evicted.empty()) {
    for (const Position position : evicted) {
      const bool masked = position < shared.cache.masked_below();
      (masked ? shared.masked : shared.unfreed).push_back(position);
    }
    shared.cache.clear_evicted();
  }
  if (shared.unfreed.size() <= unfreed) return;
  const auto freed = static_cast<std::ptrdiff_t>(shared.unfreed.size() - unfreed);
  shared.unfreed.erase(shared.unfreed.begin(), shared.unfreed.begin() + freed);
}

std::vector<Position> SpecCaches::stored_in(const SharedCache& shared) {
  const Visible all = shared.cache.all();
  std::vector<Position> stored;
  stored.reserve(all.size() + shared.unfreed.size() + shared.masked.size());
  for_each_position(all, [&](Position p) { stored.push_back(p); });
  if (shared.unfreed.empty() && shared.masked.empty()) return stored;
  stored.insert(stored.end(), shared.unfreed.begin(), shared.unfreed.end());
  stored.insert(stored.end(), shared.masked.begin(), shared.masked.end());
  std::ranges::sort(stored);
  return stored;
}

Row SpecCaches::row_of(Position position, std::size_t unit) const {
  Place place = heads_.place_of(unit);
  if (!origins_.empty()) place.sequence = origins_[place.sequence][position];
  return {.value = tokens_[position],
          .key = tokens_[position],
          .value_place = place,
          .key_place = place,
          .position = spec_.positions == Positions::absolute ? static_cast<double>(position)
                                                             : not_reported};
}

void SpecCaches::report_state(std::size_t unit, UnitFacts& facts) const {
  const SharedCache& shared = caches_[unit / heads_.sharing()];
  const std::vector<Position> stored = stored_in(shared);
  facts.stored.reserve(stored.size());
  for (const Position position : stored) facts.stored.push_back(row_of(position, unit));
  facts.reported = shared.cache.stored();
  facts.moved = shared.cache.counts().moved;
  facts.bytes = shared.cache.stored() * bytes_per_row;
}

Facts SpecCaches::look() const {
  Facts facts;
  facts.units.resize(heads_.count());
  for (std::size_t unit = 0; unit < facts.units.size(); ++unit)
    report_state(unit, facts.units[unit]);
  return facts;
}

}  // namespace kv::properties
