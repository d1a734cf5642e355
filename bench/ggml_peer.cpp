#include "kvcheck/bench/ggml_peer.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "kvcheck/base/aligned_floats.h"

// The types of ggml's headers, as far as its functions need them.
extern "C" {
struct ggml_tensor;
struct ggml_context;
struct ggml_cgraph;
struct ggml_backend;
struct ggml_backend_buffer;

struct GgmlInitParams {  // ggml_init_params, whose name does not matter to the calls
  std::size_t mem_size;
  void* mem_buffer;
  bool no_alloc;
};
}

namespace kv {
namespace {

using Tensor = ggml_tensor*;
using Context = ggml_context*;

constexpr int type_f32 = 0;
constexpr int type_f16 = 1;

// The rows of a mask are padded to a multiple of this by every version that asks for it.
constexpr std::int64_t mask_rows = 64;

}  // namespace

struct GgmlPeer::Library {
  explicit Library(const std::string& file)
      : handle(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {}

  // Sets the function. A library that lacks one is not complete.
  template <typename Function>
  void find(const char* name, Function*& function) {
    void* const found = handle == nullptr ? nullptr : ::dlsym(handle, name);
    complete = complete && found != nullptr;
    function = reinterpret_cast<Function*>(found);
  }

  bool find_all() {
    find("ggml_init", init);
    find("ggml_free", free);
    find("ggml_new_tensor_4d", tensor);
    find("ggml_view_4d", view);
    find("ggml_nbytes", bytes);
    find("ggml_flash_attn_ext", fused);
    find("ggml_mul_mat", product);
    find("ggml_soft_max_ext", softmax);
    find("ggml_new_graph_custom", graph);
    find("ggml_build_forward_expand", expand);
    find("ggml_backend_cpu_init", backend);
    find("ggml_backend_free", free_backend);
    find("ggml_backend_cpu_set_n_threads", set_threads);
    find("ggml_backend_cpu_buffer_from_ptr", buffer);
    find("ggml_backend_buffer_free", free_buffer);
    find("ggml_backend_tensor_alloc", place);
    find("ggml_backend_graph_compute", compute);
    return complete;
  }

  void* handle;
  bool complete = true;
  Context (*init)(GgmlInitParams) = nullptr;
  void (*free)(Context) = nullptr;
  Tensor (*tensor)(Context, int, std::int64_t, std::int64_t, std::int64_t, std::int64_t) = nullptr;
  Tensor (*view)(Context,
                 Tensor,
                 std::int64_t,
                 std::int64_t,
                 std::int64_t,
                 std::int64_t,
                 std::size_t,
                 std::size_t,
                 std::size_t,
                 std::size_t) = nullptr;
  std::size_t (*bytes)(const ggml_tensor*) = nullptr;
  Tensor (*fused)(Context, Tensor, Tensor, Tensor, Tensor, float, float, float) = nullptr;
  Tensor (*product)(Context, Tensor, Tensor) = nullptr;
  Tensor (*softmax)(Context, Tensor, Tensor, float, float) = nullptr;
  ggml_cgraph* (*graph)(Context, std::size_t, bool) = nullptr;
  void (*expand)(ggml_cgraph*, Tensor) = nullptr;
  ggml_backend* (*backend)() = nullptr;
  void (*free_backend)(ggml_backend*) = nullptr;
  void (*set_threads)(ggml_backend*, int) = nullptr;
  ggml_backend_buffer* (*buffer)(void*, std::size_t) = nullptr;
  void (*free_buffer)(ggml_backend_buffer*) = nullptr;
  void (*place)(ggml_backend_buffer*, Tensor, void*) = nullptr;
  int (*compute)(ggml_backend*, ggml_cgraph*) = nullptr;
};

// A graph for each copy. All of them write their results to the same scratch.
struct GgmlPeer::Graphs {
  Graphs(const Library& library, const PeerShape& of) : ggml(library), shape(of) {
    constexpr std::size_t graph_bytes = 1 << 16;  // of a graph of a few nodes, with its tensors
    context = ggml.init({shape.copies * graph_bytes, nullptr, true});
    cpu = ggml.backend();
    ggml.set_threads(cpu, 1);
    scratch.resize(shape.heads * (4 * shape.residents + 4 * shape.dim) +
                   mask_rows * shape.residents);
    scratch_buffer = ggml.buffer(scratch.data(), scratch.size() * sizeof(float));
    result.resize(shape.heads * shape.dim);
  }

  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;

  ~Graphs() {
    ggml.free_backend(cpu);
    for (ggml_backend_buffer* const buffer : {scratch_buffer, memory_buffer, query_buffer}) {
      if (buffer != nullptr) ggml.free_buffer(buffer);
    }
    ggml.free(context);
  }

  // Gives a tensor the next bytes of the scratch.
  Tensor placed(Tensor tensor) {
    constexpr std::size_t line = 16;  // floats of a cache line
    last = used;
    ggml.place(scratch_buffer, tensor, scratch.data() + used);
    used += (ggml.bytes(tensor) / sizeof(float) + line) / line * line;
    return tensor;
  }

