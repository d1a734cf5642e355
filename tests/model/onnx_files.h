// ONNX's test vectors: just enough of protobuf to read tensors and a node's attributes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

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

}  // namespace kv::test
