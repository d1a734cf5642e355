#include "kvcheck/base/bytes.h"

namespace kv {

Result<void> ByteReader::finished() const {
  if (failed_) return malformed("the saved state ends too early");
  if (!rest_.empty()) {
    return malformed("the saved state has " + std::to_string(rest_.size()) + " bytes too many");
  }
  return {};
}

}  // namespace kv
