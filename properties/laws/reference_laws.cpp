#include "properties/law_groups.h"

namespace kv {

std::vector<Law> reference_laws() {
  return {};
}

}  // namespace kv
