#include "properties/law_groups.h"

namespace kv {

std::vector<Law> visibility_laws() {
  return {};
}

}  // namespace kv
