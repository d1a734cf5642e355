#include "kvcheck/python/bindings/replays.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/replay/sweep.h"
#include "kvcheck/python/bindings/failure.h"
#include "kvcheck/python/bindings/interrupt.h"
#include "kvcheck/python/bindings/python_policy.h"
#include "kvcheck/reports/numbers/row_names.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/tables/export.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/replay/serves.h"

namespace py = pybind11;

namespace kv::python {
namespace {

struct Plan {
  std::vector<Cell> cells;
  std::vector<std::string> left_out;
  bool calls_python = false;
};

// As `kvcheck replay` plans: policies of "all" that the trace cannot serve are left out by name.
Plan plan_of(const Trace& trace, const ReplayRequest& request) {
  const auto planned = value_of(cli::plan_cells({.policies = request.policies,
                                                 .budgets = request.budgets,
                                                 .seeds = request.seeds,
                                                 .chunk = request.chunk}));
  value_of(cli::check_fit(planned, trace.info()));
  Plan plan{.cells = {}, .left_out = value_of(cli::unserved(planned, trace))};
  for (const cli::PlannedCell& one : planned) {
    if (!check_serves(trace, one.cell.spec)) continue;
    plan.cells.push_back(one.cell);
    plan.calls_python = plan.calls_python || is_of_python(one.cell.spec.policy->name);
  }
  return plan;
}

bool is_interrupted() {
  // Another thread's work may have the program's handler in the place of Python's.
  if (!asked_to_stop() && !cli::interrupted()) return false;
  note_interrupt();
  return true;
}

Result<ReplayResult> run(const Trace& trace, const Plan& plan, ReplayOptions options) {
  cli::forget_interrupt();
  if (plan.calls_python) {
    options.threads = 1;
    options.progress = [](double) { return !is_interrupted(); };
    return replay(trace, plan.cells, options);
  }
  options.progress = [](double) { return !cli::interrupted(); };
  Result<ReplayResult> result = Error{};
  {
    const cli::InterruptGuard guard;
    result = replay(trace, plan.cells, options);
  }
  if (!result && cli::interrupted()) note_interrupt();
  cli::forget_interrupt();
  return result;
}

Result<void> add(reports::ResultsWriter& writer, const Result<ReplayResult>& result) {
  if (!result) return result.error();
  if (Result<void> added = writer.add(*result); !added) return added;
  return writer.finish();
}

// The same, with the results in a results file, if one is named. Whatever fails leaves the file as
// it was.
Result<ReplayResult> run_and_keep(const Trace& trace,
                                  const Plan& plan,
                                  const ReplayOptions& options,
                                  const ReplayRequest& request) {
  if (request.output.empty()) return run(trace, plan, options);
  Result<reports::ResultsWriter> writer =
      reports::ResultsWriter::begin(request.output, request.command);
  if (!writer) return writer.error();
  Result<ReplayResult> result = Error{};
  Result<void> added;
  try {
    result = run(trace, plan, options);
    added = add(*writer, result);
  } catch (...) {
    static_cast<void>(writer->discard());
    throw;
  }
  if (added) return result;
  const Result<void> discarded = writer->discard();
  return discarded ? added.error() : discarded.error();
}

template <typename Number>
py::array_t<Number> array_of(const std::vector<Number>& numbers) {
  return py::array_t<Number>(static_cast<py::ssize_t>(numbers.size()), numbers.data());
}

// One field of every element.
template <typename Element, typename Field>
auto column(const std::vector<Element>& elements, Field Element::*field) {
  py::array_t<Field> numbers(static_cast<py::ssize_t>(elements.size()));
  std::ranges::transform(elements, numbers.mutable_data(),
                         [&](const Element& element) { return element.*field; });
  return numbers;
}

py::dict series_of(const std::vector<SeriesPoint>& series) {
  py::dict columns;
  columns["first_step"] = column(series, &SeriesPoint::first_step);
  columns["retained_mass"] = column(series, &SeriesPoint::retained_mass);
  columns["kl_to_dense"] = column(series, &SeriesPoint::kl_to_dense);
  columns["topk_overlap"] = column(series, &SeriesPoint::topk_overlap);
  columns["output_error"] = column(series, &SeriesPoint::output_error);
  columns["stored"] = column(series, &SeriesPoint::stored);
  columns["kept"] = column(series, &SeriesPoint::kept);
  columns["visible"] = column(series, &SeriesPoint::visible);
  return columns;
}

py::dict arrays_of(const CellResult& cell) {
  py::dict arrays;
  arrays["series"] = series_of(cell.series);
  arrays["kept"] = array_of(cell.kept);
  arrays["lifetimes"] = array_of(cell.lifetimes);
  py::list residency;
  for (const Residency& unit : cell.residency) {
    residency.append(py::make_tuple(unit.layer, unit.head, array_of(unit.evicted_at)));
  }
  arrays["residency"] = residency;
  return arrays;
}

py::dict dense_of(const std::vector<DenseFacts>& facts) {
  py::dict columns;
  columns["layer"] = column(facts, &DenseFacts::layer);
  columns["head"] = column(facts, &DenseFacts::head);
  columns["first_mass"] = column(facts, &DenseFacts::first_mass);
  columns["sinks_mass"] = column(facts, &DenseFacts::sinks_mass);
  columns["recent_mass"] = column(facts, &DenseFacts::recent_mass);
  columns["entropy"] = column(facts, &DenseFacts::entropy);
  return columns;
}

}  // namespace

py::dict replay_trace(const SharedTrace& trace, const ReplayRequest& request) {
  std::optional<Result<ReplayResult>> result;
  std::string lines;
  Plan plan;
  take_interrupt();
  {
    const py::gil_scoped_release unlocked;
    plan = plan_of(*trace, request);
    ReplayOptions options;
    options.threads = request.threads;
    options.top_k = request.top_k;
    options.oracle = request.oracle;
    result = run_and_keep(*trace, plan, options, request);
    if (*result) lines = reports::json_lines(**result, true);
  }
  if (take_interrupt()) throw Interrupted();
  const ReplayResult done = value_of(*std::move(result));
  py::dict dictionary;
  dictionary["lines"] = lines;
  py::list cells;
  std::vector<Spec> specs;
  for (const CellResult& cell : done.cells) {
    cells.append(arrays_of(cell));
    specs.push_back(cell.cell.spec);
  }
  dictionary["cells"] = cells;
  dictionary["labels"] = reports::names_of(specs);
  dictionary["dense"] = dense_of(done.dense);
  dictionary["left_out"] = plan.left_out;
  return dictionary;
}

}  // namespace kv::python
