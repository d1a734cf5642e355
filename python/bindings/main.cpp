// The module kvcheck._kvcheck. Users see the package (python/kvcheck), which gives it shape.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <exception>

#include "kvcheck/base/version.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/replay/source.h"
#include "kvcheck/model/tokenizer/icu_memory.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/python/bindings/arguments.h"
#include "kvcheck/python/bindings/call_of_python.h"
#include "kvcheck/python/bindings/failure.h"
#include "kvcheck/python/bindings/interrupt.h"
#include "kvcheck/python/bindings/program.h"
#include "kvcheck/python/bindings/python_policy.h"
#include "kvcheck/python/bindings/replays.h"
#include "kvcheck/python/bindings/trace_arrays.h"
#include "kvcheck/traces/files/save.h"

namespace py = pybind11;

namespace kv::python {
namespace {

// A synthetic stream is made whole, as its arrays and files may be asked for.
SharedTrace open(const std::string& word, std::size_t kv_heads, bool learned_sinks) {
  const py::gil_scoped_release unlocked;
  const auto synthetic = cli::synthetic_source(word);
  if (!synthetic) {
    const DumpOptions options{.kv_heads = kv_heads, .learned_sinks = learned_sinks};
    return std::make_shared<Trace>(value_of(cli::open_source_dump(word, options, {})).trace);
  }
  const SyntheticSpec spec = value_of(*synthetic);
  value_of(check_synthetic_bytes(spec));
  auto trace = make_synthetic(spec, [] { return !asked_to_stop(); });
  if (!trace) throw Interrupted();
  return std::make_shared<Trace>(*std::move(trace));
}

void add_traces(py::module_& module) {
  py::class_<Trace, SharedTrace>(module, "Trace")
      .def("facts", &facts_of)
      .def("checksum", [](const Trace& trace) { return trace.info().checksum; })
      .def("array", &array_of, py::arg("layer"), py::arg("which"))
      .def("words", &words_of)
      .def("token_ids",
           [](const Trace& trace) {
             const auto ids = trace.token_ids();
             return py::array_t<std::int32_t>(static_cast<py::ssize_t>(ids.size()), ids.data());
           })
      .def("save", [](const Trace& trace, const std::string& path) {
        const py::gil_scoped_release unlocked;
        value_of(save_trace(trace, path));
      });
  py::class_<LayerTables>(module, "LayerTables")
      .def(py::init<>())
      .def_readwrite("queries", &LayerTables::queries)
      .def_readwrite("frequencies", &LayerTables::frequencies)
      .def_readwrite("sinks", &LayerTables::sinks)
      .def_readwrite("slopes", &LayerTables::slopes);
  module.def("open_trace", &open, py::arg("word"), py::arg("kv_heads") = 0,
             py::arg("learned_sinks") = false);
  module.def("trace_of",
             [](const std::string& name, const std::map<std::string, std::string>& metadata,
                const std::vector<std::size_t>& numbers, const std::vector<LayerArrays>& layers,
                const LayerTables& tables, std::vector<std::int32_t> token_ids, std::string text,
                std::vector<std::int64_t> text_ends) {
               return trace_of(name, metadata, numbers, layers, tables,
                               {.token_ids = std::move(token_ids),
                                .text = std::move(text),
                                .text_ends = std::move(text_ends)});
             });
}

void add_replay(py::module_& module) {
  py::class_<ReplayRequest>(module, "ReplayRequest")
      .def(py::init<>())
      .def_readwrite("policies", &ReplayRequest::policies)
      .def_readwrite("budgets", &ReplayRequest::budgets)
      .def_readwrite("seeds", &ReplayRequest::seeds)
      .def_readwrite("chunk", &ReplayRequest::chunk)
      .def_readwrite("oracle", &ReplayRequest::oracle)
      .def_readwrite("top_k", &ReplayRequest::top_k)
      .def_readwrite("threads", &ReplayRequest::threads)
      .def_property(
          "output", [](const ReplayRequest& request) { return py::bytes(request.output); },
          [](ReplayRequest& request, const py::bytes& path) { request.output = path; })
      .def_readwrite("command", &ReplayRequest::command);
  module.def("replay", &replay_trace);
}

void add_program(py::module_& module) {
  py::class_<OptionHelp>(module, "OptionHelp")
      .def_readonly("name", &OptionHelp::name)
      .def_readonly("value", &OptionHelp::value)
      .def_readonly("help", &OptionHelp::help)
      .def_readonly("default_value", &OptionHelp::default_value)
      .def_readonly("list", &OptionHelp::list);
  module.def("options_of", &options_of);
  module.def("run", [](const std::vector<std::string>& arguments) {
    Printed printed;
    {
      const py::gil_scoped_release unlocked;
      printed = run_program(arguments);
    }
    return py::make_tuple(printed.status, py::bytes(printed.out), py::bytes(printed.err));
  });
  module.def("run_on_terminal", [](const std::vector<std::string>& arguments) {
    const py::gil_scoped_release unlocked;
    return run_on_terminal(arguments);
  });
}

}  // namespace
}  // namespace kv::python

PYBIND11_MODULE(_kvcheck, module) {
  using namespace kv::python;
  kv::model::reserve_memory_for_icu();
  module.attr("version") = kv::version;
  py::register_exception<Failure>(module, "Error", PyExc_ValueError);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Interrupted&) {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
  });
  add_traces(module);
  add_arguments(module);
  add_replay(module);
  add_program(module);
  module.def("register_class", &register_class);
  module.def("raise_in_call", &raise_in_call);
  module.def("interrupted", &kv::cli::interrupted);
  module.def("policy_names", [] {
    std::vector<std::string_view> names;
    for (const kv::PolicyEntry& entry : kv::policy_registry()) names.push_back(entry.name);
    return names;
  });
}
