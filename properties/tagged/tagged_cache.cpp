#include "kvcheck/properties/tagged/tagged_cache.h"

#include <algorithm>
#include <utility>

#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {

void TaggedCache::open(const TaggedParts& parts, Factory fresh) {
  options_ = parts.options;
  setup_ = parts.setup;
  heads_ = {parts.setup, parts.options.unit};
  contract_ = parts.contract;
  declared_ = parts.spec;
  use(for_prompt(*declared_, state_.prompt));
  rule_ = rule_of(spec());
  draws_of_ = parts.draws;
  fresh_ = std::move(fresh);
  state_.units.resize(heads_.count() / heads_.sharing());
  for (std::size_t unit = 0; unit < state_.units.size(); ++unit) {
    draws_.push_back(draws_of_(static_cast<std::uint32_t>(unit * heads_.sharing())));
  }
}

Spec TaggedCache::spec_for_chunk(std::size_t chunk) {
  if (state_.fed == 0) state_.prompt = chunk;
  return for_prompt(*declared_, state_.prompt);
}

TokenInputs TaggedCache::inputs_of(const CacheUnit& unit, Token token) {
  const InputUnit from = input_unit(place_of(unit), options_.unit, setup_);
  return token_inputs(stream_, {&from, 1}, token);
}

bool TaggedCache::selects(const CacheUnit& unit) {
  return contract_.selects_in(place_of(unit).layer);
}

Answer<Facts> TaggedCache::feed(const Feed& feed) {
  const std::size_t chunk = feed.tokens.size();
  const std::uint32_t longest = longest_now();
  if (longest > 0 && chunk > longest) {
    return Refused{"chunks of more than " + std::to_string(longest) + " tokens are not offered"};
  }
  for (std::size_t i = 0; i < chunk; ++i) {
    if (feed.tokens[i].position != static_cast<std::int32_t>(state_.fed + i)) {
      return Refused{"the next token is " + std::to_string(state_.fed)};
    }
  }
  if (chunk == 0) return look();
  remember(feed);
  if (options_.compress != Compress::always) use(spec_for_chunk(chunk));
  state_.fed += chunk;
  chunk_ = chunk;
  stream_ = feed.stream;
  asking_.assign(feed.tokens.begin(), feed.tokens.end());
  facts_ = {};
  facts_.units.resize(heads_.count());
  returned_.assign(state_.units.size(), {});
  bounds_.assign(state_.units.size(), {});
  for (std::size_t first = 0; first < state_.units.size(); first += sharers()) {
    const auto units = std::span(state_.units).subspan(first, sharers());
    if (borrows(units.front())) continue;
    feed_units(units, feed.tokens);
    for (CacheUnit& unit : units) report_state(unit, facts_);
  }
  borrow_rows(facts_);
  return std::move(facts_);
}

// Reports the rows that attention is given.
void TaggedCache::begin_attention(CacheUnit& unit) {
  Rows& returned = returned_[index_of(unit)];
  returned = returned_rows(unit, chunk_);
  for (std::size_t head = 0; head < heads_.sharing(); ++head) {
    UnitFacts& facts = facts_.units[first_head(unit) + head];
    facts.returned.reserve(returned.size());
    for (const std::size_t row : returned) {
      facts.returned.push_back(read_row(unit.rows[row].vectors[head], options_));
    }
  }
}

TaggedCache::Mask TaggedCache::mask_row(const CacheUnit& unit, const Query& query) {
  Mask mask;
  mask.reserve(query.returned.size());
  const std::vector<bool> kept = options_.shows_pages ? pages_kept(unit) : std::vector<bool>();
  for (const std::size_t index : query.returned) {
    const StoredRow& row = unit.rows[index];
    const auto position = static_cast<std::uint64_t>(row.token.position);
    const bool shown = options_.shows_pages && row.token.position <= query.token.position &&
                       kept[page_at(position)];
    mask.push_back(shown || may_see(unit, row, query.token) ? 1 : 0);
  }
  if (!selects(unit)) return mask;
  std::vector<double>& bounds = bounds_[index_of(unit)];
  bounds = bounds_of(unit, query.token);
  const Rows selected = select(bounds);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    const std::size_t page = page_of(unit.rows[query.returned[i]].token);
    if (std::ranges::find(selected, page) == selected.end()) mask[i] = 0;
  }
  return mask;
}

void TaggedCache::attend(CacheUnit& unit, std::span<const Token> chunk, std::size_t query) {
  const Rows& returned = returned_[index_of(unit)];
  Query asked{chunk[query], chunk, query, returned};
  const Mask mask = mask_row(unit, asked);
  Rows& visible = asked.visible;
  visible.reserve(returned.size());
  for (std::size_t i = 0; i < std::min(mask.size(), returned.size()); ++i) {
    if (mask[i] != 0) visible.push_back(returned[i]);
  }
  std::ranges::sort(visible);
  const double position = query_position(unit, asked.token, visible);
  const std::vector<double> keys = key_positions(returned, visible);
  const bool ranked = rule_->wants_mass();
  Masses weights;
  const std::vector<float> mass = ranked ? weigh(unit, asked, weights) : std::vector<float>();
  for (std::size_t head = 0; head < heads_.sharing(); ++head) {
    UnitFacts& facts = facts_.units[first_head(unit) + head];
    facts.mask_width = mask.size();
    facts.visible.insert(facts.visible.end(), mask.begin(), mask.end());
    facts.query_positions.push_back(position);
    facts.key_positions.insert(facts.key_positions.end(), keys.begin(), keys.end());
    if (selects(unit)) report_bounds(bounds_[index_of(unit)], page_of(chunk.back()), facts);
    if (!ranked) continue;
    const std::size_t begin = facts.weights.size();
    facts.weights.resize(begin + returned.size());
    for (std::size_t i = 0; i < returned.size(); ++i) {
      const auto at = std::ranges::lower_bound(visible, returned[i]);
      if (at == visible.end() || *at != returned[i]) continue;
      facts.weights[begin + i] = weights[head][static_cast<std::size_t>(at - visible.begin())];
    }
  }
  if (ranked) observe(unit, visible, mass);
}

