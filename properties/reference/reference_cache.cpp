#include "kvcheck/properties/reference/reference_cache.h"

#include <algorithm>
#include <utility>

#include "kvcheck/base/check.h"

namespace kv::properties {

ReferenceCache::ReferenceCache(const Spec& spec, std::vector<std::shared_ptr<Draws>> draws)
    : units_(draws.size()), draws_(std::move(draws)) {
  use(spec);
  for (std::size_t i = 0; i < units_.size(); ++i) rules_.push_back(rule_of(spec));
  KV_CHECK(rules_.front() != nullptr);
}

ReferenceCache::ReferenceCache(const ReferenceCache& other)
    : CacheSteps(other), units_(other.units_), draws_(other.draws_) {
  for (const auto& rule : other.rules_) rules_.push_back(rule->clone());
}

ReferenceCache ReferenceCache::with(std::vector<std::shared_ptr<Draws>> draws) const {
  ReferenceCache copy(*this);
  copy.draws_ = std::move(draws);
  return copy;
}

std::vector<ReferenceCache::Visible> ReferenceCache::feed(std::size_t tokens,
                                                          std::span<const MassOf> mass,
                                                          std::span<const InputsOf> inputs) {
  mass_ = mass;
  inputs_ = inputs;
  visible_.assign(units_.size(), {});
  std::vector<Token> chunk;
  for (std::size_t i = 0; i < tokens; ++i) {
    chunk.push_back({static_cast<std::int32_t>(units_.front().fed + i), 0});
  }
  feed_units(units_, chunk);
  return std::move(visible_);
}

TokenInputs ReferenceCache::inputs_of(const CacheUnit& unit, Token token) {
  return inputs_[index_of(unit)](static_cast<Position>(token.position));
}

void ReferenceCache::attend(CacheUnit& unit, std::span<const Token> chunk, std::size_t query) {
  const Token own = chunk[query];
  const auto position = static_cast<Position>(own.position);
  Rows pages;
  if (selects(unit)) pages = select(bounds_of(unit, own));
  Rows rows;
  std::vector<Position> seen;
  for (std::size_t i = 0; i < unit.rows.size(); ++i) {
    const Token token = unit.rows[i].token;
    if (!may_see(unit, unit.rows[i], own)) continue;
    if (selects(unit) && std::ranges::find(pages, page_of(token)) == pages.end()) continue;
    rows.push_back(i);
    seen.push_back(static_cast<Position>(token.position));
  }
  Rule& rule = rule_for(unit);
  if (rule.wants_inputs()) rule.take_inputs(position, inputs_of(unit, own));
  if (rule.wants_mass()) observe(unit, rows, mass_[index_of(unit)](seen, position));
  visible_[index_of(unit)].push_back(std::move(seen));
}

std::vector<Position> ReferenceCache::stored(std::size_t unit, bool evicted_too) const {
  std::vector<Position> positions;
  for (const StoredRow& row : units_[unit].rows) {
    if (row.evicted && !evicted_too) continue;
    positions.push_back(static_cast<Position>(row.token.position));
  }
  return positions;
}

bool ReferenceCache::doubtful() const {
  return doubtful_ ||
         std::ranges::any_of(rules_, [](const auto& rule) { return rule->doubtful(); });
}

}  // namespace kv::properties
