#include "kvcheck/properties/reference/reference_cache.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kvcheck/base/check.h"

namespace kv::properties {

ReferenceCache::ReferenceCache(const Spec& spec, std::shared_ptr<Draws> draws)
    : spec_(spec), draws_(std::move(draws)), rule_(rule_of(spec)) {
  KV_CHECK(rule_ != nullptr);
}

ReferenceCache::ReferenceCache(const ReferenceCache& other)
    : spec_(other.spec_),
      draws_(other.draws_),
      rule_(other.rule_->clone()),
      pages_(other.pages_),
      residents_(other.residents_),
      stored_(other.stored_),
      masked_(other.masked_),
      middle_(other.middle_),
      left_(other.left_),
      entered_(other.entered_),
      newcomers_(other.newcomers_),
      seen_(other.seen_),
      doubtful_(other.doubtful_) {}

ReferenceCache ReferenceCache::with(std::shared_ptr<Draws> draws) const {
  ReferenceCache copy(*this);
  copy.draws_ = std::move(draws);
  return copy;
}

std::vector<std::vector<Position>> ReferenceCache::feed(std::size_t tokens,
                                                        const MassOf& mass_of,
                                                        const InputsOf& inputs_of) {
  return std::move(feed_together({this, 1}, tokens, {&mass_of, 1}, {&inputs_of, 1}).front());
}

std::vector<std::vector<std::vector<Position>>> ReferenceCache::feed_together(
    std::span<ReferenceCache> models,
    std::size_t tokens,
    std::span<const MassOf> mass_of,
    std::span<const InputsOf> inputs_of) {
  const Spec& spec = models.front().spec_;
  const bool windowed = spec.visibility == Visibility::window;
  const bool early = spec.timing == Timing::trim_then_attend;
  const std::uint64_t first = models.front().seen_;
  if (early && !windowed) leave(models, first + tokens);
  for (ReferenceCache& model : models) model.take_in(tokens);
  std::vector<std::vector<std::vector<Position>>> visible(models.size());
  for (std::uint64_t query = first; query < first + tokens; ++query) {
    if (windowed) leave(models, query + 1);
    for (std::size_t i = 0; i < models.size(); ++i) {
      visible[i].push_back(models[i].ask(query, mass_of[i], inputs_of[i]));
    }
  }
  const std::uint64_t slack = spec.timing == Timing::lazy ? spec.slack : 0;
  if (spec.bounded() && !early && trimmable_in(models) > models.size() * (spec.budget + slack)) {
    leave(models, first + tokens);
    for (ReferenceCache& model : models) model.free_rows();
  }
  return visible;
}

void ReferenceCache::take_in(std::size_t tokens) {
  if (spec_.timing == Timing::trim_then_attend) free_rows();
  for (const std::uint64_t end = seen_ + tokens; seen_ < end; ++seen_) {
    residents_.push_back(static_cast<Position>(seen_));
    stored_.push_back(static_cast<Position>(seen_));
  }
}

// What the query sees, of which the rule is told.
std::vector<Position> ReferenceCache::ask(std::uint64_t query,
                                          const MassOf& mass_of,
                                          const InputsOf& inputs_of) {
  std::vector<Position> row;
  for (const Position p : residents_) {
    if (p <= query) row.push_back(p);
  }
  if (spec_.selects()) {
    const TokenInputs own = inputs_of(static_cast<Position>(query));
    pages_.met(own);
    row = pages_.selected(row, own, spec_.top_pages);
  }
  if (rule_->wants_inputs()) {
    rule_->met(static_cast<Position>(query), inputs_of(static_cast<Position>(query)));
  }
  if (rule_->wants_mass()) {
    rule_->saw(row, mass_of(row, static_cast<Position>(query)), *draws_);
  }
  return row;
}

// Rows that count against the budgets.
std::uint64_t ReferenceCache::trimmable_in(std::span<const ReferenceCache> models) {
  std::uint64_t rows = 0;
  for (const ReferenceCache& model : models) rows += model.stored_.size() - model.masked_.size();
  return rows;
}

void ReferenceCache::leave(std::span<ReferenceCache> models, std::uint64_t end) {
  for (ReferenceCache& model : models) model.leave_alone(end);
  if (models.front().spec_.budgets.shared()) settle_together(models);
}

// All but the last `recent` of the first `end` tokens leave the recent window, as far as they came.
void ReferenceCache::leave_alone(std::uint64_t end) {
  if (!spec_.bounded()) return;
  const bool shared = spec_.budgets.shared();
  newcomers_ = 0;
  for (; left_ < seen_ && left_ + spec_.recent < end; ++left_) {
    if (left_ < spec_.sinks) continue;
    middle_.push_back(static_cast<Position>(left_));
    ++entered_;
    ++newcomers_;
    if (!rule_->in_bulk() && !shared) settle(1);
  }
  if (!shared) settle(newcomers_);
}

namespace {

// One of a layer's middles: what it is worth, how old it is, and whose.
struct AtStake {
  double score;
  Position position;
  std::size_t model;
};

// Least worth first, then the older, then the later head's.
bool is_evicted_before(const AtStake& a, const AtStake& b) {
  if (a.score != b.score) return a.score < b.score;
  if (a.position != b.position) return a.position < b.position;
  return a.model > b.model;
}

// Whether rounding might exchange those before `at` with those behind it.
bool close_at(const std::vector<AtStake>& sorted, std::size_t at) {
  if (at == 0 || at >= sorted.size()) return false;
  const double margin = sorted[at].score - sorted[at - 1].score;
  return margin > 0 && margin < 1e-5 * std::abs(sorted[at].score);
}

}  // namespace

// Everybody puts all but what is sure to stay in one row, and from its low end one after the other
// goes until the layer holds what its heads may.
void ReferenceCache::settle_together(std::span<ReferenceCache> models) {
  const Spec& spec = models.front().spec_;
  const std::size_t floor = std::size_t{spec.middle()} * spec.budgets.alpha / 1000;
  std::size_t all = 0;
  for (const ReferenceCache& model : models) all += model.middle_.size();
  const std::size_t may_stay = models.size() * spec.middle();
  if (all <= may_stay) return;
  std::vector<AtStake> at_stake;
  for (std::size_t i = 0; i < models.size(); ++i) {
    ReferenceCache& model = models[i];
    const auto score =
        model.rule_->scores({model.middle_, spec.middle(), model.entered_, model.newcomers_});
    std::vector<AtStake> own;
    for (std::size_t j = 0; j < score.size(); ++j) own.push_back({score[j], model.middle_[j], i});
    std::ranges::sort(own, is_evicted_before);
    const std::size_t sure = std::min(floor, own.size());
    models.front().doubtful_ |= close_at(own, own.size() - sure);
    at_stake.insert(at_stake.end(), own.begin(), own.end() - static_cast<std::ptrdiff_t>(sure));
  }
  std::ranges::sort(at_stake, is_evicted_before);
  const std::size_t going = all - may_stay;
  models.front().doubtful_ |= close_at(at_stake, going);
  at_stake.resize(going);
  for (std::size_t i = 0; i < models.size(); ++i) {
    std::vector<Position> staying = models[i].middle_;
    for (const AtStake& gone : at_stake) {
      if (gone.model != i) continue;
      std::erase(staying, gone.position);
      models[i].rule_->lost(gone.position);
    }
    models[i].drop_to(staying);
  }
}

void ReferenceCache::settle(std::size_t newcomers) {
  const std::size_t capacity = spec_.middle();
  if (middle_.size() <= capacity) return;
  drop_to(capacity == 0 ? std::vector<Position>{}
                        : rule_->stay({middle_, capacity, entered_, newcomers}, *draws_));
}

// Residents stay stored, and who is masked.
void ReferenceCache::free_rows() {
  stored_ = residents_;
  stored_.insert(stored_.end(), masked_.begin(), masked_.end());
  std::ranges::sort(stored_);
}

void ReferenceCache::drop_to(const std::vector<Position>& staying) {
  for (const Position p : middle_) {
    if (rule_->masks(p) && !std::ranges::binary_search(staying, p)) masked_.push_back(p);
  }
  std::erase_if(residents_, [&](Position p) {
    return std::ranges::binary_search(middle_, p) && !std::ranges::binary_search(staying, p);
  });
  middle_ = staying;
}

}  // namespace kv::properties
