#include "kvcheck/fuzz/support/small_model.h"

#include <memory>
#include <span>
#include <vector>

#include "kvcheck/base/check.h"
#include "kvcheck/base/random/rng.h"

namespace kv::fuzz {
namespace {

constexpr std::size_t width = 64;
constexpr std::size_t kv_width = 32;
constexpr std::size_t inner = 48;
constexpr std::size_t vocabulary = 32;

class Maker {
 public:
  model::LanguageModel made() {
    model::LanguageModel made;
    made.config = {.architecture = model::Architecture::llama,
                   .name = "llama",
                   .note = {},
                   .layers = 3,
                   .width = width,
                   .heads = 2,
                   .kv_heads = 1,
                   .head_dim = kv_width,
                   .inner = inner,
                   .vocabulary = vocabulary,
                   .context = 128,
                   .rope = {.layout = RopeLayout::half, .dims = kv_width},
                   .scaling = {},
                   .begin_token = std::nullopt,
                   .end_tokens = {}};
    KV_CHECK(model::check_config(made.config).has_value());
    made.embedding = matrix(vocabulary, width);
    for (std::size_t i = 0; i < made.config.layers; ++i) made.layers.push_back(layer());
    made.last = norm();
    made.head = matrix(vocabulary, width);
    made.owners = std::move(owners_);
    return made;
  }

 private:
  model::Matrix matrix(std::size_t rows, std::size_t columns) {
    const Rng rng(++seed_);
    auto numbers = std::make_shared<std::vector<float>>(rows * columns);
    for (std::size_t i = 0; i < numbers->size(); ++i) {
      const double draw = rng.uniform(static_cast<std::uint32_t>(i), 0);
      (*numbers)[i] = static_cast<float>(0.6 * draw - 0.3);
    }
    model::Matrix made;
    made.data = std::as_bytes(std::span(*numbers)).data();
    made.rows = rows;
    made.columns = columns;
    owners_.push_back(std::move(numbers));
    return made;
  }

  static model::Norm norm() { return {.gain = std::vector<float>(width, 1.0F), .shift = {}}; }

  model::LayerWeights layer() {
    return {.before_attention = norm(),
            .query = {.weight = matrix(width, width), .bias = {}},
            .key = {.weight = matrix(kv_width, width), .bias = {}},
            .value = {.weight = matrix(kv_width, width), .bias = {}},
            .output = {.weight = matrix(width, width), .bias = {}},
            .before_mlp = norm(),
            .gate = {.weight = matrix(inner, width), .bias = {}},
            .up = {.weight = matrix(inner, width), .bias = {}},
            .down = {.weight = matrix(width, inner), .bias = {}}};
  }

  std::uint64_t seed_ = 0;
  std::vector<std::shared_ptr<const void>> owners_;
};

}  // namespace

const model::LanguageModel& small_model() {
  static const model::LanguageModel made = Maker().made();
  return made;
}

}  // namespace kv::fuzz
