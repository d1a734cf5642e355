#include "kvcheck/reports/explorer/deflate.h"

#include <zlib.h>

namespace kv::reports {

Result<std::string> deflated(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  // zlib's interface has unsigned characters.
  const int status =
      compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_BEST_COMPRESSION);
  // The output has room for any input, so nothing else can be missing.
  if (status != Z_OK) {
    return Error{Error::Kind::io, "cannot compress the data of the page: out of memory"};
  }
  out.resize(size);
  return out;
}

}  // namespace kv::reports
