#include "kvcheck/properties/law.h"

namespace kv::properties {

History Trial::run(const Case& what) {
  Result<History> history = run_case(family_, what);
  if (!history) throw NotTested{history.error().message};
  ++runs_;
  coverage_ |= history->coverage;
  require_alive(*history);
  return *std::move(history);
}

}  // namespace kv::properties
