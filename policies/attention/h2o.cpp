#include "kvcheck/policies/attention/h2o.h"

#include <array>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class H2o final : public Policy {
 public:
  H2o(Normalise normalise, H2oForm form) : normalise_(normalise), form_(form) {}

  [[nodiscard]] Needs needs() const override { return {.attention = true}; }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  [[nodiscard]] std::uint64_t masked_below(std::size_t /*sinks*/) const override {
    return form_ == H2oForm::mask_simulation ? masks_all : 0;
  }

  void observe(const Observation& observation) override {
    const std::size_t n = observation.mass.size();
    KV_CHECK(n >= gathered_.size());
    gathered_.resize(n);
    if (normalise_ == Normalise::age) born_.resize(n, static_cast<double>(queries_));
    ++queries_;
    add_mass(gathered_, observation.mass);
  }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    KV_CHECK(candidates.first_rank + n <= gathered_.size());
    // flexgen's generation loop admits the newcomer unranked. After its prompt several tokens leave
    // the window at once, and it ranks them all.
    const std::size_t admitted = form_ == H2oForm::flexgen && candidates.newcomers == 1 ? 1 : 0;
    append_lowest(scores_of(candidates.first_rank, n - admitted), n - candidates.capacity, victims);
  }

  // Not for flexgen, which keeps newcomers whatever their score.
  [[nodiscard]] bool scores_compare() const override { return form_ != H2oForm::flexgen; }

  std::span<const double> scores(const PooledCandidates& candidates) override {
    KV_CHECK(candidates.first_rank + candidates.positions.size() <= gathered_.size());
    return scores_of(candidates.first_rank, candidates.positions.size());
  }

  void forget(std::span<const std::size_t> ranks) override {
    erase_ranks(gathered_, ranks);
    erase_ranks(born_, ranks);
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<H2o>(*this);
  }

  void save(ByteWriter& writer) const override {
    writer.put(queries_);
    writer.put(gathered_);
    for (const double born : born_) writer.put(born);
  }

  void load(ByteReader& reader) override {
    queries_ = reader.get<std::uint64_t>();
    reader.get(gathered_);
    born_.resize(normalise_ == Normalise::age ? gathered_.size() : 0);
    for (double& born : born_) born = reader.get<double>();
  }

 private:
  // The scores of n ranks; the view holds until the next call.
  std::span<const double> scores_of(std::size_t first_rank, std::size_t n) {
    const auto gathered = std::span(gathered_).subspan(first_rank, n);
    if (normalise_ == Normalise::none) return gathered;
    scores_.resize(n);
    const double* const born = born_.data() + first_rank;
    const auto queries = static_cast<double>(queries_);
    for (std::size_t i = 0; i < n; ++i) scores_[i] = gathered[i] / (queries - born[i]);
    return scores_;
  }

  Normalise normalise_;
  H2oForm form_;
  std::uint64_t queries_ = 0;     // observed so far
  std::vector<double> gathered_;  // [residents], by rank: mass since arrival
  std::vector<double> born_;      // [residents]: queries_ at arrival; only for normalise=age
  std::vector<double> scores_;    // scratch
};

constexpr auto claims =
    std::array<std::string_view, 3>{"constant-size", "deterministic", "score-driven"};

constexpr auto normalisations = std::array<std::string_view, 2>{"none", "age"};
constexpr auto forms = std::array<std::string_view, 3>{"real-drop", "flexgen", "mask-simulation"};
constexpr auto parameters = std::array<Parameter, 2>{{
    {.name = "form",
     .default_value = "real-drop",
     .choices = forms,
     .meaning =
         "which of the authors' programs: flexgen admits every newcomer, mask-simulation masks "
         "evicted rows instead of freeing them"},
    {.name = "normalise",
     .default_value = "none",
     .choices = normalisations,
     .meaning = "age divides a token's sum of mass by the number of queries that saw the token"},
}};

H2oForm form_of(std::string_view word) {
  if (word == "flexgen") return H2oForm::flexgen;
  return word == "mask-simulation" ? H2oForm::mask_simulation : H2oForm::real_drop;
}

}  // namespace

std::unique_ptr<Policy> make_h2o(Normalise normalise, H2oForm form) {
  return std::make_unique<H2o>(normalise, form);
}

PolicyEntry h2o_policy() {
  return {
      .name = "h2o",
      .summary = "Keeps the heavy hitters: the tokens that have received the most attention.",
      .protection = {},
      .parameters = parameters,
      .claims = claims,
      .source =
          "Zhang et al., \"H2O: Heavy-Hitter Oracle for Efficient Generative Inference of "
          "Large Language Models\", NeurIPS 2023, arXiv:2306.14048, algorithm 1; code "
          "FMInference/H2O, h2o_hf/utils_real_drop/modify_llama.py, "
          "h2o_flexgen/flexgen/pytorch_backend.py and flex_opt.py, "
          "h2o_hf/utils_hh/modify_llama.py; division by age: NVIDIA/kvpress, "
          "ObservedAttentionPress",
      .differs =
          "Mass is renormalised over the visible tokens and averaged over the unit's heads. Of "
          "equal scores the older token is evicted. Sizes are counts; in the authors' code they "
          "are shares of the prompt. With mask-simulation a token that leaves the recent window "
          "can be kept at once; in the authors' code it is first hidden for one step. Hidden "
          "tokens never return; in that code they may return where scores are 0. Sums are kept "
          "in double; flexgen keeps them in f16.",
      .cost = "O(residents) time a query; 8 bytes per resident, 24 with normalise=age",
      .make = [](const Options& options) {
        return make_h2o(options.at("normalise") == "age" ? Normalise::age : Normalise::none,
                        form_of(options.at("form")));
      }};
}

}  // namespace kv
