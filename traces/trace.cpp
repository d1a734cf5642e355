#include "traces/trace.h"

#include <utility>

namespace kv {

Trace::Trace(TraceInfo info,
             std::vector<Layer> layers,
             std::vector<std::int32_t> token_ids,
             std::shared_ptr<const void> owner)
    : info_(std::move(info)),
      layers_(std::move(layers)),
      token_ids_(std::move(token_ids)),
      owner_(std::move(owner)) {}

Result<Trace> open_trace(const std::string& path) {
  return Error{Error::Kind::unsupported, "cannot open '" + path + "' yet"};
}

}  // namespace kv
