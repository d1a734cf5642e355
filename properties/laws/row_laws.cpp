#include "properties/law_groups.h"

namespace kv {

std::vector<Law> row_laws() {
  return {};
}

}  // namespace kv
