#include "properties/models.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace kv {

Model::Model(const Spec& spec, std::shared_ptr<Draws> draws)
    : spec_(spec), draws_(std::move(draws)), rule_(rule_of(spec)) {
  KV_CHECK(rule_ != nullptr);
}

Model::Model(const Model& other)
    : spec_(other.spec_),
      draws_(other.draws_),
      rule_(other.rule_->clone()),
      residents_(other.residents_),
      stored_(other.stored_),
      masked_(other.masked_),
      middle_(other.middle_),
      left_(other.left_),
      entered_(other.entered_),
      seen_(other.seen_) {}

Model Model::with(std::shared_ptr<Draws> draws) const {
  Model copy(*this);
  copy.draws_ = std::move(draws);
  return copy;
}

std::vector<std::vector<Position>> Model::feed(std::size_t tokens,
                                               const MassOf& mass_of,
                                               const BroughtOf& brought_of) {
  const bool windowed = spec_.visibility == Visibility::window;
  const bool early = spec_.timing == Timing::trim_then_attend;
  if (early) {
    if (!windowed) leave(seen_ + tokens);
    free_rows();
  }
  const std::uint64_t first = seen_;
  for (; seen_ < first + tokens; ++seen_) {
    residents_.push_back(static_cast<Position>(seen_));
    stored_.push_back(static_cast<Position>(seen_));
  }
  std::vector<std::vector<Position>> visible;
  for (std::uint64_t query = first; query < seen_; ++query) {
    if (windowed) leave(query + 1);
    std::vector<Position>& row = visible.emplace_back();
    for (const Position p : residents_) {
      if (p <= query) row.push_back(p);
    }
    if (rule_->wants_brought()) {
      rule_->met(static_cast<Position>(query), brought_of(static_cast<Position>(query)));
    }
    if (rule_->wants_mass()) {
      rule_->saw(row, mass_of(row, static_cast<Position>(query)), *draws_);
    }
  }
  const std::uint64_t slack = spec_.timing == Timing::lazy ? spec_.slack : 0;
  if (spec_.bounded() && !early && stored_.size() - masked_.size() > spec_.budget + slack) {
    leave(seen_);
    free_rows();
  }
  return visible;
}

// All but the last `recent` of the first `end` tokens leave the recent window, as far as they came.
void Model::leave(std::uint64_t end) {
  if (!spec_.bounded()) return;
  std::size_t newcomers = 0;
  for (; left_ < seen_ && left_ + spec_.recent < end; ++left_) {
    if (left_ < spec_.sinks) continue;
    middle_.push_back(static_cast<Position>(left_));
    ++entered_;
    ++newcomers;
    if (!rule_->in_bulk()) settle(1);
  }
  settle(newcomers);
}

void Model::settle(std::size_t newcomers) {
  const std::size_t capacity = spec_.middle();
  if (middle_.size() <= capacity) return;
  drop_to(capacity == 0 ? std::vector<Position>{}
                        : rule_->stay({middle_, capacity, entered_, newcomers}, *draws_));
}

// Residents stay stored, and who is masked.
void Model::free_rows() {
  stored_ = residents_;
  stored_.insert(stored_.end(), masked_.begin(), masked_.end());
  std::ranges::sort(stored_);
}

void Model::drop_to(const std::vector<Position>& staying) {
  for (const Position p : middle_) {
    if (rule_->masks(p) && !std::ranges::binary_search(staying, p)) masked_.push_back(p);
  }
  std::erase_if(residents_, [&](Position p) {
    return std::ranges::binary_search(middle_, p) && !std::ranges::binary_search(staying, p);
  });
  middle_ = staying;
}

}  // namespace kv
