#include "kvcheck/fuzz/support/trace_checks.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/reports/tables/export.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/traces/files/edit.h"
#include "kvcheck/traces/files/save.h"
#include "kvcheck/traces/verify.h"

namespace kv::fuzz {
namespace {

// Sums of up to 64 floats in another order differ by less.
constexpr double rounding = 1e-4;

std::uint64_t numbers_of(const Trace& trace) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < trace.info().layers.size(); ++i) {
    const Trace::Layer& layer = trace.layer(i);
    for (const TensorView* view : {&layer.attention, &layer.q, &layer.k, &layer.v}) {
      if (view->data != nullptr) sum += view->numbers();
    }
  }
  return sum;
}

bool is_small(const Trace& trace) {
  return trace.info().tokens <= 64 && trace.info().layers.size() <= 8 &&
         trace.info().query_heads <= 16 && numbers_of(trace) <= 65536;
}

std::vector<float> widened(const TensorView& view) {
  std::vector<float> numbers(view.data == nullptr ? 0 : view.numbers());
  if (!numbers.empty()) {
    kernels().widen(view.number, view.data, numbers.size(), numbers.data());
  }
  return numbers;
}

void check_same(const Trace& trace, const Trace& saved) {
  const TraceInfo& a = trace.info();
  const TraceInfo& b = saved.info();
  KV_CHECK(a.kind == b.kind && a.model == b.model && a.source == b.source);
  KV_CHECK(a.licence == b.licence && a.loop == b.loop && a.tokens == b.tokens);
  KV_CHECK(a.query_heads == b.query_heads && a.kv_heads == b.kv_heads);
  KV_CHECK(a.head_dim == b.head_dim && a.layers == b.layers && a.rope == b.rope);
  KV_CHECK(a.trained_context == b.trained_context && a.number == b.number);
  KV_CHECK(a.rules == b.rules && a.model_layers == b.model_layers);
  KV_CHECK(a.rope_applied == b.rope_applied && a.learned_sinks == b.learned_sinks);
  KV_CHECK(a.queries == b.queries && a.query_design == b.query_design);
  KV_CHECK(a.kv_head_numbers == b.kv_head_numbers);
  KV_CHECK(std::ranges::equal(trace.token_ids(), saved.token_ids()));
  KV_CHECK(trace.transcript().text == saved.transcript().text);
  KV_CHECK(trace.transcript().text_ends == saved.transcript().text_ends);
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    const Trace::Layer& one = trace.layer(i);
    const Trace::Layer& other = saved.layer(i);
    KV_CHECK(widened(one.attention) == widened(other.attention));
    KV_CHECK(widened(one.q) == widened(other.q));
    KV_CHECK(widened(one.k) == widened(other.k));
    KV_CHECK(widened(one.v) == widened(other.v));
  }
}

void try_saving(const Trace& trace, const VerifyResult& verified) {
  const std::string path = scratch_path("saved.safetensors");
  KV_CHECK(save_trace(trace, path).has_value());
  const Result<Trace> saved = open_trace(path);
  KV_CHECK(saved.has_value());
  check_same(trace, *saved);
  const Result<VerifyResult> again = verify(*saved);
  KV_CHECK(again.has_value() && *again == verified);
}

void try_editing(const Trace& trace) {
  const std::string path = scratch_path("part.safetensors");
  const Selection first_half = {
      .layers = std::nullopt, .heads = std::nullopt, .tokens = (trace.info().tokens + 1) / 2};
  // The numbers of a prefix are those of the trace, so a right trace has right prefixes, unless it
  // has no query there.
  if (!select(trace.info(), first_half)) return KV_CHECK(!trace.info().queries.empty());
  KV_CHECK(rewrite(trace, first_half, trace.info().number, path).has_value());
  const Result<Trace> part = open_trace(path);
  KV_CHECK(part.has_value() && part->info().tokens == *first_half.tokens);
  KV_CHECK(verify(*part).has_value());
  if (rewrite(trace, first_half, Number::f16, path)) {
    const Result<Trace> halves = open_trace(path);
    KV_CHECK(halves.has_value() && verify(*halves).has_value());
  }
}

