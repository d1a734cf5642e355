// Copies of the cache that read on: by themselves, or to repeat the prompt that the cache holds.
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/model/attention/cached_attention.h"
#include "kvcheck/model/attention/unit_attention.h"

namespace kv::model {
namespace {

std::vector<ModelUnit> repeating(const std::vector<ModelUnit>& read, const RepeatedRows& rows) {
  std::vector<ModelUnit> units;
  for (const ModelUnit& unit : read) {
    KV_CHECK(rows.stored == unit.cache.residents());
    units.push_back(fork_of(unit));
    if (!units.back().repeated) units.back().repeated.emplace();
    units.back().repeated->begin_pass(rows);
  }
  return units;
}

std::vector<ModelUnit> forks_of(const std::vector<ModelUnit>& read) {
  std::vector<ModelUnit> units;
  units.reserve(read.size());
  for (const ModelUnit& unit : read) units.push_back(fork_of(unit));
  return units;
}

}  // namespace

// The policies of the copy keep the rotation of the cache that was read.
CachedAttention::CachedAttention(const CachedAttention& read, std::vector<ModelUnit> units)
    : config_(read.config_),
      spec_(read.spec_),
      options_(read.options_),
      ranks_(read.ranks_),
      team_(read.team_),
      units_(std::move(units)),
      pools_(pools_of(units_)) {
  KV_CHECK(read.asked_);
  for (std::size_t i = 0; i < team_.size(); ++i)
    workers_.emplace_back(config_, spec_, options_.keys, options_.length);
}

CachedAttention::CachedAttention(const CachedAttention& read)
    : CachedAttention(read, forks_of(read.units_)) {}

CachedAttention::CachedAttention(const CachedAttention& read, const RepeatedRows& rows)
    : CachedAttention(read, repeating(read.units_, rows)) {}

void CachedAttention::take_shares(CachedAttention& pass) {
  for (std::size_t i = 0; i < units_.size(); ++i) {
    units_[i].repeated = std::move(pass.units_[i].repeated);
  }
}

void CachedAttention::show_shares() {
  for (ModelUnit& unit : units_) {
    // A head that keeps everything has no policy that asks.
    if (unit.repeated && unit.cache.needs().any()) {
      unit.cache.observe({.mass = unit.repeated->largest()});
    }
    unit.repeated.reset();
  }
}

}  // namespace kv::model
