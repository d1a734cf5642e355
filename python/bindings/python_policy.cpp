#include "kvcheck/python/bindings/python_policy.h"

#include <pybind11/numpy.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/policies/entry.h"
#include "kvcheck/policies/policy.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/properties/cases/child_time.h"
#include "kvcheck/python/bindings/arguments.h"
#include "kvcheck/python/bindings/call_of_python.h"
#include "kvcheck/python/bindings/definition.h"
#include "kvcheck/python/bindings/failure.h"
#include "kvcheck/python/bindings/interrupt.h"

namespace py = pybind11;

namespace kv::python {
namespace {

constexpr std::size_t most_classes = 64;

std::array<const Definition*, most_classes>& definitions() {
  static std::array<const Definition*, most_classes> all{};
  return all;
}

// What a Python exception says, in one line, with the place that raised it.
std::string said_by(const py::error_already_set& error) {
  std::string text = py::str(error.type().attr("__name__"));
  const std::string message = py::str(error.value());
  if (!message.empty()) text += ": " + printable_line(message);
  py::object trace = error.trace();
  if (!trace || trace.is_none()) return text;
  while (!trace.attr("tb_next").is_none()) trace = trace.attr("tb_next");
  const std::string file = py::str(trace.attr("tb_frame").attr("f_code").attr("co_filename"));
  const std::string line = py::str(trace.attr("tb_lineno"));
  return text + " (" + file + ", line " + line + ")";
}

// Calls Python under its lock. What it raises becomes a std::runtime_error, which no lock is needed
// to read. In a child of `check` a method that hangs is named when the child dies of it.
template <typename Call>
auto in_python(const properties::CallWords& words, const Call& call) {
  const properties::TimedCall timed(words);
  const py::gil_scoped_acquire lock;
  if (is_interrupt_noted()) throw std::runtime_error("is not called any more after Ctrl-C");
  const CallOfPython marked;
  try {
    return call();
  } catch (const py::error_already_set& error) {
    if (error.matches(PyExc_KeyboardInterrupt)) note_interrupt();
    if (error.matches(PyExc_MemoryError)) throw std::bad_alloc();
    throw std::runtime_error(said_by(error));
  } catch (const py::cast_error& error) {
    throw std::runtime_error(error.what());
  }
}

class PythonPolicy final : public Policy {
 public:
  PythonPolicy(const Definition& definition, py::object self)
      : definition_(definition), self_(std::move(self)) {
    bind();
  }

  PythonPolicy(const PythonPolicy&) = delete;
  PythonPolicy& operator=(const PythonPolicy&) = delete;

  ~PythonPolicy() override {
    const py::gil_scoped_acquire lock;
    self_ = {};
    evict_ = {};
    observe_ = {};
    forget_ = {};
  }

  [[nodiscard]] Needs needs() const override { return definition_.needs; }

  void observe(const Observation& observation) override {
    in_python(definition_.words_of(Method::observe), [&] {
      const Lending lending(observation.draws);
      observe_(seen(observation, lending));
    });
  }

  void evict(const Candidates& candidates,
             Draws& draws,
             std::vector<std::size_t>& victims) override {
    in_python(definition_.words_of(Method::evict), [&] {
      const Lending lending(&draws);
      victims = indices_of(evict_(seen(candidates), lending.draws()), candidates.positions.size());
    });
  }

  void forget(std::span<const std::size_t> ranks) override {
    if (!definition_.forgets) return;
    in_python(definition_.words_of(Method::forget), [&] { forget_(copied(ranks)); });
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return in_python(definition_.words_of(Method::clone), [&]() -> std::unique_ptr<Policy> {
      return std::make_unique<PythonPolicy>(definition_, self_.attr("clone")());
    });
  }

  void save(ByteWriter& writer) const override {
    writer.put(in_python(definition_.words_of(Method::save), [&] {
      const std::string state = self_.attr("save")().cast<py::bytes>();
      return std::vector<char>(state.begin(), state.end());
    }));
  }

  void load(ByteReader& reader) override {
    std::vector<char> state;
    reader.get(state);
    if (state.empty()) return;  // what save() returned, or there are no more bytes
    in_python(definition_.words_of(Method::load),
              [&] { self_.attr("load")(py::bytes(state.data(), state.size())); });
  }

 private:
  void bind() {
    evict_ = self_.attr("evict");
    observe_ = self_.attr("observe");
    forget_ = self_.attr("forget");
  }

  const Definition& definition_;
  py::object self_;
  py::object evict_;
  py::object observe_;
  py::object forget_;
};

// Options become arguments by name.
py::dict arguments_of(const Definition& definition, const Options& options) {
  py::dict arguments;
  for (const Parameter& parameter : definition.parameters) {
    std::string name(parameter.name);
    std::ranges::replace(name, '-', '_');
    switch (parameter.range.of) {
      case Parameter::Range::Of::names:
        arguments[name.c_str()] = options.at(parameter.name);
        break;
      case Parameter::Range::Of::counts:
        arguments[name.c_str()] = options.count(parameter.name);
        break;
      case Parameter::Range::Of::reals:
        arguments[name.c_str()] = options.real(parameter.name);
    }
  }
  return arguments;
}

// Under Python's lock, as another thread may register a class.
const Definition& definition_in(std::size_t slot) {
  const py::gil_scoped_acquire lock;
  return *definitions()[slot];
}

std::unique_ptr<Policy> make(std::size_t slot, const Options& options) {
  const Definition& definition = definition_in(slot);
  return in_python(definition.words_of(Method::init), [&]() -> std::unique_ptr<Policy> {
    return std::make_unique<PythonPolicy>(definition,
                                          definition.type(**arguments_of(definition, options)));
  });
}

// The registry knows makers as plain functions, so each class gets one of these.
template <std::size_t slot>
std::unique_ptr<Policy> make_in(const Options& options) {
  return make(slot, options);
}

constexpr auto makers = []<std::size_t... slots>(std::index_sequence<slots...>) {
  return std::array{&make_in<slots>...};
}
(std::make_index_sequence<most_classes>{});

std::size_t slot_of(const std::string& name) {
  auto& all = definitions();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == nullptr || all[i]->name == name) return i;
  }
  throw Failure("there are " + std::to_string(all.size()) +
                " policies of Python already; expected no more");
}

}  // namespace

void register_class(const py::object& described) {
  take_interrupt();
  auto definition = definition_of(described);
  const std::size_t slot = slot_of(definition->name);
  const PolicyEntry entry = {
      .name = definition->name,
      .summary = definition->summary,
      .protection = {.sinks = described.attr("sinks").cast<std::uint32_t>(),
                     .recent_percent = described.attr("recent_percent").cast<std::uint32_t>()},
      .parameters = definition->parameters,
      .claims = definition->claims,
      .source = definition->source,
      .differs = definition->differs,
      .cost = definition->cost,
      .make = makers[slot]};
  const Definition* const before = std::exchange(definitions()[slot], definition.get());
  if (const auto done = replace_policy(entry); !done) {
    definitions()[slot] = before;
    throw Failure(done.error().message);
  }
  definition.release();  // for the rest of the process
}

bool is_of_python(std::string_view name) {
  return std::ranges::any_of(definitions(), [&](const Definition* definition) {
    return definition != nullptr && definition->name == name;
  });
}

}  // namespace kv::python
