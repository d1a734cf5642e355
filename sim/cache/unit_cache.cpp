#include "kvcheck/sim/cache/unit_cache.h"

#include <algorithm>
#include <limits>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/by_layer.h"
#include "kvcheck/policies/masking.h"
#include "kvcheck/policies/rotating.h"

namespace kv {
namespace {

constexpr std::size_t no_gap = std::numeric_limits<std::size_t>::max();

std::uint64_t masked_by(const Policy& policy, std::size_t sinks) {
  const auto* masking = dynamic_cast<const Masking*>(&policy);
  return masking == nullptr ? 0 : masking->masked_below(sinks);
}

std::unique_ptr<Policy> policy_of(const Spec& spec) {
  std::unique_ptr<Policy> policy = spec.policy->make(spec.options);
  if (auto* by_layer = dynamic_cast<ByLayer*>(policy.get())) by_layer->stand_in(spec.layer);
  return policy;
}

}  // namespace

UnitCache::UnitCache(const Spec& spec, std::unique_ptr<Draws> draws)
    : policy_name_(spec.policy->name),
      policy_(policy_of(spec)),
      draws_(std::move(draws)),
      bounded_(spec.bounded()),
      timing_(spec.timing),
      visibility_(spec.visibility),
      in_bulk_(policy_->leaving() == Leaving::in_bulk),
      shares_(spec.budgets.shared()),
      floor_(shares_ ? adaptive_floor(spec) : 0),
      at_ranks_(are_ranks(spec.positions)),
      masked_below_(masked_by(*policy_, spec.sinks)),
      sinks_(spec.bounded() ? spec.sinks : 0),
      recent_(spec.recent),
      capacity_(spec.bounded() ? spec.middle() : 0),
      budget_(spec.budget),
      slack_(spec.slack),
      needs_(policy_->needs()),
      tail_(sinks_),
      first_gap_(no_gap) {
  KV_CHECK(!bounded_ || std::uint64_t{spec.sinks} + spec.recent <= spec.budget);
  KV_CHECK(!bounded_ || visibility_ == Visibility::causal || recent_ > 0);
  KV_CHECK(!shares_ || (bounded_ && policy_->scores_compare()));
}

void UnitCache::rotate_by(const Rotation* rotation) {
  if (auto* rotating = dynamic_cast<Rotating*>(policy_.get()))
    rotating->rotate_by(rotation, at_ranks_);
}

void UnitCache::begin_chunk(std::size_t tokens) {
  KV_CHECK(!shares_);
  make_room(tokens);
  store(tokens);
}

void UnitCache::make_room(std::size_t tokens) {
  KV_CHECK(query_ == seen_ && tokens > 0);
  KV_CHECK(tokens <= std::numeric_limits<Position>::max() - seen_);
  const bool first = timing_ == Timing::trim_then_attend;
  if (first && visibility_ == Visibility::causal) release_all_but(recent_, seen_ + tokens);
}

void UnitCache::store(std::size_t tokens) {
  if (timing_ == Timing::trim_then_attend) free_rows();
  for (std::size_t i = 0; i < tokens; ++i) {
    seen_ < sinks_ ? slots_.append_sink() : slots_.append_tail();
    ++seen_;
  }
}

const Visible& UnitCache::next_query() {
  KV_CHECK(query_ < seen_);
  ++query_;
  if (visibility_ == Visibility::window) {
    if (!shares_) release_all_but(recent_, query_);
    KV_CHECK(!shares_ || query_ <= recent_ || tail_ >= query_ - recent_);
  }
  // In place: whoever copied what was stored piece by piece at once would wait for it.
  visible_.sinks = {0, std::min(sinks_, query_)};
  visible_.middle = middle_;
  visible_.recent = {tail_, std::max(tail_, query_)};
  return visible_;
}

Visible UnitCache::visible_to(Position query) const {
  KV_CHECK(visibility_ == Visibility::causal || !bounded_);
  KV_CHECK(query_ <= query && query < seen_);
  return {{0, std::min(sinks_, query + 1)}, middle_, {tail_, std::max(tail_, query + 1)}};
}

void UnitCache::observe(Observation shown) {
  KV_CHECK(needs_.any() && query_ > 0);
  shown.query = query_ - 1;
  shown.draws = draws_.get();
  policy_->observe(shown);
}

void UnitCache::release_for_query() {
  KV_CHECK(query_ < seen_);
  if (visibility_ == Visibility::window) release_all_but(recent_, query_ + std::size_t{1});
}

std::int64_t UnitCache::over_budget() const {
  KV_CHECK(query_ == seen_);
  if (!bounded_ || timing_ == Timing::trim_then_attend) return 0;
  const std::size_t slack = timing_ == Timing::lazy ? slack_ : 0;
  return static_cast<std::int64_t>(trimmable()) - static_cast<std::int64_t>(budget_ + slack);
}

void UnitCache::end_chunk() {
  KV_CHECK(!shares_);
  if (over_budget() <= 0) return;
  release_all_but(recent_, seen_);
  free_rows();
}

Visible UnitCache::all() const {
  return {{0, static_cast<Position>(sinks_held())}, middle_, {tail_, std::max(tail_, seen_)}};
}

void UnitCache::release_all_but(std::size_t recent, std::size_t end) {
  newcomers_ = 0;
  if (!bounded_ || end <= recent) return;
  const auto first_kept = std::min<std::size_t>(end - recent, seen_);
  if (capacity_ == 0) {
    while (tail_ < first_kept) evict_next();
    return;
  }
  std::size_t newcomers = 0;
  while (tail_ < first_kept) {
    release_next();
    ++newcomers;
    if (!in_bulk_ && !shares_ && middle_.size() > capacity_) decide(1);
  }
  newcomers_ = newcomers;
  if (shares_) return;
  if (in_bulk_ && middle_.size() > capacity_) decide(newcomers);
}

void UnitCache::release_next() {
  middle_.push_back(tail_++);
  slots_.tail_to_middle();
  ++entered_;
}

void UnitCache::evict_next() {
  const std::size_t rank = sinks_held();
  policy_->forget({&rank, 1});
  const bool masked = tail_ < masked_below_;
  evicted_.push_back(tail_++);
  masked ? slots_.mask_tail() : slots_.evict_tail();
  ++entered_;
  if (!masked) first_gap_ = std::min(first_gap_, rank);
}

void UnitCache::check_victims() const {
  const std::size_t least = middle_.size() - capacity_;
  const auto unordered = std::ranges::adjacent_find(victims_, std::greater_equal());
  std::string found;
  if (victims_.size() < least) found = "only " + std::to_string(victims_.size());
  if (unordered != victims_.end()) {
    found = std::to_string(unordered[0]) + " and then " + std::to_string(unordered[1]);
  }
  if (found.empty() && victims_.back() >= middle_.size()) found = std::to_string(victims_.back());
  if (found.empty()) return;
  const std::string words =
      "policy '" + std::string(policy_name_) + "' names victims that are none: found " + found +
      "; expected at least " + std::to_string(least) + " in increasing order, below the " +
      std::to_string(middle_.size()) + " candidates";
  promise_broken(words.c_str());
}

void UnitCache::decide(std::size_t newcomers) {
  victims_.clear();
  policy_->evict({middle_, newcomers, capacity_, sinks_held(), entered_}, *draws_, victims_);
  check_victims();
  drop_victims();
}

std::span<const double> UnitCache::scores_of_middle() {
  const auto scores = policy_->scores({middle_, newcomers_, capacity_, sinks_held(), entered_});
  if (scores.size() == middle_.size()) return scores;
  const std::string words = "policy '" + std::string(policy_name_) + "' gives " +
                            std::to_string(scores.size()) + " scores of " +
                            std::to_string(middle_.size()) + " candidates";
  promise_broken(words.c_str());
}

void UnitCache::drop_victims() {
  if (victims_.empty()) return;
  const std::size_t first_rank = sinks_held();
  ranks_.clear();
  for (const std::size_t victim : victims_) ranks_.push_back(first_rank + victim);
  policy_->forget(ranks_);
  for (const std::size_t victim : victims_) {
    const Position position = middle_[victim];
    evicted_.push_back(position);
    if (position >= masked_below_) first_gap_ = std::min(first_gap_, first_rank + victim);
  }
  for (std::size_t i = victims_.size(); i-- > 0;) {
    const auto at = middle_.begin() + static_cast<std::ptrdiff_t>(victims_[i]);
    *at < masked_below_ ? slots_.mask_middle(victims_[i]) : slots_.evict_middle(victims_[i]);
    middle_.erase(at);
  }
}

void UnitCache::free_rows() {
  if (slots_.unfreed() == 0) return;
  ++counts_.trims;
  counts_.evicted += slots_.unfreed();
  counts_.moved += residents() - std::min(first_gap_, residents());
  slots_.free_evicted();
  first_gap_ = no_gap;
}

UnitCache::UnitCache(const UnitCache& other, std::unique_ptr<Draws> draws)
    : policy_name_(other.policy_name_),
      policy_(other.policy_->clone()),
      draws_(std::move(draws)),
      bounded_(other.bounded_),
      timing_(other.timing_),
      visibility_(other.visibility_),
      in_bulk_(other.in_bulk_),
      shares_(other.shares_),
      floor_(other.floor_),
      at_ranks_(other.at_ranks_),
      masked_below_(other.masked_below_),
      sinks_(other.sinks_),
      recent_(other.recent_),
      capacity_(other.capacity_),
      budget_(other.budget_),
      slack_(other.slack_),
      needs_(other.needs_),
      seen_(other.seen_),
      query_(other.query_),
      tail_(other.tail_),
      middle_(other.middle_),
      entered_(other.entered_),
      slots_(other.slots_),
      first_gap_(other.first_gap_),
      evicted_(other.evicted_),
      counts_(other.counts_) {}

UnitCache UnitCache::fork(std::unique_ptr<Draws> draws) const {
  KV_CHECK(query_ == seen_);
  return {*this, std::move(draws)};
}

void UnitCache::save(ByteWriter& writer) const {
  KV_CHECK(query_ == seen_);
  writer.put(seen_);
  writer.put(tail_);
  writer.put(middle_);
  writer.put(entered_);
  slots_.save(writer);
  writer.put(first_gap_);
  writer.put(evicted_);
  writer.put(counts_.trims);
  writer.put(counts_.evicted);
  writer.put(counts_.moved);
  policy_->save(writer);
}

void UnitCache::load(ByteReader& reader) {
  seen_ = query_ = reader.get<Position>();
  tail_ = reader.get<Position>();
  reader.get(middle_);
  entered_ = reader.get<std::uint64_t>();
  slots_.load(reader);
  first_gap_ = reader.get<std::size_t>();
  reader.get(evicted_);
  counts_.trims = reader.get<std::uint64_t>();
  counts_.evicted = reader.get<std::uint64_t>();
  counts_.moved = reader.get<std::uint64_t>();
  policy_->load(reader);
}

}  // namespace kv
