#include "kvcheck/python/bindings/trace_arrays.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/python/bindings/failure.h"
#include "kvcheck/sim/cache/trace_rotations.h"
#include "kvcheck/traces/files/save.h"
#include "kvcheck/traces/metadata.h"
#include "kvcheck/traces/verify.h"

namespace py = pybind11;

namespace kv::python {
namespace {

// Arrays may only be released by a thread that holds Python's lock, which a replay does not.
using Held = std::vector<LayerArrays>;

std::shared_ptr<const void> held(const std::vector<LayerArrays>& layers) {
  return {std::make_unique<const Held>(layers).release(), [](const Held* arrays) {
            const py::gil_scoped_acquire lock;
            const std::unique_ptr<const Held> released(arrays);
          }};
}

TensorView view_of(const py::array& array, Number number) {
  TensorView view{.number = number, .shape = {}, .data = nullptr};
  for (py::ssize_t i = 0; i < array.ndim(); ++i) {
    view.shape.push_back(static_cast<std::size_t>(array.shape(i)));
  }
  view.data = static_cast<const std::byte*>(array.data());
  return view;
}

void require_sizes(const TensorView& view, const std::vector<std::size_t>& expected) {
  if (view.shape != expected) throw Failure("an array has another shape than the metadata say");
}

Trace::Layer layer_of(const LayerArrays& arrays, const TraceInfo& info) {
  Trace::Layer layer;
  if (info.kind == TraceKind::attention) {
    layer.attention = view_of(arrays.at(0), info.number);
    require_sizes(layer.attention, {info.query_heads, recorded_queries(info), info.tokens});
    return layer;
  }
  layer.q = view_of(arrays.at(0), info.number);
  layer.k = view_of(arrays.at(1), info.number);
  layer.v = view_of(arrays.at(2), info.number);
  require_sizes(layer.q, {info.query_heads, recorded_queries(info), info.head_dim});
  require_sizes(layer.k, {info.kv_heads, info.tokens, info.head_dim});
  require_sizes(layer.v, {info.kv_heads, info.tokens, info.head_dim});
  return layer;
}

void add_tables(const LayerTables& tables, std::vector<LayerRules>& rules) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (!tables.frequencies.empty()) rules[i].frequencies = tables.frequencies.at(i);
    if (!tables.sinks.empty()) rules[i].sinks = tables.sinks.at(i);
    if (!tables.slopes.empty()) rules[i].slopes = tables.slopes.at(i);
  }
}

py::list rules_of_layers(const TraceInfo& info) {
  py::list all;
  for (std::size_t i = 0; i < info.layers.size(); ++i) {
    const LayerRules rules = rules_of(info, i);
    constexpr std::array<const char*, 3> layouts{"none", "interleaved", "half"};
    py::dict one;
    one["rope"] = layouts.at(static_cast<std::size_t>(rules.layout));
    one["frequencies"] = frequencies_of(info, i);
    one["rope_scale"] = rules.rope_scale;
    const double usual = 1 / std::sqrt(static_cast<double>(info.head_dim));
    one["attention_scale"] = rules.scale > 0 ? rules.scale : usual;
    one["soft_cap"] = rules.cap > 0 ? py::object(py::float_(rules.cap)) : py::none();
    one["window"] = rules.window > 0 ? py::object(py::int_(rules.window)) : py::none();
    one["sinks"] = rules.sinks;
    one["slopes"] = rules.slopes;
    all.append(one);
  }
  return all;
}

const TensorView& block_of(const Trace::Layer& layer, const std::string& which) {
  if (which == "attention") return layer.attention;
  if (which == "queries") return layer.q;
  if (which == "keys") return layer.k;
  return layer.v;
}

}  // namespace

