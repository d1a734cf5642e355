#include "kvcheck/python/bindings/arguments.h"

#include <algorithm>
#include <array>

namespace py = pybind11;

namespace kv::python {
namespace {

py::object vectors_of(const HeadVectors& vectors) {
  if (vectors.dim == 0) return py::none();
  const std::array<py::ssize_t, 2> shape = {static_cast<py::ssize_t>(vectors.heads()),
                                            static_cast<py::ssize_t>(vectors.dim)};
  return py::array_t<float>(shape, vectors.numbers.data());
}

std::string name_of(TokenClass token_class) {
  switch (token_class) {
    case TokenClass::content:
      return "content";
    case TokenClass::function:
      return "function";
    case TokenClass::separator:
      return "separator";
  }
  return "";
}

}  // namespace

SeenCandidates seen(const Candidates& candidates) {
  return {.positions = copied(candidates.positions),
          .newcomers = candidates.newcomers,
          .capacity = candidates.capacity,
          .first_rank = candidates.first_rank,
          .entered = candidates.entered};
}

SeenObservation seen(const Observation& observation, const Lending& lending) {
  SeenObservation copy{.query = observation.query,
                       .mass = py::none(),
                       .keys = vectors_of(observation.keys),
                       .values = vectors_of(observation.values),
                       .queries = vectors_of(observation.queries),
                       .output_norms = py::none(),
                       .token_class = name_of(observation.token_class),
                       .draws = lending.draws()};
  if (!observation.mass.empty()) copy.mass = copied(observation.mass);
  if (!observation.output_norms.empty()) copy.output_norms = copied(observation.output_norms);
  return copy;
}

std::vector<std::size_t> indices_of(const py::object& returned, std::size_t candidates) {
  const py::array given = py::array::ensure(returned);
  const char kind = given ? given.dtype().kind() : 'O';
  // NumPy would also make numbers of a mask, of None and of texts. An empty list is an array of no
  // floats.
  const bool empty = given && given.ndim() > 0 && given.size() == 0;
  if (kind != 'i' && kind != 'u' && !empty) {
    PyErr_Clear();
    throw py::type_error("evict() returned " + std::string(py::repr(returned)) +
                         "; expected whole numbers, indices into candidates.positions" +
                         (kind == 'b' ? ", as numpy.flatnonzero() gives them of a mask" : ""));
  }
  const auto numbers = py::array_t<std::int64_t>::ensure(given);
  std::vector<std::size_t> indices;
  for (py::ssize_t i = 0; i < numbers.size(); ++i) {
    const std::int64_t index = numbers.data()[i];
    if (index < 0 || static_cast<std::size_t>(index) >= candidates) {
      throw py::value_error("evict() returned the index " + std::to_string(index) +
                            "; expected 0 to " + std::to_string(candidates - 1));
    }
    indices.push_back(static_cast<std::size_t>(index));
  }
  std::ranges::sort(indices);
  return indices;
}

void add_arguments(py::module_& module) {
  // pybind11 imports NumPy when the first array is made, in an initializer that other threads wait
  // for. An import releases Python's lock, so it must not happen while several threads run.
  const py::array_t<float> first(0);
  py::class_<LentDraws, std::shared_ptr<LentDraws>>(module, "Draws")
      .def("below", &LentDraws::below, py::arg("bound"), py::arg("position"), py::arg("index") = 0)
      .def("uniform", &LentDraws::uniform, py::arg("position"), py::arg("index") = 0);
  py::class_<SeenCandidates>(module, "Candidates")
      .def_readonly("positions", &SeenCandidates::positions)
      .def_readonly("newcomers", &SeenCandidates::newcomers)
      .def_readonly("capacity", &SeenCandidates::capacity)
      .def_readonly("first_rank", &SeenCandidates::first_rank)
      .def_readonly("entered", &SeenCandidates::entered);
  py::class_<SeenObservation>(module, "Observation")
      .def_readonly("query", &SeenObservation::query)
      .def_readonly("mass", &SeenObservation::mass)
      .def_readonly("keys", &SeenObservation::keys)
      .def_readonly("values", &SeenObservation::values)
      .def_readonly("queries", &SeenObservation::queries)
      .def_readonly("output_norms", &SeenObservation::output_norms)
      .def_readonly("token_class", &SeenObservation::token_class)
      .def_readonly("draws", &SeenObservation::draws);
}

}  // namespace kv::python
