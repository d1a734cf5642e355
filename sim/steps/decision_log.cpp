#include "kvcheck/sim/steps/decision_log.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kvcheck/base/check.h"

namespace kv {
namespace {

constexpr std::size_t next_victims = 8;
constexpr double no_score = std::numeric_limits<double>::quiet_NaN();

thread_local LoggedEntry* making = nullptr;

// The decision that these victims, by index, are.
Decision decision_of(Position seen,
                     std::span<const Position> positions,
                     std::span<const double> scores,
                     std::span<const std::size_t> victims) {
  Decision made{.seen = seen, .candidates = positions.size(), .victims = {}, .next = {}};
  const bool scored = scores.size() == positions.size();
  std::vector<std::size_t> kept(positions.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  for (const std::size_t victim : victims) {
    if (victim >= positions.size()) continue;  // the cache reports such a victim
    made.victims.push_back({positions[victim], scored ? scores[victim] : no_score});
  }
  if (!scored) return made;
  std::erase_if(kept, [&](std::size_t i) { return std::ranges::binary_search(victims, i); });
  const std::size_t some = std::min(next_victims, kept.size());
  std::partial_sort(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(some), kept.end(),
                    [&](std::size_t a, std::size_t b) {
                      return scores[a] != scores[b] ? scores[a] < scores[b] : a < b;
                    });
  for (std::size_t i = 0; i < some; ++i) made.next.push_back({positions[kept[i]], scores[kept[i]]});
  return made;
}

class LoggedPolicy final : public Policy {
 public:
  LoggedPolicy(std::unique_ptr<Policy> wrapped, bool rows, DecisionLog* log)
      : wrapped_(std::move(wrapped)), rows_(rows), log_(log) {}

  [[nodiscard]] Needs needs() const override {
    Needs needs = wrapped_->needs();
    needs.attention = needs.attention || rows_;
    return needs;
  }

  [[nodiscard]] Leaving leaving() const override { return wrapped_->leaving(); }

  [[nodiscard]] std::uint64_t masked_below(std::size_t sinks) const override {
    return wrapped_->masked_below(sinks);
  }

  void set_layer(const LayerOf& layer) override { wrapped_->set_layer(layer); }

  void rotate_by(const Rotation* rotation, bool at_ranks) override {
    wrapped_->rotate_by(rotation, at_ranks);
  }

  void observe(const Observation& observation) override {
    if (rows_) keep(observation.mass);
    const Needs needs = wrapped_->needs();
    if (!needs.any()) return;
    // The policy finds what it would find without the log.
    Observation shown = observation;
    if (!needs.attention) shown.mass = {};
    wrapped_->observe(shown);
  }

  void evict(const Candidates& candidates,
             Draws& draws,
             std::vector<std::size_t>& victims) override {
    std::vector<double> scores;
    if (wrapped_->scores_compare()) {
      // Of a copy: a call of scores() is a decision, and some policies decide only once.
      const std::unique_ptr<Policy> copy = wrapped_->clone();
      const auto found =
          copy->scores({candidates.positions, candidates.newcomers, candidates.first_rank});
      scores.assign(found.begin(), found.end());
    }
    wrapped_->evict(candidates, draws, victims);
    log_->decisions.push_back(decision_of(log_->seen, candidates.positions, scores, victims));
  }

  void forget(std::span<const std::size_t> ranks) override {
    if (!pooled_.empty()) {
      // The units of a layer decided together, so the victims are known only now.
      std::vector<std::size_t> victims;
      for (const std::size_t rank : ranks) victims.push_back(rank - first_rank_);
      log_->decisions.push_back(decision_of(log_->seen, pooled_, pooled_scores_, victims));
      pooled_.clear();
    }
    wrapped_->forget(ranks);
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<LoggedPolicy>(wrapped_->clone(), rows_, log_);
  }

  void save(ByteWriter& writer) const override { wrapped_->save(writer); }

  void load(ByteReader& reader) override { wrapped_->load(reader); }

  [[nodiscard]] bool scores_compare() const override { return wrapped_->scores_compare(); }

  [[nodiscard]] std::span<const double> scores(const PooledCandidates& candidates) override {
    const std::span<const double> scores = wrapped_->scores(candidates);
    pooled_.assign(candidates.positions.begin(), candidates.positions.end());
    pooled_scores_.assign(scores.begin(), scores.end());
    first_rank_ = candidates.first_rank;
    return scores;
  }

 private:
  void keep(std::span<const float> row) {
    if (log_->mass.size() + row.size() > log_->most_mass) log_->too_much = true;
    if (log_->too_much) {
      log_->mass = {};
    } else {
      log_->mass.insert(log_->mass.end(), row.begin(), row.end());
    }
  }

  std::unique_ptr<Policy> wrapped_;
  bool rows_;
  DecisionLog* log_;
  std::vector<Position> pooled_;  // the last candidates of a shared decision
  std::vector<double> pooled_scores_;
  std::size_t first_rank_ = 0;
};

}  // namespace

LoggedEntry::LoggedEntry(const PolicyEntry& entry, bool rows, std::size_t most_mass)
    : wrapped_(&entry), logged_(entry), rows_(rows), most_mass_(most_mass) {
  KV_CHECK(making == nullptr);
  logged_.make = &LoggedEntry::make;
  making = this;
}

LoggedEntry::~LoggedEntry() {
  making = nullptr;
}

std::unique_ptr<Policy> LoggedEntry::make(const Options& options) {
  KV_CHECK(making != nullptr);
  LoggedEntry& entry = *making;
  entry.logs_.push_back(std::make_unique<DecisionLog>());
  entry.logs_.back()->most_mass = entry.most_mass_;
  return std::make_unique<LoggedPolicy>(entry.wrapped_->make(options), entry.rows_,
                                        entry.logs_.back().get());
}

}  // namespace kv
