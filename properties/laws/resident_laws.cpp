#include "properties/law_groups.h"

namespace kv {

std::vector<Law> resident_laws() {
  return {};
}

}  // namespace kv
