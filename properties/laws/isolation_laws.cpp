#include "properties/law_groups.h"

namespace kv {

std::vector<Law> isolation_laws() {
  return {};
}

}  // namespace kv
