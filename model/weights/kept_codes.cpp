#include "kvcheck/model/weights/kept_codes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/model/weights/layer_matrices.h"
#include "kvcheck/traces/files/checksum.h"

namespace kv::model {
namespace {

// To be raised when quantise_row() gives other codes, or the order of matrices changes.
constexpr std::string_view mark = "kvcheck weights, rule 1, as ";
constexpr std::size_t alignment = 64;

std::string_view word_of(Quantisation kind) { return kind == Quantisation::int8 ? "int8" : "nf4"; }

// Everything that the codes follow from: the rule, the split of fused matrices into heads, and the
// files.
std::string text_of(const LanguageModel& model, Quantisation kind, std::uint64_t checksum) {
  const ModelConfig& config = model.config;
  std::string text(mark);
  text += word_of(kind);
  text += "\nof " + config.name + ", " + std::to_string(config.layers) + " layers, " +
          std::to_string(config.heads) + " heads on " + std::to_string(config.kv_heads) + " of " +
          std::to_string(config.head_dim) + "\n";
  for (const auto& file : model.files) text += "file" + stamp_text(file->stamp()) + "\n";
  text += "XXH3-64 " + hexadecimal(checksum);
  while (text.size() % alignment != alignment - 1) text += ' ';
  return text + "\n";
}

std::vector<Matrix*> matrices_of(LanguageModel& model) {
  std::vector<Matrix*> all;
  for (LayerWeights& layer : model.layers) {
    for (const auto& [member, name] : layer_matrices) {
      Matrix& matrix = (layer.*member).weight;
      if (matrix.data != nullptr) all.push_back(&matrix);
    }
  }
  return all;
}

std::vector<const Matrix*> matrices_of(const LanguageModel& model) {
  std::vector<const Matrix*> all;
  for (const LayerWeights& layer : model.layers) {
    for (const auto& [member, name] : layer_matrices) {
      const Matrix& matrix = (layer.*member).weight;
      if (matrix.data != nullptr) all.push_back(&matrix);
    }
  }
  return all;
}

std::size_t scale_bytes(Quantisation kind, const Matrix& matrix) {
  return sizeof(float) * matrix.rows * scales_of_row(kind, matrix.columns);
}

std::size_t code_bytes(Quantisation kind, const Matrix& matrix) {
  return matrix.rows * code_bytes(kind, matrix.columns);
}

// What follows the text: all scales, then all codes.
std::vector<std::span<const std::byte>> pieces_of(const LanguageModel& model, Quantisation kind) {
  const std::vector<const Matrix*> matrices = matrices_of(model);
  std::vector<std::span<const std::byte>> pieces;
  for (const Matrix* matrix : matrices) {
    pieces.push_back(std::as_bytes(
        std::span(matrix->scales, scale_bytes(kind, *matrix) / sizeof *matrix->scales)));
  }
  for (const Matrix* matrix : matrices) {
    pieces.emplace_back(matrix->data, code_bytes(kind, *matrix));
  }
  return pieces;
}

// The bytes after the text, if the text is that of a model as this one; nothing otherwise.
std::span<const std::byte> content_of(const MappedFile& file,
                                      Quantisation kind,
                                      const LanguageModel& model) {
  const auto bytes = file.bytes();
  const std::size_t length = text_of(model, kind, 0).size();
  if (bytes.size() <= length) return {};
  const auto rest = bytes.subspan(length);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), length);
  const std::uint64_t checksum = checksum_of(std::array{rest});
  return text == text_of(model, kind, checksum) ? rest : std::span<const std::byte>{};
}

}  // namespace

std::string kept_codes_path(const std::string& path, Quantisation kind) {
  const std::string name = "kvcheck-" + std::string(word_of(kind));
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) return path + "/" + name + ".weights";
  return path + "." + name;
}

bool take_kept_codes(const std::string& file, Quantisation kind, LanguageModel& model) {
  Result<MappedFile> opened = MappedFile::open(file);
  if (!opened) return false;
  const auto mapped = std::make_shared<const MappedFile>(*std::move(opened));
  const auto content = content_of(*mapped, kind, model);
  const std::vector<Matrix*> matrices = matrices_of(model);
  std::size_t scales = 0;
  std::size_t codes = 0;
  for (const Matrix* matrix : matrices) {
    scales += scale_bytes(kind, *matrix);
    codes += code_bytes(kind, *matrix);
  }
  if (content.empty() || content.size() != scales + codes) return false;
  const std::byte* next_scale = content.data();
  const std::byte* next_code = content.data() + scales;
  for (Matrix* matrix : matrices) {
    matrix->scales = reinterpret_cast<const float*>(next_scale);
    matrix->data = next_code;
    matrix->number = Number::f32;
    matrix->quantised = kind;
    next_scale += scale_bytes(kind, *matrix);
    next_code += code_bytes(kind, *matrix);
  }
  model.files.push_back(mapped);
  model.layer_owners.clear();
  return true;
}

Result<void> keep_codes(const std::string& file, Quantisation kind, const LanguageModel& model) {
  if (auto same = model.unchanged(); !same) return same;
  // To replace the file would make the results of a process that has just opened it suspect.
  if (const auto there = MappedFile::open(file); there && !content_of(*there, kind, model).empty()) {
    return {};
  }
  const auto pieces = pieces_of(model, kind);
  Result<AtomicFile> written = AtomicFile::create(file);
  if (!written) return written.error();
  if (auto done = written->write(text_of(model, kind, checksum_of(pieces))); !done) {
    return done;
  }
  for (const auto piece : pieces) {
    if (auto done = written->write(piece); !done) return done;
  }
  return written->commit();
}

}  // namespace kv::model
