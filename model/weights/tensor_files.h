// The tensors of a model: of a directory with one safetensors file, or shards with an index; or of
// a GGUF file.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/file.h"
#include "kvcheck/model/gguf/container.h"
#include "kvcheck/model/weights/language_model.h"

namespace kv::model {

class TensorFiles {
 public:
  // Maps `folder`/model.safetensors, or every shard that `folder`/model.safetensors.index.json
  // names. Errors name the file: none there, a shard missing or cut off, a tensor in two shards or
  // not where the index says.
  static Result<TensorFiles> open(const std::string& folder);

  // The tensors of a GGUF file. They are asked for by their Hugging Face names, which
  // gguf_tensor_name() translates.
  static TensorFiles of_gguf(const std::string& path, const GgufFile& gguf, bool norms_after);

  // Whether there is a tensor of that name; asking counts as knowing it.
  [[nodiscard]] bool has(const std::string& name);

  // The tensor with exactly this shape as f32, f16 or bf16, or in blocks as GGUF files have
  // them; a vector as one row. Errors name the
  // file, the tensor, what was found and what was expected.
  Result<Matrix> matrix(const std::string& name, std::size_t rows, std::size_t columns);
  Result<std::vector<float>> vector(const std::string& name, std::size_t size);

  [[nodiscard]] const std::string& folder() const { return folder_; }

  // How many tensors there are.
  [[nodiscard]] std::size_t count() const { return entries_.size(); }

  // The names that were never asked for, in order.
  [[nodiscard]] std::vector<std::string> unknown() const;

  // The files, which keep the tensors' bytes alive.
  [[nodiscard]] const std::vector<std::shared_ptr<const MappedFile>>& files() const {
    return files_;
  }

 private:
  struct Entry {
    std::vector<std::size_t> shape;
    Matrix matrix;  // its number and bytes; find() sets rows and columns
    std::string type;
    bool readable = true;
    std::size_t file = 0;
    bool asked = false;
  };

  Result<void> add(const std::string& path);
  [[nodiscard]] Result<void> check_index(const std::map<std::string, std::string>& placed) const;
  Result<Matrix> find(const std::string& name, std::span<const std::size_t> shape);
  // What the files call it.
  [[nodiscard]] std::string name_in_files(const std::string& name) const;

  std::string folder_;
  std::vector<std::string> paths_;
  std::vector<std::shared_ptr<const MappedFile>> files_;
  std::map<std::string, Entry> entries_;
  bool gguf_ = false;
  bool norms_after_ = false;
};

}  // namespace kv::model
