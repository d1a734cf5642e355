// The vectors of one token that a unit's policy receives, gathered head by head.
#pragma once

#include <cstddef>
#include <vector>

#include "kvcheck/policies/policy.h"

namespace kv {

class TokenVectors {
 public:
  // Removes all vectors. Vectors added from now on have `dim` numbers.
  void clear(std::size_t dim) {
    dim_ = dim;
    keys_.clear();
    values_.clear();
    queries_.clear();
    output_norms_.clear();
  }

  // Add the vectors of the next heads, one after another; keys and queries before rotation.
  void add_keys(const float* numbers, std::size_t heads) { add(keys_, numbers, heads); }

  void add_values(const float* numbers, std::size_t heads) { add(values_, numbers, heads); }

  void add_queries(const float* numbers, std::size_t heads) { add(queries_, numbers, heads); }

  void add_output_norms(const float* norms, std::size_t heads) {
    output_norms_.insert(output_norms_.end(), norms, norms + heads);
  }

  // Sets the vectors of `shown` that `needs` asks for. They are valid until this object changes.
  void show(const Needs& needs, Observation& shown) const {
    if (needs.keys) shown.keys = {keys_, dim_};
    if (needs.values) shown.values = {values_, dim_};
    if (needs.queries) shown.queries = {queries_, dim_};
    if (needs.output_norms) shown.output_norms = output_norms_;
  }

 private:
  void add(std::vector<float>& into, const float* numbers, std::size_t heads) const {
    into.insert(into.end(), numbers, numbers + heads * dim_);
  }

  std::size_t dim_ = 0;
  std::vector<float> keys_, values_, queries_, output_norms_;
};

}  // namespace kv
