#include "kvcheck/policies/content/q_filters.h"

#include <Eigen/Eigenvalues>
#include <array>
#include <cstdint>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/rotator.h"
#include "kvcheck/policies/parts/rows.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class QFilters final : public Policy {
 public:
  explicit QFilters(std::size_t renew) : renew_(renew) {}

  [[nodiscard]] Needs needs() const override { return {.keys = true, .queries = true}; }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void rotate_by(const Rotation* rotation, bool at_ranks) override {
    rotator_ = Rotator(rotation, at_ranks);
  }

  void observe(const Observation& observation) override {
    dim_ = observation.keys.dim;
    width_ = observation.keys.numbers.size();
    heads_ = observation.queries.heads();
    keys_.insert(keys_.end(), observation.keys.numbers.begin(), observation.keys.numbers.end());
    query_.assign(observation.queries.numbers.begin(), observation.queries.numbers.end());
    const auto rank = static_cast<Position>(keys_.size() / width_ - 1);
    rotator_.rotate_to(rotator_.at_ranks() ? rank : observation.query, dim_, query_);
    if (!rotator_.at_ranks()) {
      rotator_.rotate_to(observation.query, dim_, std::span(keys_).last(width_));
    }
    ++queries_;
    sums_.resize(heads_ * dim_);
    products_.resize(heads_ * dim_ * dim_);
    for (std::size_t head = 0; head < heads_; ++head) add_query(head);
  }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    KV_CHECK((candidates.first_rank + n) * width_ <= keys_.size());
    if (filtered_ == 0 || (renew_ > 0 && queries_ - filtered_ >= renew_)) find_filters();
    if (rotator_.moves()) {
      at_ranks_ = keys_;
      rotator_.rotate_to_ranks(dim_, width_, width_, at_ranks_);
    }
    const std::vector<float>& keys = rotator_.moves() ? at_ranks_ : keys_;
    scores_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const float* const key = keys.data() + (candidates.first_rank + i) * width_;
      scores_[i] = kernels().dot_weights(key, filters_.data(), width_);
    }
    append_lowest(std::span<const double>(scores_), n - candidates.capacity, victims);
  }

  void forget(std::span<const std::size_t> ranks) override { erase_rows(keys_, ranks, width_); }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<QFilters>(*this);
  }

  void save(ByteWriter& writer) const override {
    for (const std::size_t size : {dim_, width_, heads_}) writer.put(size);
    writer.put(queries_);
    writer.put(filtered_);
    writer.put(keys_);
    writer.put(sums_);
    writer.put(products_);
    writer.put(filters_);
  }

  void load(ByteReader& reader) override {
    for (std::size_t* size : {&dim_, &width_, &heads_}) *size = reader.get<std::size_t>();
    queries_ = reader.get<std::uint64_t>();
    filtered_ = reader.get<std::uint64_t>();
    reader.get(keys_);
    reader.get(sums_);
    reader.get(products_);
    reader.get(filters_);
  }

 private:
  // Only the lower triangle of the products, which is what the solver reads.
  void add_query(std::size_t head) {
    const float* const query = query_.data() + head * dim_;
    for (std::size_t i = 0; i < dim_; ++i) {
      sums_[head * dim_ + i] += double{query[i]};
      double* const row = products_.data() + (head * dim_ + i) * dim_;
      for (std::size_t j = 0; j <= i; ++j) row[j] += double{query[i]} * double{query[j]};
    }
  }

  // The sums of directions in place of their means have the same order within a kv-head, and every
  // kv-head has equally many.
  void find_filters() {
    filtered_ = queries_;
    filters_.assign(width_, 0);
    const std::size_t group = heads_ * dim_ / width_;  // query heads per kv-head
    for (std::size_t head = 0; head < heads_; ++head) {
      add_direction(head, std::span(filters_).subspan(head / group * dim_, dim_));
    }
  }

  // The first right singular vector of the queries is the eigenvector of the largest eigenvalue of
  // their products, which are the smaller matrix and need not store queries.
  void add_direction(std::size_t head, std::span<double> filter) const {
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const auto d = static_cast<Eigen::Index>(dim_);
    const Eigen::Map<const Matrix> products(products_.data() + head * dim_ * dim_, d, d);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver{Eigen::MatrixXd(products)};
    if (solver.info() != Eigen::Success) return;
    const Eigen::VectorXd direction = solver.eigenvectors().col(d - 1);
    const double* const sums = sums_.data() + head * dim_;
    double along = 0;
    for (std::size_t i = 0; i < dim_; ++i)
      along += sums[i] * direction[static_cast<Eigen::Index>(i)];
    for (std::size_t i = 0; i < dim_; ++i) {
      const double part = direction[static_cast<Eigen::Index>(i)];
      filter[i] += along < 0 ? -part : part;
    }
  }

  std::size_t renew_;
  Rotator rotator_;
  std::size_t dim_ = 0;           // of one head
  std::size_t width_ = 0;         // of all keys of a token
  std::size_t heads_ = 0;         // query heads
  std::uint64_t queries_ = 0;     // observed so far
  std::uint64_t filtered_ = 0;    // queries_ when filters were computed; 0: never
  std::vector<float> keys_;       // [residents, width], by rank; rotated by their positions, unless
                                  // positions are ranks, which change
  std::vector<double> sums_;      // [heads, dim]: of queries
  std::vector<double> products_;  // [heads, dim, dim]: of pairs of their channels
  std::vector<double> filters_;   // [width]
  std::vector<float> query_;      // scratch
  std::vector<float> at_ranks_;   // scratch: keys_ rotated to ranks
  std::vector<double> scores_;    // scratch
};

constexpr auto claims = std::array<std::string_view, 2>{"constant-size", "deterministic"};

constexpr auto parameters = std::array<Parameter, 1>{{
    {.name = "renew",
     .default_value = "64",
     .meaning =
         "after how many queries the filters are computed anew from all queries so far; 0: they "
         "remain those of the first trim",
     .range = counts(0, 1U << 24U)},
}};

}  // namespace

std::unique_ptr<Policy> make_q_filters(std::size_t renew) {
  return std::make_unique<QFilters>(renew);
}

PolicyEntry q_filters_policy() {
  return {
      .name = "q-filters",
      .summary = "Keeps the tokens whose keys reach far along the main direction of the queries.",
      .protection = {},
      .parameters = parameters,
      .claims = claims,
      .source =
          "Godey et al., \"Q-Filters: Leveraging QK Geometry for Efficient KV Cache "
          "Compression\", arXiv:2503.02812; code NathanGodey/qfilters, make_filters.py and "
          "src/hf_cache.py, and NVIDIA/kvpress, QFilterPress",
      .differs =
          "The source computes its filters once for a model, from the queries of other texts; "
          "here they are of the queries of the stream so far. The source orients a direction "
          "by the majority of its queries, here by their mean. Its code keeps 64 recent tokens; "
          "by default half of the budget is kept here. Of equal scores the older token is "
          "evicted.",
      .cost =
          "O(query heads * dim^2) time a query; O(residents * key) a trim; O(query heads * "
          "dim^3) for new filters; 4 bytes for each number of a key per resident, and 8 * dim^2 "
          "per query head",
      .make = [](const Options& options) { return make_q_filters(options.count("renew")); }};
}

}  // namespace kv
