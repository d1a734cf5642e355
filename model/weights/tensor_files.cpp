#include "kvcheck/model/weights/tensor_files.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <filesystem>
#include <set>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/model/gguf/tensor_names.h"
#include "kvcheck/traces/files/safetensors.h"

namespace kv::model {
namespace {

namespace json = boost::json;

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// The numbers of a tensor, where they lie; find() sets its rows and columns.
Matrix matrix_of(const SafetensorsTensor& tensor) {
  Matrix matrix{.number = Number::f32, .data = tensor.data.data()};
  if (tensor.dtype == Dtype::f16) matrix.number = Number::f16;
  if (tensor.dtype == Dtype::bf16) matrix.number = Number::bf16;
  return matrix;
}

bool is_readable(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

// The index's "weight_map": tensor to shard.
Result<std::map<std::string, std::string>> read_index(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  const auto bytes = file->bytes();
  json::error_code failed;
  const json::value parsed = json::parse(
      json::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), failed);
  if (failed) return malformed(shown(path) + " is no JSON: " + failed.message());
  const json::value* map = nullptr;
  if (parsed.is_object()) map = parsed.get_object().if_contains("weight_map");
  if (map == nullptr || !map->is_object() || map->get_object().empty()) {
    const bool empty = map != nullptr && map->is_object();
    return malformed(shown(path) + " has " + (empty ? "an empty 'weight_map'" : "no 'weight_map'") +
                     "; expected an object that gives each tensor its file");
  }
  std::map<std::string, std::string> placed;
  for (const auto& [tensor, shard] : map->get_object()) {
    const std::string name = shard.is_string() ? std::string(shard.get_string()) : "";
    // A shard lies beside its index; a path could lead anywhere.
    if (name.empty() || name != name_of(name) || name == "..") {
      return malformed(shown(path) + " places tensor " + shown(std::string_view(tensor)) + " in " +
                       shown(shard.is_string() ? name : json::serialize(shard)) +
                       "; expected the name of a file beside it");
    }
    placed.emplace(tensor, name);
  }
  return placed;
}

}  // namespace

Result<TensorFiles> TensorFiles::open(const std::string& folder) {
  TensorFiles files;
  files.folder_ = folder;
  const std::string single = folder + "/model.safetensors";
  const std::string index = single + ".index.json";
  // A single file wins over an index beside it, as in transformers.
  if (std::filesystem::exists(single)) {
    if (Result<void> added = files.add(single); !added) return added.error();
    return files;
  }
  if (!std::filesystem::exists(index)) {
    return Error{Error::Kind::not_found,
                 shown(folder) + " has neither model.safetensors nor model.safetensors.index.json"};
  }
  const auto placed = read_index(index);
  if (!placed) return placed.error();
  // Each shard once, and in the order of their names, whatever the index's order.
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : *placed) shards.insert(shard);
  for (const std::string& shard : shards) {
    if (Result<void> added = files.add(folder + "/" + shard); !added) return added.error();
  }
  if (Result<void> checked = files.check_index(*placed); !checked) return checked.error();
  return files;
}

TensorFiles TensorFiles::of_gguf(const std::string& path, const GgufFile& gguf, bool norms_after) {
  TensorFiles files;
  files.folder_ = path;
  files.paths_ = {path};
  files.files_ = {gguf.file};
  files.gguf_ = true;
  files.norms_after_ = norms_after;
  for (const auto& [name, tensor] : gguf.content.tensors) {
    files.entries_.emplace(name, Entry{.shape = tensor.shape,
                                       .matrix = {.number = tensor.number,
                                                  .data = tensor.data.data(),
                                                  .quantised = tensor.quantised},
                                       .type = std::string(tensor.type)});
  }
  return files;
}

std::string TensorFiles::name_in_files(const std::string& name) const {
  if (!gguf_) return name;
  std::string found = gguf_tensor_name(name, norms_after_);
  return found.empty() ? name : found;
}

Result<void> TensorFiles::add(const std::string& path) {
  Result<MappedFile> opened = MappedFile::open(path);
  if (!opened) return opened.error();
  files_.push_back(std::make_shared<const MappedFile>(*std::move(opened)));
  paths_.push_back(path);
  Result<Safetensors> parsed = parse_safetensors(files_.back()->bytes());
  if (!parsed) return malformed(shown(path) + ": " + parsed.error().message);
  for (SafetensorsTensor& tensor : parsed->tensors) {
    const std::string name = tensor.name;
    const auto [at, fresh] =
        entries_.emplace(name, Entry{.shape = tensor.shape,
                                     .matrix = matrix_of(tensor),
                                     .type = std::string(dtype_name(tensor.dtype)),
                                     .readable = is_readable(tensor.dtype),
                                     .file = files_.size() - 1});
    // Otherwise the order of the files would decide which one is used.
    if (!fresh) {
      return malformed("tensor " + shown(name) + " is in " + shown(paths_[at->second.file]) +
                       " and in " + shown(path) + "; expected it once");
    }
  }
  return {};
}

Result<void> TensorFiles::check_index(const std::map<std::string, std::string>& placed) const {
  for (const auto& [name, shard] : placed) {
    const auto at = entries_.find(name);
    if (at == entries_.end() || name_of(paths_[at->second.file]) != shard) {
      return malformed("the index of " + shown(folder_) + " places tensor " + shown(name) + " in " +
                       shown(shard) + ", which has no such tensor");
    }
  }
  return {};
}

bool TensorFiles::has(const std::string& name) {
  const auto at = entries_.find(name_in_files(name));
  if (at == entries_.end()) return false;
  at->second.asked = true;
  return true;
}

Result<Matrix> TensorFiles::find(const std::string& asked, std::span<const std::size_t> shape) {
  const std::string name = name_in_files(asked);
  const auto at = entries_.find(name);
  if (at == entries_.end()) {
    return malformed(shown(folder_) + " has no tensor " + shown(name) +
                     "; expected it with shape " + shown_shape(shape));
  }
  at->second.asked = true;
  const Entry& entry = at->second;
  const std::string where = shown(paths_[entry.file]) + ": tensor " + shown(name);
  if (!std::ranges::equal(entry.shape, shape)) {
    return malformed(where + " has shape " + shown_shape(entry.shape) +
                     "; the configuration asks for " + shown_shape(shape));
  }
  if (!entry.readable) {
    return malformed(where + " has dtype " + entry.type + "; expected F32, F16 or BF16");
  }
  Matrix matrix = entry.matrix;
  matrix.rows = shape.size() == 2 ? shape[0] : 1;
  matrix.columns = shape.back();
  return matrix;
}

Result<Matrix> TensorFiles::matrix(const std::string& name, std::size_t rows, std::size_t columns) {
  return find(name, std::array{rows, columns});
}

Result<std::vector<float>> TensorFiles::vector(const std::string& name, std::size_t size) {
  const Result<Matrix> found = find(name, std::array{size});
  if (!found) return found.error();
  std::vector<float> values(size);
  found->widen_row(0, values.data());
  return values;
}

std::vector<std::string> TensorFiles::unknown() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) {
    if (!entry.asked) names.push_back(name);
  }
  return names;
}

}  // namespace kv::model
