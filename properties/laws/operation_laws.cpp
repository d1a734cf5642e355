#include "properties/law_groups.h"

namespace kv {

std::vector<Law> operation_laws() {
  return {};
}

}  // namespace kv
