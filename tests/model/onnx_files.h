// ONNX's test vectors: just enough of protobuf to read tensors and a node's attributes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kvcheck/tests/model/small_models.h"

namespace kv::test {

struct OnnxTensor {
  std::vector<std::size_t> shape;
  bool half = false;          // stored as f16
  std::vector<float> values;  // f32, f16, bool and small i64 as numbers
};

// A TensorProto. Ends the test program on anything else: the files are ONNX's own.
OnnxTensor read_onnx_tensor(const std::string& path);

// The integer and real attributes of the first node of a ModelProto.
std::map<std::string, double> read_onnx_attributes(const std::string& path);

// A test over one of ONNX's folders, named below onnx-vectors; skipped where that is not lent.
class OnnxVectors : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    folder_ = shared_data("onnx-vectors/" + GetParam());
    if (!std::filesystem::exists(folder_)) GTEST_SKIP() << "no test vectors at " << folder_;
  }

  [[nodiscard]] std::string file(const std::string& name) const {
    return folder_ + "/test_data_set_0/" + name + ".pb";
  }

  [[nodiscard]] OnnxTensor tensor(const std::string& name) const {
    return read_onnx_tensor(file(name));
  }

  [[nodiscard]] std::map<std::string, double> attributes() const {
    return read_onnx_attributes(folder_ + "/model.onnx");
  }

 private:
  std::string folder_;
};

}  // namespace kv::test
