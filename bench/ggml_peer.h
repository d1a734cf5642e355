// Decode attention of the ggml library of llama.cpp, or of its fork ik_llama, so that it is
// measured on the same bytes as ours. The library is loaded while the benchmark runs, and only
// functions of its public headers are called (as of 2025 and 2026); nothing of it is needed to
// build kvcheck.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace kv {

// Keys and values of `copies` layers, one after another. A layer has the keys [residents, dim] of
// its first kv-head, then the values, then those of the other kv-heads.
struct PeerShape {
  std::size_t heads;
  std::size_t kv_heads;
  std::size_t dim;
  std::size_t residents;
  std::size_t copies;
  bool halves;  // f16 instead of f32
};

// How a library computes it: fused ("flash" attention), or as two products with a softmax between
// them, for which values are read as [dim, residents], as llama.cpp stores them then.
enum class PeerWay { fused, products };

class GgmlPeer {
 public:
  // Empty if the library cannot be loaded, lacks a function, or cannot compute attention of such
  // numbers this way, which a child process tries. `memory` and `queries` [heads, dim] are read by
  // every attend(); the scale is that of the logits.
  static std::unique_ptr<GgmlPeer> open(const std::string& library,
                                        PeerWay way,
                                        const PeerShape& shape,
                                        std::byte* memory,
                                        float* queries,
                                        float scale);

  struct Graphs;
  explicit GgmlPeer(std::unique_ptr<Graphs> graphs);
  GgmlPeer(const GgmlPeer&) = delete;
  GgmlPeer& operator=(const GgmlPeer&) = delete;
  ~GgmlPeer();

  // One query per head, on this thread.
  void attend(std::size_t copy);

  // [heads, dim] of the last attend(). With PeerWay::products it is that of other values.
  [[nodiscard]] const std::vector<float>& output() const;

 private:
  struct Library;

  std::unique_ptr<Graphs> graphs_;
};

// A library as the environment variable KVCHECK_BENCH_GGML names it: NAME=FILE, separated by ";".
struct NamedLibrary {
  std::string name;
  std::string file;
};

std::vector<NamedLibrary> ggml_libraries();

}  // namespace kv
