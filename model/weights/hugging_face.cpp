#include "kvcheck/model/weights/model_formats.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/model/weights/bind_detail.h"
#include "kvcheck/model/weights/tensor_files.h"

namespace kv::model {
namespace {

Result<ModelConfig> read_config(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  const auto bytes = file->bytes();
  Result<ModelConfig> config =
      parse_config({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!config) return Error{config.error().kind, shown(path) + " " + config.error().message};
  return config;
}

// Buffers that older exports carry along: masks and tables that follow from the configuration.
bool is_buffer(std::string_view name) {
  constexpr std::array<std::string_view, 5> ends = {".attn.bias", ".attn.masked_bias",
                                                    ".attention.bias", ".attention.masked_bias",
                                                    ".rotary_emb.inv_freq"};
  return std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); });
}

bool same_numbers(const Matrix& a, const Matrix& b) {
  return a.number == b.number && std::memcmp(a.data, b.data, a.rows * a.bytes_per_row()) == 0;
}

}  // namespace

Result<void> Binder::make_layers() {
  // So many take a megabyte; of fewer the tensor that is missing is named.
  constexpr std::size_t few = 1024;
  const std::size_t layers = model.config.layers;
  if (layers > few && layers > files.count()) {
    return malformed(shown(files.folder()) + " has " + std::to_string(layers) + " layers and " +
                     std::to_string(files.count()) +
                     " tensors; expected at least one for each layer");
  }
  model.layers.resize(layers);
  return {};
}

Result<void> Binder::linear(
    const std::string& name, std::size_t rows, std::size_t columns, bool bias, Linear& into) {
  Result<Matrix> weight = files.matrix(name + ".weight", rows, columns);
  if (!weight) return weight.error();
  into.weight = *weight;
  if (!bias) return {};
  Result<std::vector<float>> shift = files.vector(name + ".bias", rows);
  if (!shift) return shift.error();
  into.bias = *std::move(shift);
  return {};
}

Result<void> Binder::norm(const std::string& name, Norm& into, std::size_t size) {
  const std::size_t numbers = size > 0 ? size : model.config.width;
  Result<std::vector<float>> gain = files.vector(name + ".weight", numbers);
  if (!gain) return gain.error();
  into.gain = *std::move(gain);
  if (model.config.norms.kind == Norms::Kind::rms_from_one) {
    for (float& one : into.gain) one += 1;
  }
  if (model.config.norms.kind != Norms::Kind::layer) return {};
  Result<std::vector<float>> shift = files.vector(name + ".bias", numbers);
  if (!shift) return shift.error();
  into.shift = *std::move(shift);
  return {};
}

Linear Binder::rows_of(const Linear& fused, std::size_t first, std::size_t rows) {
  Linear part = fused;
  part.weight.data = fused.weight.row(first);
  part.weight.rows = rows;
  if (fused.bias.empty()) return part;
  const auto from = fused.bias.begin() + static_cast<std::ptrdiff_t>(first);
  part.bias = {from, from + static_cast<std::ptrdiff_t>(rows)};
  return part;
}

Result<void> Binder::table(const std::string& name, std::size_t rows, Matrix& into) {
  Result<Matrix> found = files.matrix(name, rows, model.config.width);
  if (!found) return found.error();
  into = *found;
  return {};
}

Result<void> Binder::embedding(const std::string& name, const std::string& head_name) {
  // A file of safetensors keeps one name of a shared tensor, and it may be the output layer's.
  const bool only_head = model.config.tied && !files.has(name) && files.has(head_name);
  return table(only_head ? head_name : name, model.config.vocabulary, model.embedding);
}

Result<void> Binder::head(const std::string& name) {
  if (!model.config.tied) return table(name, model.config.vocabulary, model.head);
  // Some exports store the tied matrix twice; asking for it keeps it out of the unknown ones.
  if (files.has(name)) {
    if (auto read = table(name, model.config.vocabulary, model.head); !read) return read;
    if (!same_numbers(model.head, model.embedding)) {
      return malformed(shown(files.folder()) + " has 'tie_word_embeddings' = true, and '" + name +
                       "' differs from the embedding; expected the same numbers, or "
                       "'tie_word_embeddings' = false");
    }
  }
  model.head = model.embedding;
  return {};
}

Matrix Binder::copy(const Matrix& like, std::size_t rows, std::size_t columns, std::byte*& bytes) {
  Matrix made{.number = like.number, .rows = rows, .columns = columns};
  auto owned = std::make_shared<std::vector<std::byte>>(rows * made.bytes_per_row());
  bytes = owned->data();
  made.data = bytes;
  model.layer_owners.push_back(std::move(owned));
  return made;
}

Result<LanguageModel> open_hugging_face(const std::string& folder) {
  const Result<ModelConfig> config = read_config(folder + "/config.json");
  if (!config) return config.error();
  Result<TensorFiles> files = TensorFiles::open(folder);
  if (!files) return files.error();
  LanguageModel model;
  model.config = *config;
  model.files = files->files();
  Binder binder{*files, model};
  Result<void> bound = binder.make_layers();
  if (!bound) return bound.error();
  switch (config->architecture) {
    case Architecture::llama:
    case Architecture::phi3:
      bound = bind_llama(binder);
      break;
    case Architecture::gpt_neox:
      bound = bind_gpt_neox(binder);
      break;
    case Architecture::gpt2:
      bound = bind_gpt2(binder);
      break;
    case Architecture::gpt_neo:
      bound = bind_gpt_neo(binder);
      break;
  }
  if (!bound) return bound.error();
  // A tensor that no part of the model reads means that this is another architecture than its
  // configuration says, and the output would be wrong without a message.
  for (const std::string& name : files->unknown()) {
    if (is_buffer(name)) continue;
    return malformed(shown(folder) + " has a tensor " + shown(name) + " that a " + config->name +
                     " model of this configuration does not use");
  }
  return model;
}

}  // namespace kv::model