// A query has no bound of its own page, nor of those that come after it in the chunk.
void TaggedCache::report_bounds(const std::vector<double>& bounds,
                                std::size_t width,
                                UnitFacts& facts) {
  facts.page_width = width;
  for (std::size_t page = 0; page < width; ++page) {
    facts.page_bounds.push_back(page + 1 < bounds.size() ? bounds[page] : not_reported);
  }
}

double TaggedCache::query_position(const CacheUnit& unit, Token query, const Rows& visible) {
  if (options_.positions == PositionMode::absolute) return query.position;
  if (options_.positions == PositionMode::in_cache) {
    return static_cast<double>(visible.size()) - 1;
  }
  return own_position(unit, query);
}

double TaggedCache::own_position(const CacheUnit& unit, Token query) {
  const auto own = std::ranges::find(unit.rows, query, &StoredRow::token);
  return own == unit.rows.end() ? not_reported : own->position;
}

std::vector<double> TaggedCache::key_positions(const Rows& returned, const Rows& visible) {
  std::vector<double> keys;
  if (options_.positions != PositionMode::in_cache) return keys;
  for (const std::size_t row : returned) {
    const auto at = std::ranges::lower_bound(visible, row);
    const bool sees = at != visible.end() && *at == row;
    keys.push_back(sees ? static_cast<double>(at - visible.begin()) : not_reported);
  }
  return keys;
}

std::vector<float> TaggedCache::weigh(const CacheUnit& unit, const Query& query, Masses& per_head) {
  const std::uint32_t group = heads_.group();
  std::vector<float> sum(query.visible.size());
  for (std::size_t index = 0; index < heads_.sharing(); ++index) {
    const Place place = place_of(first_head(unit) + index);
    std::vector<float> mean(query.visible.size());
    for (std::uint32_t head = 0; head < group; ++head) {
      const Payer payer{place.sequence, place.layer, place.head * group + head};
      const std::vector<float> mass = mass_of(unit, query, payer);
      for (std::size_t i = 0; i < mass.size(); ++i) {
        sum[i] += mass[i];
        mean[i] += mass[i] / static_cast<float>(group);
      }
    }
    per_head.push_back(mean);
  }
  for (float& x : sum) x /= static_cast<float>(heads_.sharing() * group);
  return sum;
}

std::vector<float> TaggedCache::mass_of(const CacheUnit& unit,
                                        const Query& query,
                                        const Payer& payer) const {
  std::vector<Token> keys;
  keys.reserve(query.visible.size());
  for (const std::size_t row : query.visible) keys.push_back(unit.rows[row].token);
  std::vector<float> mass(keys.size());
  visible_mass(stream_, payer, query.token, keys, mass);
  return mass;
}

void TaggedCache::report_state(CacheUnit& unit, Facts& facts) {
  const Rows rows = stored_rows(unit);
  for (std::size_t head = 0; head < heads_.sharing(); ++head) {
    UnitFacts& out = facts.units[first_head(unit) + head];
    out.stored.reserve(rows.size());
    for (const std::size_t row : rows)
      out.stored.push_back(read_row(unit.rows[row].vectors[head], options_));
    out.reported = reported(unit);
    out.moved = unit.moved;
  }
}

Facts TaggedCache::look() {
  Facts facts;
  facts.units.resize(heads_.count());
  for (CacheUnit& unit : state_.units) {
    if (!borrows(unit)) report_state(unit, facts);
  }
  asking_.clear();
  borrow_rows(facts);
  return facts;
}

bool TaggedCache::borrows(const CacheUnit& unit) {
  const std::uint32_t layer = place_of(unit).layer;
  return options_.borrows && owner_of(layer) != layer;
}

void TaggedCache::borrow_rows(Facts& facts) {
  if (!options_.borrows) return;
  for (std::size_t head = 0; head < facts.units.size(); ++head) {
    Place owner = place_of(head);
    const std::uint32_t layer = std::exchange(owner.layer, owner_of(owner.layer));
    if (owner.layer == layer) continue;
    facts.units[head] = borrowed(facts.units[heads_.index_of(owner)], head);
  }
}

UnitFacts TaggedCache::borrowed(const UnitFacts& owner, std::size_t head) {
  UnitFacts facts = owner;
  facts.moved.reset();
  if (facts.weights.empty()) return facts;
  const Place place = place_of(head);
  std::ranges::fill(facts.weights, 0.0F);
  std::vector<Token> keys;
  std::vector<float> mass;
  for (std::size_t query = 0; query < asking_.size(); ++query) {
    const std::size_t begin = query * facts.mask_width;
    keys.clear();
    for (std::size_t i = 0; i < facts.mask_width; ++i) {
      if (facts.visible[begin + i] != 0) keys.push_back(facts.returned[i].key);
    }
    mass.resize(keys.size());
    for (std::uint32_t i = 0; i < heads_.group(); ++i) {
      visible_mass(stream_, {place.sequence, place.layer, place.head * heads_.group() + i},
                   asking_[query], keys, mass);
      auto gave = mass.begin();
      for (std::size_t row = 0; row < facts.mask_width; ++row) {
        if (facts.visible[begin + row] == 0) continue;
        facts.weights[begin + row] += *gave++ / static_cast<float>(heads_.group());
      }
    }
  }
  return facts;
}

}  // namespace kv::properties
