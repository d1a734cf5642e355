#include "kvcheck/cli/judge/array_history.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "kvcheck/traces/files/safetensors.h"

namespace kv::cli {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30U;  // of the lines
constexpr std::size_t most_tokens = 10'000'000;            // what token ids can name

// The whole numbers of a tensor, which need not be aligned.
std::vector<std::int64_t> numbers_of(const SafetensorsTensor& tensor) {
  const std::size_t each = dtype_bytes(tensor.dtype);
  std::vector<std::int64_t> numbers(tensor.data.size() / each);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (tensor.dtype == Dtype::i64) {
      std::memcpy(&numbers[i], tensor.data.data() + i * each, each);
    } else {
      std::int32_t narrow = 0;
      std::memcpy(&narrow, tensor.data.data() + i * each, each);
      numbers[i] = narrow;
    }
  }
  return numbers;
}

class ArrayHistory {
 public:
  ArrayHistory(const Safetensors& file, std::string name) : file_(file), name_(std::move(name)) {}

  Result<std::string> lines() {
    if (auto read = read_feeds(); !read) return read.error();
    if (auto read = read_evictions(); !read) return read.error();
    const auto head = file_.metadata.find("head");
    if (head == file_.metadata.end()) {
      return wrong("has no metadata 'head'; expected the head of a run, as a line of JSON");
    }
    if (head->second.find('\n') != std::string::npos) {
      return wrong("metadata 'head': more than one line");
    }
    const auto visible = file_.metadata.find("visible");
    if (visible != file_.metadata.end() && visible->second != "causal") {
      return wrong("metadata 'visible' is not \"causal\"; other masks are recorded as lines");
    }
    return written(head->second, visible != file_.metadata.end());
  }

 private:
  [[nodiscard]] Error wrong(const std::string& what) const { return malformed(name_ + " " + what); }

  [[nodiscard]] Result<const SafetensorsTensor*> tensor(const char* name, std::size_t axes) const {
    const SafetensorsTensor* const found = file_.find(name);
    if (found == nullptr) return wrong("has no tensor '" + std::string(name) + "'");
    const bool whole = found->dtype == Dtype::i32 || found->dtype == Dtype::i64;
    if (!whole || found->shape.size() != axes) {
      return wrong("tensor '" + std::string(name) + "': expected I32 or I64 with " +
                   std::to_string(axes) + (axes == 1 ? " axis" : " axes") + ", found " +
                   std::string(dtype_name(found->dtype)) + " with " +
                   std::to_string(found->shape.size()));
    }
    return found;
  }

  Result<void> read_feeds() {
    const auto found = tensor("feeds", 1);
    if (!found) return found.error();
    feeds_ = numbers_of(**found);
    for (std::size_t call = 0; call < feeds_.size(); ++call) {
      const std::int64_t fed = feeds_[call];
      if (fed < 0 || tokens_ + static_cast<std::uint64_t>(fed) > most_tokens) {
        return wrong("tensor 'feeds': call " + std::to_string(call) + " feeds " +
                     std::to_string(fed) + " tokens; expected at most " +
                     std::to_string(most_tokens) + " in all");
      }
      tokens_ += static_cast<std::uint64_t>(fed);
    }
    return {};
  }

  Result<void> read_evictions() {
    const auto found = tensor("evicted_at", 4);
    if (!found) return found.error();
    shape_ = (*found)->shape;
    if (shape_[3] != tokens_) {
      return wrong("tensor 'evicted_at' has " + std::to_string(shape_[3]) +
                   " tokens, and 'feeds' has " + std::to_string(tokens_));
    }
    units_ = tokens_ == 0 ? 0 : (*found)->data.size() / dtype_bytes((*found)->dtype) / tokens_;
    if (units_ == 0) return wrong("tensor 'evicted_at' is empty; expected a unit and a token");
    // Each entry and each token of a line, rounded up.
    if (feeds_.size() * (64 + units_ * 80) + units_ * tokens_ * 10 > most_bytes) {
      return wrong("has too many calls and units to be read; record fewer layers or heads");
    }
    const std::vector<std::int64_t> at = numbers_of(**found);
    gone_.resize(feeds_.size() * units_);
    std::size_t call = 0;
    std::uint64_t fed = 0;
    for (std::size_t token = 0; token < tokens_; ++token) {
      while (token >= fed + static_cast<std::uint64_t>(feeds_[call])) {
        fed += static_cast<std::uint64_t>(feeds_[call++]);
      }
      for (std::size_t unit = 0; unit < units_; ++unit) {
        const std::int64_t when = at[unit * tokens_ + token];
        if (when == -1) continue;
        if (std::cmp_less(when, call) || std::cmp_greater_equal(when, feeds_.size())) {
          return wrong("tensor 'evicted_at': token " + std::to_string(token) + " of unit " +
                       std::to_string(unit) + " is evicted at call " + std::to_string(when) +
                       "; expected -1, or a call from " + std::to_string(call) + " to " +
                       std::to_string(feeds_.size() - 1));
        }
        gone_[static_cast<std::size_t>(when) * units_ + unit].push_back(token);
      }
    }
    return {};
  }

  [[nodiscard]] std::string written(const std::string& head, bool causal) const {
    std::string text = head + "\n";
    for (std::size_t call = 0; call < feeds_.size(); ++call) {
      text += "{\"do\":\"feed\",\"tokens\":" + std::to_string(feeds_[call]) + ",\"units\":[";
      for (std::size_t unit = 0; unit < units_; ++unit) {
        text += std::string(unit == 0 ? "" : ",") +
                "{\"sequence\":" + std::to_string(unit / shape_[2] / shape_[1]) +
                ",\"layer\":" + std::to_string(unit / shape_[2] % shape_[1]) +
                ",\"head\":" + std::to_string(unit % shape_[2]) +
                (causal ? ",\"visible\":\"causal\"" : "") + ",\"evicted\":[";
        const std::vector<std::size_t>& gone = gone_[call * units_ + unit];
        for (std::size_t i = 0; i < gone.size(); ++i) {
          text += (i == 0 ? "" : ",") + std::to_string(gone[i]);
        }
        text += "]}";
      }
      text += "]}\n";
    }
    return text;
  }

  const Safetensors& file_;
  std::string name_;
  std::vector<std::int64_t> feeds_;
  std::size_t tokens_ = 0;
  std::vector<std::size_t> shape_;  // sequences, layers, heads, tokens
  std::size_t units_ = 0;
  std::vector<std::vector<std::size_t>> gone_;  // [calls, units], the tokens that are evicted
};

}  // namespace

bool is_array_history(std::string_view bytes) {
  constexpr std::size_t length_bytes = 8;
  if (bytes.size() <= length_bytes || bytes[length_bytes] != '{') return false;
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), length_bytes);
  return length <= safetensors_header_limit;
}

Result<std::string> lines_of_arrays(std::string_view bytes, const std::string& name) {
  const auto file = parse_safetensors(std::as_bytes(std::span(bytes)));
  if (!file) return Error{file.error().kind, name + ": " + file.error().message};
  return ArrayHistory(*file, name).lines();
}

}  // namespace kv::cli
