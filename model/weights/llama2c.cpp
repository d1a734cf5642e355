#include "kvcheck/model/weights/model_formats.h"

#include <array>
#include <cstring>
#include <memory>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/describe.h"

namespace kv::model {
namespace {

constexpr std::size_t header_bytes = 7 * sizeof(std::int32_t);

// Hands out the tensors in the order of the file.
class Cursor {
 public:
  explicit Cursor(const std::byte* data) : data_(data) {}

  Matrix matrix(std::size_t rows, std::size_t columns) {
    const Matrix taken{Number::f32, data_, rows, columns};
    data_ += rows * columns * sizeof(float);
    return taken;
  }

  Norm norm(std::size_t width) {
    Norm taken;
    taken.gain.resize(width);
    std::memcpy(taken.gain.data(), matrix(1, width).data, width * sizeof(float));
    return taken;
  }

 private:
  const std::byte* data_;
};

Result<ModelConfig> read_sizes(std::span<const std::byte> bytes) {
  if (bytes.size() < header_bytes) {
    return malformed("has " + std::to_string(bytes.size()) + " bytes; expected at least the " +
                     std::to_string(header_bytes) + " of a llama2.c checkpoint's sizes");
  }
  std::array<std::int32_t, 7> sizes{};
  std::memcpy(sizes.data(), bytes.data(), header_bytes);
  constexpr std::array<std::string_view, 7> names = {
      "dim", "hidden_dim", "n_layers", "n_heads", "n_kv_heads", "vocab_size", "seq_len"};
  constexpr std::int32_t most = 1 << 24;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    // A negative vocabulary says that the output layer has weights of its own.
    const std::int32_t size = i == 5 && sizes[i] > -most && sizes[i] < 0 ? -sizes[i] : sizes[i];
    if (size > 0 && size <= most) continue;
    return malformed("has " + std::string(names[i]) + " = " + std::to_string(sizes[i]) +
                     "; expected 1 to " + std::to_string(most) +
                     " (is this a llama2.c checkpoint?)");
  }
  const auto size = [&](std::size_t i) { return static_cast<std::size_t>(std::abs(sizes[i])); };
  if (size(0) % size(3) != 0) {
    return malformed("has dim = " + std::to_string(size(0)) + "; expected a multiple of n_heads, " +
                     std::to_string(size(3)));
  }
  ModelConfig config;
  config.architecture = Architecture::llama;
  config.name = "llama2.c";
  config.width = size(0);
  config.inner = size(1);
  config.layers = size(2);
  config.heads = size(3);
  config.kv_heads = size(4);
  config.head_dim = size(0) / size(3);
  config.vocabulary = size(5);
  config.context = size(6);
  config.tied = sizes[5] > 0;
  config.rope = {RopeLayout::interleaved, config.head_dim, 10000};
  // The file names no special tokens; these are SentencePiece's, which its tokenizer has.
  config.begin_token = 1;
  config.end_tokens = {2};
  if (Result<void> checked = check_config(config); !checked) return checked.error();
  return config;
}

// In double, so that sizes that no file has cannot wrap around: exact up to 2^53.
double expected_bytes(const ModelConfig& config) {
  const auto real = [](std::size_t size) { return static_cast<double>(size); };
  const double width = real(config.width);
  const double attention = 2 * width * width + 2 * width * real(config.kv_width());
  const double layer = 2 * width + attention + 3 * width * real(config.inner);
  const double table = real(config.vocabulary) * width;
  const double rotations = real(config.context) * real(config.head_dim);
  const double numbers =
      table + real(config.layers) * layer + width + rotations + (config.tied ? 0 : table);
  return real(header_bytes) + numbers * sizeof(float);
}

void bind(Cursor cursor, LanguageModel& model) {
  const ModelConfig& config = model.config;
  model.layers.resize(config.layers);
  const auto each = [&](auto&& take) {
    for (LayerWeights& layer : model.layers) take(layer);
  };
  const std::size_t width = config.width;
  model.embedding = cursor.matrix(config.vocabulary, width);
  // Tensor by tensor over all layers, not layer by layer; down (w2) lies between gate and up.
  each([&](LayerWeights& layer) { layer.before_attention = cursor.norm(width); });
  each([&](LayerWeights& layer) { layer.query.weight = cursor.matrix(width, width); });
  each([&](LayerWeights& layer) { layer.key.weight = cursor.matrix(config.kv_width(), width); });
  each([&](LayerWeights& layer) { layer.value.weight = cursor.matrix(config.kv_width(), width); });
  each([&](LayerWeights& layer) { layer.output.weight = cursor.matrix(width, width); });
  each([&](LayerWeights& layer) { layer.before_mlp = cursor.norm(width); });
  each([&](LayerWeights& layer) { layer.gate.weight = cursor.matrix(config.inner, width); });
  each([&](LayerWeights& layer) { layer.down.weight = cursor.matrix(width, config.inner); });
  each([&](LayerWeights& layer) { layer.up.weight = cursor.matrix(config.inner, width); });
  model.last = cursor.norm(width);
  // The tables of cosines and sines follow; sim/cache/rope.h's are more exact.
  static_cast<void>(cursor.matrix(config.context, config.head_dim));
  model.head = config.tied ? model.embedding : cursor.matrix(config.vocabulary, width);
}

}  // namespace

Result<LanguageModel> open_llama2c(const std::string& path) {
  Result<MappedFile> opened = MappedFile::open(path);
  if (!opened) return opened.error();
  const auto file = std::make_shared<const MappedFile>(*std::move(opened));
  const std::span<const std::byte> bytes = file->bytes();
  const Result<ModelConfig> config = read_sizes(bytes);
  if (!config) return malformed(shown(path) + " " + config.error().message);
  const double expected = expected_bytes(*config);
  if (static_cast<double>(bytes.size()) != expected) {
    return malformed(shown(path) + " has " + std::to_string(bytes.size()) +
                     " bytes; its sizes ask for " +
                     (expected < 9e15 ? std::to_string(static_cast<std::uint64_t>(expected))
                                      : std::string("more than any file has")) +
                     (static_cast<double>(bytes.size()) < expected ? "; the file is cut off" : ""));
  }
  LanguageModel model;
  model.config = *config;
  model.files.push_back(file);
  bind(Cursor(bytes.data() + header_bytes), model);
  return model;
}

}  // namespace kv::model
