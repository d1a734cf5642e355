#include "properties/law_groups.h"

namespace kv {

std::vector<Law> chunking_laws() {
  return {};
}

}  // namespace kv
