#include "properties/law_groups.h"

namespace kv {

std::vector<Law> position_laws() {
  return {};
}

}  // namespace kv