  void add_copies(PeerWay way, std::byte* memory, float* queries, float scale) {
    const std::size_t heads = shape.heads;
    const std::size_t kv_heads = shape.kv_heads;
    const std::size_t dim = shape.dim;
    const std::size_t residents = shape.residents;
    const std::size_t copies = shape.copies;
    const std::size_t number = shape.halves ? 2 : 4;
    const std::size_t rows = residents * dim * number;  // bytes of one kv-head's keys
    const auto signed_of = [](std::size_t n) { return static_cast<std::int64_t>(n); };
    memory_buffer = ggml.buffer(memory, copies * kv_heads * 2 * rows);
    query_buffer = ggml.buffer(queries, heads * dim * sizeof(float));
    const Tensor all = ggml.tensor(context, shape.halves ? type_f16 : type_f32,
                                   signed_of(copies * kv_heads * 2 * residents * dim), 1, 1, 1);
    ggml.place(memory_buffer, all, memory);
    const Tensor query = ggml.tensor(context, type_f32, signed_of(dim), 1, signed_of(heads), 1);
    ggml.place(query_buffer, query, queries);
    const Tensor mask =
        placed(ggml.tensor(context, type_f16, signed_of(residents), mask_rows, 1, 1));
    const std::size_t after_mask = used;
    for (std::size_t copy = 0; copy < copies; ++copy) {
      used = after_mask;
      const auto rows_at = [&](std::size_t from, std::size_t width, std::size_t count) {
        return ggml.view(context, all, signed_of(width), signed_of(count), signed_of(kv_heads), 1,
                         width * number, 2 * rows, 2 * rows * kv_heads,
                         copy * kv_heads * 2 * rows + from);
      };
      const Tensor keys = rows_at(0, dim, residents);
      if (way == PeerWay::fused) {
        const Tensor values = rows_at(rows, dim, residents);
        add(placed(ggml.fused(context, query, keys, values, mask, scale, 0, 0)));
        continue;
      }
      const Tensor logits = placed(ggml.product(context, keys, query));
      const Tensor weights = placed(ggml.softmax(context, logits, nullptr, scale, 0));
      add(placed(ggml.product(context, rows_at(rows, residents, dim), weights)));
    }
  }

  void add(Tensor output) {
    graphs.push_back(ggml.graph(context, 8, false));
    ggml.expand(graphs.back(), output);
  }

  Library ggml;
  PeerShape shape;
  Context context = nullptr;
  ggml_backend* cpu = nullptr;
  AlignedFloats scratch;
  std::size_t used = 0;
  std::size_t last = 0;  // where the last tensor begins, which is the output
  ggml_backend_buffer* scratch_buffer = nullptr;
  ggml_backend_buffer* memory_buffer = nullptr;
  ggml_backend_buffer* query_buffer = nullptr;
  std::vector<ggml_cgraph*> graphs;
  std::vector<float> result;
};

GgmlPeer::GgmlPeer(std::unique_ptr<Graphs> graphs) : graphs_(std::move(graphs)) {}

GgmlPeer::~GgmlPeer() = default;

std::unique_ptr<GgmlPeer> GgmlPeer::open(const std::string& library,
                                         PeerWay way,
                                         const PeerShape& shape,
                                         std::byte* memory,
                                         float* queries,
                                         float scale) {
  Library ggml(library);
  if (!ggml.find_all()) return nullptr;
  auto peer = std::make_unique<GgmlPeer>(std::make_unique<Graphs>(ggml, shape));
  // ggml aborts where it lacks an operation.
  const ::pid_t child = ::fork();
  if (child == 0) {
    // It would print where it aborted.
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    peer->graphs_->add_copies(way, memory, queries, scale);
    peer->attend(0);
    ::_exit(0);
  }
  int status = 1;
  if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) return nullptr;
  peer->graphs_->add_copies(way, memory, queries, scale);
  return peer;
}

void GgmlPeer::attend(std::size_t copy) {
  graphs_->ggml.compute(graphs_->cpu, graphs_->graphs[copy]);
}

const std::vector<float>& GgmlPeer::output() const {
  const float* const from = graphs_->scratch.data() + graphs_->last;
  graphs_->result.assign(from, from + graphs_->result.size());
  return graphs_->result;
}

std::vector<NamedLibrary> ggml_libraries() {
  std::vector<NamedLibrary> found;
  const char* const given = std::getenv("KVCHECK_BENCH_GGML");
  std::string rest = given == nullptr ? "" : given;
  while (!rest.empty()) {
    const std::size_t end = rest.find(';');
    const std::string one = rest.substr(0, end);
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
    const std::size_t equals = one.find('=');
    if (equals != std::string::npos) {
      found.push_back({one.substr(0, equals), one.substr(equals + 1)});
    }
  }
  return found;
}

}  // namespace kv
