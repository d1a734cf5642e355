#include "kvcheck/traces/verify.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/text/describe.h"

namespace kv {
namespace {

// The place of a row of numbers, for messages.
struct Place {
  std::size_t layer = 0;  // the model's number
  std::string_view tensor;
  std::size_t head = 0;
  std::size_t token = 0;  // the query, in attention
};

std::string text_of(const Place& place, bool rows) {
  return "layer " + std::to_string(place.layer) + (rows ? "" : ", " + std::string(place.tensor)) +
         ", head " + std::to_string(place.head) + (rows ? ", query " : ", token ") +
         std::to_string(place.token);
}

// The index of the first value that `right` refuses, or values.size().
template <typename Right>
std::size_t first_wrong(std::span<const float> values, const Right& right) {
  const auto at = std::ranges::find_if_not(values, right);
  return static_cast<std::size_t>(at - values.begin());
}

class Pass {
 public:
  explicit Pass(const Trace& trace) : trace_(trace) {
    report_.smallest = std::numeric_limits<float>::infinity();
    report_.largest = -std::numeric_limits<float>::infinity();
  }

  Result<VerifyResult> run() {
    if (auto right = check_tokens(); !right) return right.error();
    for (std::size_t index = 0; index < trace_.info().layers.size(); ++index) {
      const Trace::Layer& layer = trace_.layer(index);
      const std::size_t number = trace_.info().layers[index];
      for (const auto& [name, view] :
           {std::pair{"attention", &layer.attention}, std::pair{"q", &layer.q},
            std::pair{"k", &layer.k}, std::pair{"v", &layer.v}}) {
        if (view->data == nullptr) continue;
        if (auto right = check_tensor({number, name, 0, 0}, *view); !right) return right.error();
      }
    }
    return report_;
  }

 private:
  [[nodiscard]] bool attention() const { return trace_.info().kind == TraceKind::attention; }

  Result<void> check_tokens() {
    const auto ids = trace_.token_ids();
    const auto at = std::ranges::find_if(ids, [](std::int32_t id) { return id < 0; });
    if (at == ids.end()) return {};
    return wrong("tensor 'tokens', token " + std::to_string(at - ids.begin()) + ": the id is " +
                 std::to_string(*at) + "; expected at least 0");
  }

  Result<void> check_tensor(Place place, const TensorView& view) {
    const std::size_t width = view.shape[2];
    const bool of_queries = place.tensor == "attention" || place.tensor == "q";
    std::vector<float> row(width);
    const std::byte* bytes = view.data;
    for (place.head = 0; place.head < view.shape[0]; ++place.head) {
      for (place.token = 0; place.token < view.shape[1]; ++place.token) {
        kernels().widen(view.number, bytes, width, row.data());
        bytes += width * view.bytes_per_number();
        Place at = place;
        if (of_queries) at.token = recorded_query(trace_.info(), place.token);
        if (auto right = check_row(at, row); !right) return right;
      }
    }
    return {};
  }

  Result<void> check_row(const Place& place, std::span<const float> row) {
    report_.numbers += row.size();
    const auto finite = [](float value) { return std::isfinite(value); };
    if (const std::size_t at = first_wrong(row, finite); at < row.size()) {
      return wrong_at(place, at, row[at], "a finite number");
    }
    const auto [low, high] = std::ranges::minmax(row);
    report_.smallest = std::min(report_.smallest, low);
    report_.largest = std::max(report_.largest, high);
    return attention() ? check_probabilities(place, row, low) : Result<void>{};
  }

  Result<void> check_probabilities(const Place& place, std::span<const float> row, float low) {
    if (low < 0) {
      const std::size_t at = first_wrong(row, [](float weight) { return weight >= 0; });
      return wrong_at(place, at, row[at], "at least 0");
    }
    const std::size_t visible = place.token + 1;
    const auto future = row.subspan(visible);
    if (const std::size_t at = first_wrong(future, [](float w) { return w == 0; });
        at < future.size()) {
      return wrong_at(place, visible + at, future[at], "0, because that key comes after the query");
    }
    const float total = kernels().sum(row.data(), visible);
    const double sum = double{total};
    // What is missing to 1 is the sink's.
    const double off = trace_.info().learned_sinks ? std::max(sum - 1, 0.0) : std::abs(sum - 1);
    const double tolerance = row_tolerance(trace_.info().number, visible);
    if (off > tolerance) {
      return wrong(text_of(place, true) + ": the weights sum to " + shown(total) + "; expected " +
                   (trace_.info().learned_sinks ? "at most 1" : "1") + " within " +
                   shown(static_cast<float>(tolerance)));
    }
    ++report_.rows;
    if (off >= report_.worst_row) {
      report_.worst_row = off;
      report_.worst_tolerance = tolerance;
    }
    return {};
  }

  [[nodiscard]] Result<void> wrong_at(const Place& place,
                                      std::size_t at,
                                      float found,
                                      const std::string& expected) const {
    return wrong(text_of(place, attention()) + (attention() ? ", key " : ", dimension ") +
                 std::to_string(at) + ": found " + shown(found) + "; expected " + expected);
  }

  [[nodiscard]] Result<void> wrong(const std::string& sentence) const {
    return malformed(shown(trace_.info().name) + ": " + sentence);
  }

  const Trace& trace_;
  VerifyResult report_;
};

}  // namespace

double row_tolerance(Number number, std::size_t n) {
  const auto entries = static_cast<double>(n);
  const double arithmetic = (entries + 8) * 0x1p-23;
  switch (number) {
    case Number::f32:
      return arithmetic;
    case Number::f16:
      return arithmetic + 0x1p-11 + entries * 0x1p-25;
    case Number::bf16:
      break;
  }
  return arithmetic + 0x1p-8;
}

Result<VerifyResult> verify(const Trace& trace) {
  return Pass(trace).run();
}

}  // namespace kv