void check_share(double share) {
  KV_CHECK(share >= -rounding && share <= 1 + rounding);
}

void check_cell(const ReplayResult& result, const CellResult& cell) {
  KV_CHECK(cell.heads.size() == result.trace.layers.size() * result.trace.query_heads);
  double retained = 0;
  // Where no recorded query stands for those after the first loss, nothing is measured.
  const bool sampled = !result.trace.queries.empty();
  for (const HeadResult& head : cell.heads) {
    for (const double half : values_of(head.half_widths)) KV_CHECK(!(half < 0));
    if (sampled && std::isnan(head.metrics.retained_mass)) continue;
    check_share(head.metrics.retained_mass);
    check_share(head.metrics.topk_overlap);
    KV_CHECK(!std::isnan(head.metrics.kl_to_dense) && head.metrics.kl_to_dense >= -rounding);
    retained += head.metrics.retained_mass;
    if (!cell.cell.spec.bounded() && !cell.cell.spec.selects()) {
      KV_CHECK(std::abs(head.metrics.retained_mass - 1) <= rounding);
    }
  }
  double most = 0;
  for (const UnitBounds& unit : cell.bounds) {
    check_share(unit.per_step);
    const bool known = !std::isnan(unit.optimum);
    if (known) KV_CHECK(unit.optimum <= unit.per_step + rounding);
    if (known) KV_CHECK(!(unit.greedy > unit.optimum + rounding));  // NaN if not measured
    most += static_cast<double>(unit.heads) * (known ? unit.optimum : unit.per_step);
  }
  if (!sampled) KV_CHECK(retained <= most + rounding * static_cast<double>(cell.heads.size()));
  for (const std::uint32_t kept : cell.kept) KV_CHECK(kept <= cell.units.size());
}

}  // namespace

void try_replay(const Trace& trace, const TriedReplay& replayed) {
  std::vector<Cell> cells;
  for (const std::string& text : replayed.specs) {
    const Result<Spec> spec = parse_spec(text);
    KV_CHECK(spec.has_value());
    cells.push_back({.spec = *spec, .seed = 1});
  }
  ReplayOptions options;
  options.threads = 1;
  options.top_k = 4;
  options.series_points = 8;
  options.oracle = trace.info().queries.empty();  // bounds need all queries
  const Result<ReplayResult> result = replay(trace, cells, options);
  if (!result) {
    KV_CHECK(!replayed.must_work);
    static_cast<void>(refused(result.error()));
    return;
  }
  KV_CHECK(result->cells.size() == cells.size());
  for (const CellResult& cell : result->cells) check_cell(*result, cell);
  KV_CHECK(!reports::json_lines(*result, true).empty());
}

void try_trace(const Trace& trace) {
  if (!is_small(trace)) return;
  const Result<VerifyResult> verified = verify(trace);
  const bool attention = trace.info().kind == TraceKind::attention;
  if (verified) {
    try_saving(trace, *verified);
    try_editing(trace);
  } else {
    static_cast<void>(refused(verified.error()));
  }
  TriedReplay tried = {
      .specs = {"dense", "window:budget=3", "streaming:sinks=1,budget=4", "h2o:budget=4",
                "random:sinks=1,budget=4;timing=lazy:2;unit=layer", "tova:budget=5;chunk=3"},
      // Products of finite queries and keys may still be infinite.
      .must_work = attention && verified.has_value()};
  if (!attention) {
    for (const char* spec : {"key-norm:budget=4", "streaming:sinks=1,budget=4;positions=in-cache",
                             "dense;visibility=top-pages:4/2/0"}) {
      tried.specs.emplace_back(spec);
    }
  }
  try_replay(trace, tried);
}

}  // namespace kv::fuzz
