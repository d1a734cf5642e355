// What the methods of a policy of Python receive, and what they return.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/base/random/draws.h"
#include "kvcheck/policies/policy.h"

namespace kv::python {

// A copy of the numbers.
template <typename Number>
pybind11::array_t<Number> copied(std::span<const Number> numbers) {
  return pybind11::array_t<Number>(static_cast<pybind11::ssize_t>(numbers.size()), numbers.data());
}

// kv::Draws for the duration of one call.
class LentDraws {
 public:
  explicit LentDraws(Draws* draws) : draws_(draws) {}

  void take_back() { draws_ = nullptr; }

  std::uint64_t below(std::uint64_t bound, Position position, std::uint32_t index) {
    if (bound == 0) throw pybind11::value_error("draws.below() got 0; expected a bound above 0");
    return draws().below(bound, position, index);
  }

  double uniform(Position position, std::uint32_t index) {
    return draws().uniform(position, index);
  }

 private:
  Draws& draws() {
    if (draws_ == nullptr) throw pybind11::value_error("draws may be used only during the call");
    return *draws_;
  }

  Draws* draws_;
};

// The draws as an argument of one call.
class Lending {
 public:
  explicit Lending(Draws* draws) : lent_(std::make_shared<LentDraws>(draws)) {}

  Lending(const Lending&) = delete;
  Lending& operator=(const Lending&) = delete;

  ~Lending() { lent_->take_back(); }

  [[nodiscard]] const std::shared_ptr<LentDraws>& draws() const { return lent_; }

 private:
  std::shared_ptr<LentDraws> lent_;
};

struct SeenCandidates {
  pybind11::array positions;
  std::size_t newcomers = 0;
  std::size_t capacity = 0;
  std::size_t first_rank = 0;
  std::uint64_t entered = 0;
};

struct SeenObservation {
  Position query = 0;
  pybind11::object mass;
  pybind11::object keys;
  pybind11::object values;
  pybind11::object queries;
  pybind11::object output_norms;
  std::string token_class;
  std::shared_ptr<LentDraws> draws;
};

// The arrays are copies.
SeenCandidates seen(const Candidates& candidates);
SeenObservation seen(const Observation& observation, const Lending& lending);

// What evict() returned as sorted indices: any sequence of whole numbers, in any order. Throws a
// Python exception if it is anything else, or names a candidate that is not there.
std::vector<std::size_t> indices_of(const pybind11::object& returned, std::size_t candidates);

// Adds the classes that policies meet in calls: Observation, Candidates and Draws.
void add_arguments(pybind11::module_& module);

}  // namespace kv::python
