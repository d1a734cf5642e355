#include "properties/law_groups.h"

namespace kv {

std::vector<Law> statistical_laws() {
  return {};
}

}  // namespace kv
