#include "kvcheck/properties/cases/requested_sizes.h"

namespace kv::properties {

Setup first_accepted(const Family& family) {
  const Setup ordinary{.sinks = 2, .recent = 4, .budget = 12};
  const Setup all[] = {ordinary,
                       {.sinks = 2, .recent = 10, .budget = 12},
                       {.sinks = 0, .recent = 4, .budget = 12},
                       {.sinks = 0, .recent = 12, .budget = 12}};
  for (const Setup& setup : all) {
    const auto contract = family.contract(setup);
    if (contract || contract.error().kind == Error::Kind::malformed) return setup;
  }
  return ordinary;
}

}  // namespace kv::properties