SharedTrace trace_of(const std::string& name,
                     const std::map<std::string, std::string>& metadata,
                     const std::vector<std::size_t>& numbers,
                     const std::vector<LayerArrays>& layers,
                     const LayerTables& tables,
                     const Words& words) {
  TraceMetadata read = value_of(read_trace_metadata(metadata));
  value_of(spread_rules(read, layers.size()));
  TraceInfo info = std::move(read.info);
  add_tables(tables, info.rules);
  info.name = name;
  const bool half = layers.at(0).at(0).itemsize() == 2;
  info.number = half ? Number::f16 : Number::f32;
  info.layers = numbers;
  // Keys are those of all tokens.
  const bool vectors = info.kind == TraceKind::qkv;
  const py::array& keys = layers.at(0).at(vectors ? 1 : 0);
  info.tokens = static_cast<std::size_t>(keys.shape(vectors ? 1 : 2));
  info.queries = tables.queries;
  if (!info.queries.empty()) {
    value_of(check_queries(info.queries, info.query_design, info.tokens));
  }
  value_of(finish_rules(info));
  std::vector<Trace::Layer> views;
  for (const LayerArrays& arrays : layers) views.push_back(layer_of(arrays, info));
  Transcript transcript{.text = words.text, .text_ends = words.text_ends, .nll = {}};
  auto trace = std::make_shared<Trace>(std::move(info), std::move(views), words.token_ids,
                                       held(layers), std::move(transcript));
  const py::gil_scoped_release unlocked;
  value_of(verify(*trace));
  trace->read_from(value_of(saved_checksum(*trace)), {});
  return trace;
}

py::array array_of(const Trace& trace, std::size_t layer, const std::string& which) {
  if (layer >= trace.info().layers.size()) {
    throw Failure("there is no layer with index " + std::to_string(layer) + "; '" +
                  trace.info().name + "' has " + std::to_string(trace.info().layers.size()));
  }
  const TensorView& view = block_of(trace.layer(layer), which);
  if (view.data == nullptr) {
    throw Failure("'" + trace.info().name + "' has no " + which + "; it has " +
                  (trace.info().kind == TraceKind::qkv ? "queries, keys and values" : "attention"));
  }
  // Other threads run meanwhile: the numbers of a long text take a while, and may be on a disk.
  const std::size_t count = view.numbers();
  if (view.number == Number::f16) {
    py::array array(py::dtype("float16"), view.shape);
    void* const to = array.mutable_data();
    {
      const py::gil_scoped_release unlocked;
      std::memcpy(to, view.data, count * 2);
    }
    return array;
  }
  py::array_t<float> array(view.shape);
  float* const to = array.mutable_data();
  {
    const py::gil_scoped_release unlocked;
    kernels().widen(view.number, view.data, count, to);
  }
  return array;
}

py::dict facts_of(const Trace& trace) {
  const TraceInfo& info = trace.info();
  py::dict facts;
  facts["name"] = info.name;
  facts["kind"] = info.kind == TraceKind::qkv ? "qkv" : "attention";
  facts["model"] = info.model;
  facts["loop"] = info.loop;
  facts["tokens"] = info.tokens;
  facts["query_heads"] = info.query_heads;
  facts["kv_heads"] = info.kv_heads;
  facts["head_dim"] = info.head_dim;
  facts["layers"] = info.layers;
  facts["model_layers"] = info.model_layers;
  facts["query_positions"] = info.queries.empty() ? py::object(py::none()) : py::cast(info.queries);
  facts["query_design"] = info.query_design ? text_of(*info.query_design) : "";
  facts["learned_sinks"] = info.learned_sinks;
  facts["rope_applied"] = info.rope_applied;
  facts["rules"] = info.kind == TraceKind::qkv ? rules_of_layers(info) : py::list();
  return facts;
}

std::vector<py::bytes> words_of(const Trace& trace) {
  const Transcript& transcript = trace.transcript();
  std::vector<py::bytes> words;
  std::size_t begin = 0;
  for (const std::int64_t end : transcript.text_ends) {
    const auto here = static_cast<std::size_t>(end);
    words.emplace_back(transcript.text.data() + begin, here - begin);
    begin = here;
  }
  return words;
}

}  // namespace kv::python
