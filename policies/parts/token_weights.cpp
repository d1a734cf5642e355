#include "kvcheck/policies/parts/token_weights.h"

#include <algorithm>
#include <array>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/rows.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

// Samplers divide by weights and by sums of weights, so a weight of 0 is raised to this.
constexpr double least_weight = 1e-12;

constexpr auto weights = std::array<std::string_view, 3>{"attention", "value-norm", "equal"};
constexpr auto parameters = std::array<Parameter, 1>{{
    {.name = "weight",
     .default_value = "attention",
     .choices = weights,
     .meaning = "the weight of a token: its mean attention since its arrival, the length of its "
                "value, or 1"},
}};

}  // namespace

Needs TokenWeights::needs() const {
  return {.attention = weight_ == Weight::attention, .values = weight_ == Weight::value_norm};
}

void TokenWeights::observe(const Observation& observation) {
  if (weight_ == Weight::attention) {
    const std::size_t n = observation.mass.size();
    KV_CHECK(n >= sums_.size());
    sums_.resize(n);
    born_.resize(n, queries_);
    ++queries_;
    add_mass(sums_, observation.mass);
  }
  if (weight_ == Weight::value_norm) {
    const HeadVectors& values = observation.values;
    double sum = 0;
    for (std::size_t head = 0; head < values.heads(); ++head) sum += norm_of(values.head(head));
    sums_.push_back(sum / static_cast<double>(values.heads()));
  }
}

void TokenWeights::forget(std::span<const std::size_t> ranks) {
  erase_ranks(sums_, ranks);
  erase_ranks(born_, ranks);
}

double TokenWeights::at(std::size_t rank) const {
  if (weight_ == Weight::equal) return 1;
  KV_CHECK(rank < sums_.size());
  // Divided by the queries that saw the token: older tokens would otherwise weigh more by age
  // alone.
  const double weight =
      weight_ == Weight::attention ? sums_[rank] / (queries_ - born_[rank]) : sums_[rank];
  return std::max(weight, least_weight);
}

void TokenWeights::save(ByteWriter& writer) const {
  writer.put(queries_);
  writer.put(sums_);
  for (const double born : born_) writer.put(born);
}

void TokenWeights::load(ByteReader& reader) {
  queries_ = reader.get<double>();
  reader.get(sums_);
  born_.resize(weight_ == Weight::attention ? sums_.size() : 0);
  for (double& born : born_) born = reader.get<double>();
}

std::span<const Parameter> weight_parameters() {
  return parameters;
}

Weight weight_of(const Options& options) {
  const std::string& word = options.at("weight");
  if (word == "value-norm") return Weight::value_norm;
  return word == "equal" ? Weight::equal : Weight::attention;
}

}  // namespace kv
