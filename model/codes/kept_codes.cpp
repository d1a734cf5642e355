#include "kvcheck/model/codes/kept_codes.h"

#include <xxhash.h>

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
#include "kvcheck/traces/files/checksum.h"

namespace kv::model {
namespace {

// To be raised when quantise_row() gives other codes, or the order of matrices changes.
constexpr std::string_view mark = "kvcheck weights, rule 1, as ";
constexpr std::size_t alignment = 64;

std::string_view word_of(Quantisation kind) {
  return kind == Quantisation::int8 ? "int8" : "nf4";
}

// Everything that the codes follow from: the rule, the split of fused matrices into heads, and the
// files.
std::string state_of(const LanguageModel& model, Quantisation kind) {
  const ModelConfig& config = model.config;
  std::string text(mark);
  text += word_of(kind);
  text += "\nof " + config.name + ", " + std::to_string(config.layers) + " layers, " +
          std::to_string(config.heads) + " heads on " + std::to_string(config.kv_heads) + " of " +
          std::to_string(config.head_dim) + "\n";
  for (const auto& file : model.files) text += "file" + stamp_text(file->stamp()) + "\n";
  return text;
}

std::string text_of(const LanguageModel& model, Quantisation kind, std::uint64_t checksum) {
  std::string text = state_of(model, kind) + "XXH3-64 " + hexadecimal(checksum);
  while (text.size() % alignment != alignment - 1) text += ' ';
  return text + "\n";
}

std::size_t scale_bytes(Quantisation kind, const Matrix& matrix) {
  return sizeof(float) * matrix.rows * scales_of_row(kind, matrix.columns);
}

std::size_t code_bytes(Quantisation kind, const Matrix& matrix) {
  return matrix.rows * code_bytes(kind, matrix.columns);
}

// Of what follows the text: all scales, then all codes.
std::vector<std::size_t> sizes_of(const LanguageModel& model, Quantisation kind) {
  const std::vector<const Matrix*> matrices = matrices_of(model);
  std::vector<std::size_t> sizes;
  for (const Matrix* matrix : matrices) sizes.push_back(scale_bytes(kind, *matrix));
  for (const Matrix* matrix : matrices) sizes.push_back(code_bytes(kind, *matrix));
  return sizes;
}

using Pieces = std::vector<std::span<const std::byte>>;

std::uint64_t checksum_of(const Pieces& pieces) {
  std::uint64_t sum = 0;
  for (const auto piece : pieces) sum = XXH3_64bits_withSeed(piece.data(), piece.size(), sum);
  return sum;
}

// What a model holds that is stored as `kind`, in the same order.
Pieces pieces_of(const LanguageModel& model, Quantisation kind) {
  const std::vector<const Matrix*> matrices = matrices_of(model);
  const std::vector<std::size_t> sizes = sizes_of(model, kind);
  Pieces pieces;
  for (const Matrix* matrix : matrices) {
    const auto* const scales = reinterpret_cast<const std::byte*>(matrix->scales);
    pieces.emplace_back(scales, sizes[pieces.size()]);
  }
  for (const Matrix* matrix : matrices) pieces.emplace_back(matrix->data, sizes[pieces.size()]);
  return pieces;
}

// What a file holds, if it was written for this model as it is; otherwise nothing.
Pieces pieces_of(const MappedFile& file, Quantisation kind, const LanguageModel& model) {
  const auto bytes = file.bytes();
  std::size_t at = text_of(model, kind, 0).size();
  if (bytes.size() < at) return {};
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), at);
  // First, so that the codes of another state are not read.
  if (!text.starts_with(state_of(model, kind))) return {};
  Pieces pieces;
  for (const std::size_t size : sizes_of(model, kind)) {
    if (bytes.size() - at < size) return {};
    pieces.push_back(bytes.subspan(at, size));
    at += size;
  }
  const bool whole = at == bytes.size() && text == text_of(model, kind, checksum_of(pieces));
  return whole ? pieces : Pieces{};
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
  const Pieces pieces = pieces_of(*mapped, kind, model);
  if (pieces.empty()) return false;
  const std::vector<Matrix*> matrices = matrices_of(model);
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    Matrix& matrix = *matrices[i];
    matrix.scales = reinterpret_cast<const float*>(pieces[i].data());
    matrix.data = pieces[matrices.size() + i].data();
    matrix.number = Number::f32;
    matrix.quantised = kind;
  }
  model.files.push_back(mapped);
  model.layer_owners.clear();
  return true;
}

Result<void> keep_codes(const std::string& file, Quantisation kind, const LanguageModel& model) {
  if (auto same = model.unchanged(); !same) return same;
  // To replace the file would make the results of a process that has just opened it suspect.
  const auto there = MappedFile::open(file);
  if (there && !pieces_of(*there, kind, model).empty()) return {};
  const Pieces pieces = pieces_of(model, kind);
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
