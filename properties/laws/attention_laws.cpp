#include "properties/law_groups.h"

namespace kv {

std::vector<Law> attention_laws() {
  return {};
}

}  // namespace kv
