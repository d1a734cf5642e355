#include "kvcheck/reports/compare/measures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

#include "kvcheck/reports/numbers/bootstrap.h"

namespace kv::reports {
namespace {

constexpr std::array<Measure, 23> all = {{
    {.name = "retained_mass",
     .title = "retained mass once evicting",
     .more_is_better = true,
     .once_evicting = true},
    {.name = "optimum_share",
     .title = "share of the optimum once evicting",
     .more_is_better = true,
     .once_evicting = true},
    {.name = "topk_overlap",
     .title = "top-k overlap once evicting",
     .more_is_better = true,
     .once_evicting = true},
    {.name = "output_error", .title = "output error once evicting", .once_evicting = true},
    {.name = "kl_to_dense", .title = "KL to dense once evicting, nats", .once_evicting = true},
    {.name = "moved_rows", .title = "rows moved by trims", .only_asked_for = true},
    {.name = "loss", .title = "loss per token, nats", .in = MeasuredIn::evaluations},
    {.name = "loss_after",
     .title = "loss per token once evicting, nats",
     .in = MeasuredIn::evaluations,
     .once_evicting = true},
    {.name = "loss_over_dense",
     .title = "loss per token above that of dense once evicting, nats",
     .in = MeasuredIn::evaluations,
     .only_asked_for = true,
     .once_evicting = true},
    {.name = "open_loop_mass",
     .title = "retained mass of the model's dense run once evicting",
     .more_is_better = true,
     .in = MeasuredIn::evaluations,
     .once_evicting = true},
    {.name = "recall",
     .title = "recall, share of right answers",
     .more_is_better = true,
     .in = MeasuredIn::evaluations},
    {.name = "recall_near",
     .title = "recall of facts up to 64 tokens ago",
     .more_is_better = true,
     .in = MeasuredIn::evaluations},
    {.name = "recall_far",
     .title = "recall of facts more than 64 tokens ago",
     .more_is_better = true,
     .in = MeasuredIn::evaluations},
    {.name = "exact",
     .title = "share of exact answers",
     .more_is_better = true,
     .in = MeasuredIn::tasks,
     .share_of_answers = true},
    {.name = "contains",
     .title = "share of answers that contain a right one",
     .more_is_better = true,
     .in = MeasuredIn::tasks,
     .share_of_answers = true},
    {.name = "f1",
     .title = "F1 of answers' words",
     .more_is_better = true,
     .in = MeasuredIn::tasks,
     .share_of_answers = true},
    {.name = "choice",
     .title = "share of right choices",
     .more_is_better = true,
     .in = MeasuredIn::tasks,
     .share_of_answers = true},
    {.name = "answer_loss",
     .title = "loss of the right answer per token, nats",
     .in = MeasuredIn::tasks},
    {.name = "first_token_s",
     .title = "time to the first token, seconds",
     .in = MeasuredIn::timings,
     .only_asked_for = true},
    {.name = "token_s",
     .title = "time of a token, seconds",
     .in = MeasuredIn::timings,
     .only_asked_for = true},
    {.name = "attention_s",
     .title = "time of a token in attention, seconds",
     .in = MeasuredIn::timings,
     .only_asked_for = true},
    {.name = "kv_bytes",
     .title = "bytes of keys and values",
     .in = MeasuredIn::timings,
     .only_asked_for = true},
    {.name = "peak_bytes",
     .title = "largest memory, bytes",
     .in = MeasuredIn::timings,
     .only_asked_for = true},
}};

}  // namespace

std::string_view Measure::units() const {
  switch (in) {
    case MeasuredIn::tasks:
      return "items";
    case MeasuredIn::timings:
      return "runs";
    case MeasuredIn::replays:
    case MeasuredIn::evaluations:
      break;
  }
  return "texts";
}

std::string Measure::counted(std::size_t count) const {
  const std::string_view all_of = units();
  return std::to_string(count) + " " +
         std::string(count == 1 ? all_of.substr(0, all_of.size() - 1) : all_of);
}

std::span<const Measure> measures() {
  return all;
}

const Measure* measure_named(std::string_view name) {
  const auto found = std::ranges::find(all, name, &Measure::name);
  return found == all.end() ? nullptr : &*found;
}

Interval mean_interval(const Measure& measure, std::span<const double> values) {
  std::vector<double> known;
  std::ranges::copy_if(values, std::back_inserter(known), [](double v) { return !std::isnan(v); });
  if (known.empty()) return {};
  return measure.share_of_answers ? share_interval(known) : bootstrap_interval(known);
}

Entry entry_of(const Measure& measure, double value) {
  constexpr int digits = 4;
  if (measure.in != MeasuredIn::timings || value == 0 || !std::isfinite(value)) {
    return number_entry(value, digits);
  }
  const int before_point = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  return number_entry(value, std::clamp(digits - before_point, 0, 12));
}

}  // namespace kv::reports
