#include "properties/law_groups.h"

namespace kv {

std::vector<Law> size_laws() {
  return {};
}

}  // namespace kv
